//! Measures vector search on vectors of real text: recall by depth, the error of the background, and time.
//!
//! ```text
//! cargo xtask lab vectors recall DIMENSION ROWS.f32 QUERIES.f32
//! cargo xtask lab vectors time DIMENSION ROWS.f32 QUERIES.f32 [COUNT]
//! ```
//!
//! The files hold vectors of that many f32 each, little-endian, one after the other. `time` repeats the rows until there
//! are COUNT, each time moved a little, since real text by the million is not at hand and time does not depend on it.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use tamis_store::vectors::{Effort, Identity, Instructions, Opened, Snapshot, SnapshotWriter, VectorIndex, cosine};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Vectors of one dimension, one after the other.
struct Vectors {
    dimension: usize,
    values: Vec<f32>,
}

impl Vectors {
    fn read(path: &str, dimension: usize) -> Result<Self> {
        let bytes = std::fs::read(path)?;
        let values: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if dimension == 0 || values.is_empty() || !values.len().is_multiple_of(dimension) {
            return Err(format!("{path} does not hold vectors of {dimension} dimensions").into());
        }
        Ok(Self { dimension, values })
    }

    fn iter(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.dimension)
    }

    fn len(&self) -> usize {
        self.values.len() / self.dimension
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, dimension, rows, queries, rest @ ..] = arguments.as_slice() else {
        return Err("usage: vectors recall|time DIMENSION ROWS.f32 QUERIES.f32 [COUNT]".into());
    };
    let dimension: usize = dimension.parse()?;
    let (rows, queries) = (Vectors::read(rows, dimension)?, Vectors::read(queries, dimension)?);
    match mode.as_str() {
        "recall" => recall(&rows, &queries),
        "time" => {
            let count = rest.first().map_or(Ok(rows.len()), |count| count.parse())?;
            time(&rows, &queries, count)
        }
        other => Err(format!("`{other}` is neither `recall` nor `time`").into()),
    }
}

fn index(directory: &Path, rows: &Vectors, count: usize) -> Result<VectorIndex> {
    let identity = Identity { instance: [0; 16], model: "measured".to_owned(), dimension: rows.dimension };
    let path = directory.join("measured.tvec");
    let started = Instant::now();
    let mut writer = SnapshotWriter::create(&path, &identity, 0)?;
    let mut moved = vec![0.0; rows.dimension];
    for passage in 0..count {
        let row = &rows.values[passage % rows.len() * rows.dimension..][..rows.dimension];
        let round = passage / rows.len();
        for (position, (moved, value)) in moved.iter_mut().zip(row).enumerate() {
            // Any deterministic disturbance serves; the first round is the vectors themselves.
            *moved =
                value + if round == 0 { 0.0 } else { 0.02 * ((passage * 31 + position * 17 + round) as f32).sin() };
        }
        writer.push(passage as u64, (passage / 8) as u32, &moved)?;
    }
    writer.finish()?;
    println!("{count} rows of {} dimensions written in {:.2} s", rows.dimension, started.elapsed().as_secs_f64());
    match Snapshot::open(&path, &identity)? {
        Opened::Ready(snapshot) => Ok(VectorIndex::from_snapshot(snapshot)),
        other => Err(format!("the file just written can not be opened: {other:?}").into()),
    }
}

/// Recall of the nearest 10 and 100 among what each code keeps at each depth, for a quarter and half of the rows too.
fn recall(rows: &Vectors, queries: &Vectors) -> Result<()> {
    let directory = tempfile::tempdir()?;
    for part in [4, 2, 1] {
        let values = rows.iter().step_by(part).flatten().copied().collect();
        let part = Vectors { dimension: rows.dimension, values };
        let index = index(directory.path(), &part, part.len())?;
        let exact: Vec<Vec<(f32, u64)>> = queries
            .values
            .par_chunks_exact(rows.dimension)
            .map(|query| sorted(part.iter().map(|row| cosine(query, row))))
            .collect();
        let nearest: Vec<Vec<u64>> =
            exact.iter().map(|all| all.iter().take(100).map(|(_, passage)| *passage).collect()).collect();
        println!("{:38} {:>6}  recall@10  recall@100", "code", "depth");
        let plain = |depth: usize, centred: bool| signs(&part, queries, centred, depth);
        for depth in [500, 1_000, 2_000, 3_000, 4_000].into_iter().filter(|depth| *depth < part.len()) {
            report("signs, Hamming distance", depth, &nearest, &plain(depth, false));
            report("centred signs, Hamming distance", depth, &nearest, &plain(depth, true));
            let effort = Effort { exact_rows: 0, depth: Some(depth), ..Effort::default() };
            report("this library", depth, &nearest, &found(&index, queries, depth, &effort)?);
        }
        for count in [100, 200, 400] {
            let effort = Effort { exact_rows: usize::MAX, ..Effort::default() };
            report("int8 alone, asked for", count, &nearest, &found(&index, queries, count, &effort)?);
            report("the default, asked for", count, &nearest, &found(&index, queries, count, &Effort::default())?);
        }
        background(&index, queries, &exact)?;
    }
    Ok(())
}

fn sorted(similarities: impl Iterator<Item = f32>) -> Vec<(f32, u64)> {
    let mut all: Vec<(f32, u64)> = similarities.zip(0..).collect();
    all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    all
}

fn found(index: &VectorIndex, queries: &Vectors, count: usize, effort: &Effort) -> Result<Vec<Vec<u64>>> {
    queries
        .iter()
        .map(|query| {
            let nearest = index.nearest(query, None, count, effort)?;
            Ok(nearest.hits.iter().map(|hit| hit.passage).collect())
        })
        .collect()
}

