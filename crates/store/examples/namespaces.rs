//! Measures the cost and the gain of a filter by namespace in both legs, beside a search of everything in the same run.
//!
//! ```text
//! cargo run --release -p tamis-store --example namespaces -- [PASSAGES] [NAMESPACES] [ROWS]
//! ```
//!
//! Passages are made up: 60 words each, some frequent and many rare, and vectors of 256 dimensions. The vector scan is
//! also measured by itself, on ROWS of them. Filters alternate at each query, so that other load on the machine affects
//! all of them.

use std::error::Error;
use std::time::Instant;

use tamis_store::prelude::*;
use tamis_store::vectors::{Identity, Opened, Snapshot, SnapshotWriter, VectorIndex};
use tamis_store::{Access, Change, EmbeddedStore, Filter, LexicalQuery, ModelKey, NewDocument, NewPassage, TextForm};

const WORDS: u64 = 60;
const PASSAGES_A_DOCUMENT: usize = 10;
const BATCH: usize = 8_000;
const QUERIES: usize = 300;
const DIMENSION: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let passages: usize = arguments.next().map_or(Ok(100_000), |count| count.parse())?;
    let namespaces: usize = arguments.next().map_or(Ok(10), |count| count.parse())?.max(2);
    let rows: usize = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    legs(passages, namespaces)?;
    scan(rows)
}

/// Both legs through the store.
fn legs(passages: usize, namespaces: usize) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite)?;
    let model = ModelKey { id: "random".into(), dimension: DIMENSION };
    let mut seed = 1;
    fill(&store, &model, passages, namespaces, &mut seed)?;

    let named = |count: usize| Filter { namespaces: (0..count).map(name).collect(), ..Filter::default() };
    let filters = [
        ("no filter".to_owned(), Filter::default()),
        (format!("all {namespaces} by name"), named(namespaces)),
        (format!("{} of them", namespaces - 1), named(namespaces - 1)),
        (format!("{} of them", namespaces / 2), named(namespaces / 2)),
        ("1 of them".to_owned(), named(1)),
    ];
    let mut times = vec![[const { Vec::new() }; 3]; filters.len()];
    let mut first = Vec::new();
    for (_, filter) in &filters {
        let time = Instant::now();
        store.nearest(&model.id, &vector(&mut seed), filter, 100)?;
        first.push(milliseconds(time));
    }
    for _ in 0..QUERIES {
        let query = LexicalQuery::new(text(&mut seed, 6));
        let vector = vector(&mut seed);
        for ((_, filter), times) in filters.iter().zip(&mut times) {
            let time = Instant::now();
            let found = store.lexical(&query, filter, 100)?;
            times[0].push(milliseconds(time));
            let time = Instant::now();
            store.nearest(&model.id, &vector, filter, 100)?;
            times[1].push(milliseconds(time));
            let ids: Vec<_> = found.hits.iter().map(|hit| hit.passage).collect();
            let time = Instant::now();
            store.bm25(&query, filter, &ids)?;
            times[2].push(milliseconds(time));
        }
    }
    println!(
        "{passages} passages in {namespaces} namespaces; milliseconds as lowest tenth and median, and the ratio of the first"
    );
    println!("{:<16} {:^26} {:^26} {:^26} first", "", "lexical, best 100", "nearest 100", "BM25 of those found");
    let mut plain = [None; 3];
    for (((label, _), times), first) in filters.iter().zip(&mut times).zip(first) {
        print!("{label:<16}");
        for (times, plain) in times.iter_mut().zip(&mut plain) {
            times.sort_by(f64::total_cmp);
            let (low, median) = (times[times.len() / 10], times[times.len() / 2]);
            print!("  {low:>7.3} {median:>7.3} {:>6.2} ×", low / *plain.get_or_insert(low));
        }
        println!("  {first:>6.2}");
    }
    Ok(())
}