fn report(code: &str, depth: usize, nearest: &[Vec<u64>], found: &[Vec<u64>]) {
    let recall = |count: usize| {
        let shares = nearest.iter().zip(found).map(|(nearest, found)| {
            let found: std::collections::HashSet<&u64> = found.iter().collect();
            nearest[..count].iter().filter(|passage| found.contains(passage)).count() as f64 / count as f64
        });
        shares.sum::<f64>() / nearest.len() as f64
    };
    println!("{code:38} {depth:>6}  {:9.4}  {:10.4}", recall(10), recall(100));
}

/// The best by the number of equal signs, for comparison.
fn signs(rows: &Vectors, queries: &Vectors, centred: bool, depth: usize) -> Vec<Vec<u64>> {
    let mut centre = vec![0.0_f32; rows.dimension];
    if centred {
        for row in rows.iter() {
            centre.iter_mut().zip(row).for_each(|(centre, value)| *centre += value / rows.len() as f32);
        }
    }
    let code = |vector: &[f32]| -> Vec<u64> {
        let mut words = vec![0; vector.len().div_ceil(64)];
        for (position, (value, centre)) in vector.iter().zip(&centre).enumerate() {
            words[position / 64] |= u64::from(value > centre) << (position % 64);
        }
        words
    };
    let codes: Vec<Vec<u64>> = rows.iter().map(code).collect();
    queries
        .values
        .par_chunks_exact(rows.dimension)
        .map(|query| {
            let query = code(query);
            let distance = |row: &Vec<u64>| row.iter().zip(&query).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
            sorted(codes.iter().map(|row| -(distance(row) as f32)))
                .into_iter()
                .take(depth)
                .map(|(_, passage)| passage)
                .collect()
        })
        .collect()
}

/// The distance of the sampled background from that of all rows in full precision.
fn background(index: &VectorIndex, queries: &Vectors, exact: &[Vec<(f32, u64)>]) -> Result<()> {
    let mut errors = [0.0_f32; 2];
    for (query, all) in queries.iter().zip(exact) {
        let found = index.nearest(query, None, 10, &Effort { exact_rows: 0, ..Effort::default() })?.background;
        let count = all.len() as f64;
        let mean = all.iter().map(|(similarity, _)| f64::from(*similarity)).sum::<f64>() / count;
        let variance = all.iter().map(|(similarity, _)| (f64::from(*similarity) - mean).powi(2)).sum::<f64>() / count;
        let pairs = [(found.mean, mean as f32), (found.deviation, variance.sqrt() as f32)];
        for (error, (found, exact)) in errors.iter_mut().zip(pairs) {
            *error = error.max((found - exact).abs());
        }
    }
    println!("largest error of the sampled background: mean, deviation {errors:.4?}\n");
    Ok(())
}

/// Milliseconds a query, the fastest and the median of all queries, beside reading the same memory.
fn time(rows: &Vectors, queries: &Vectors, count: usize) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let index = index(directory.path(), rows, count)?;
    let bytes = count * rows.dimension.next_multiple_of(64) / 8 + count * 4;
    let memory = vec![1_u64; bytes / 8];
    let [read, _] = fastest_and_median((0..50).map(|_| {
        milliseconds(|| {
            black_box(memory.par_chunks(1 << 14).map(|chunk| chunk.iter().fold(0, |a: u64, b| a ^ b)).sum::<u64>())
        })
    }));
    println!(
        "reading the {:.1} MB of sign codes, with {} threads: {read:.3} ms",
        bytes as f64 / 1e6,
        rayon::current_num_threads()
    );
    let measure = |label: &str, effort: &Effort, filter: Option<&(dyn Fn(u32) -> bool + Sync)>| -> Result<()> {
        let nearest = |query: &[f32]| {
            let rows = filter.map(|filter| index.rows_of_documents(filter));
            index.nearest(query, rows.as_ref(), 400, effort)
        };
        for query in queries.iter().take(3) {
            nearest(query)?;
        }
        let mut times = Vec::new();
        for query in queries.iter().cycle().take(200) {
            let mut result = Ok(Default::default());
            times.push(milliseconds(|| result = nearest(query)));
            result?;
        }
        let [time, middle] = fastest_and_median(times.into_iter());
        println!("{label:44} {time:8.3} ms, median {middle:8.3} ms  {:6.2} × reading", time / read);
        Ok(())
    };
    for instructions in Instructions::available() {
        let effort = Effort { instructions, exact_rows: 0, ..Effort::default() };
        let name = instructions.name();
        measure(&format!("{name}: both stages and background"), &effort, None)?;
        measure(&format!("{name}: without background"), &Effort { sample: 1, ..effort }, None)?;
        measure(&format!("{name}: first stage, little else"), &Effort { sample: 1, depth: Some(1), ..effort }, None)?;
        measure(&format!("{name}: half of the documents"), &effort, Some(&|document| document % 2 == 0))?;
        measure(&format!("{name}: int8 alone"), &Effort { exact_rows: usize::MAX, ..effort }, None)?;
    }
    Ok(())
}

fn milliseconds<T>(work: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    black_box(work());
    started.elapsed().as_secs_f64() * 1e3
}

fn fastest_and_median(times: impl Iterator<Item = f64>) -> [f64; 2] {
    let mut times: Vec<f64> = times.collect();
    times.sort_unstable_by(f64::total_cmp);
    [0, times.len() / 2].map(|at| times.get(at).copied().unwrap_or_default())
}