/// The scan of one vector file with the rows that filters leave.
fn scan(rows: usize) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("measured.tvec");
    let identity = Identity { instance: [0; 16], model: "random".to_owned(), dimension: DIMENSION };
    let mut writer = SnapshotWriter::create(&path, &identity, 0)?;
    let mut seed = 1;
    for row in 0..rows {
        writer.push(row as u64, (row / PASSAGES_A_DOCUMENT) as u32, &vector(&mut seed))?;
    }
    writer.finish()?;
    let Opened::Ready(snapshot) = Snapshot::open(&path, &identity)? else {
        return Err("the file just written can not be opened".into());
    };
    let index = VectorIndex::from_snapshot(snapshot);
    let documents = rows.div_ceil(PASSAGES_A_DOCUMENT) as u32;
    let ways: [(&str, &(dyn Fn(u32) -> bool + Sync)); 6] = [
        ("everything, chosen", &|_| true),
        ("half, together", &|document| document < documents / 2),
        ("half, every other", &|document| document % 2 == 0),
        ("a tenth, together", &|document| document < documents / 10),
        ("a twentieth", &|document| document < documents / 20),
        ("a hundredth", &|document| document < documents / 100),
    ];
    let mut chosen = vec![("no filter", None, 0.0)];
    for (label, filter) in ways {
        let time = Instant::now();
        let rows = index.rows_of_documents(filter);
        chosen.push((label, Some(rows), milliseconds(time)));
    }
    let mut times = vec![Vec::new(); chosen.len()];
    for _ in 0..QUERIES / 3 {
        let query = vector(&mut seed);
        for ((_, rows, _), times) in chosen.iter().zip(&mut times) {
            let time = Instant::now();
            match rows {
                Some(rows) => index.nearest_among(&query, rows, 182)?,
                None => index.nearest(&query, None, 182)?,
            };
            times.push(milliseconds(time));
        }
    }
    println!(
        "\n{rows} rows scanned: milliseconds as lowest tenth and median, the ratio of the first, and once to choose"
    );
    let mut plain = None;
    for ((label, _, choosing), times) in chosen.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let (low, median) = (times[times.len() / 10], times[times.len() / 2]);
        println!("{label:<20} {low:>7.3} {median:>7.3} {:>6.3} ×  {choosing:>7.3}", low / *plain.get_or_insert(low));
    }
    Ok(())
}

fn name(number: usize) -> String {
    format!("repository-{number}")
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// One namespace after the other, as repositories come into an index.
fn fill(
    store: &EmbeddedStore,
    model: &ModelKey,
    passages: usize,
    namespaces: usize,
    seed: &mut u64,
) -> Result<(), Box<dyn Error>> {
    let _held = store.writer()?;
    for namespace in 0..namespaces {
        let mut changes = Vec::new();
        for number in 0..passages / namespaces / PASSAGES_A_DOCUMENT {
            let passage = |_| NewPassage::new("lines", 1..=1, text(seed, WORDS), TextForm::Code);
            changes.push(Change::Put(NewDocument {
                passages: (0..PASSAGES_A_DOCUMENT).map(passage).collect(),
                ..NewDocument::new(name(namespace), "code", format!("{number}.rs"))
            }));
        }
        for batch in changes.chunks(BATCH / PASSAGES_A_DOCUMENT) {
            store.apply(batch)?;
        }
    }
    loop {
        let texts = store.unembedded(&model.id, &Filter::default(), BATCH)?;
        if texts.is_empty() {
            break;
        }
        let vectors: Vec<_> = texts.iter().map(|text| (text.hash, vector(seed))).collect();
        store.put_vectors(model, &vectors)?;
    }
    Ok(store.publish(&mut |_| Ok(()))?)
}

fn random(seed: &mut u64) -> u64 {
    // xorshift64: good enough to vary the measurements, and the same every time.
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Words whose frequency falls with their number, as in real text.
fn text(seed: &mut u64, words: u64) -> String {
    let mut text = String::new();
    for _ in 0..words {
        let share = (random(seed) >> 11) as f64 / (1_u64 << 53) as f64;
        text.push_str(&format!("w{} ", (20_000.0_f64.powf(share)) as u64));
    }
    text
}

fn vector(seed: &mut u64) -> Vec<f32> {
    (0..DIMENSION).map(|_| (random(seed) % 2_001) as f32 / 1_000.0 - 1.0).collect()
}
