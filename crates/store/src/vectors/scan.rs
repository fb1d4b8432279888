//! Scores rows: all of them by their sign codes, some of them by their int8 codes.

use rayon::prelude::*;

use super::VectorError;
use super::centres::Offsets;
use super::format::{GROUP, MIXED};
use super::kernels::{Instructions, Int8Query, TABLE_BYTES, TABLE_MAX, at_least};
use super::quantize::Encoder;
use super::select::{Best, Key};
use super::snapshot::Snapshot;

/// Work on fewer rows than this is not split over threads.
const PARALLEL_ROWS: usize = 16_384;
/// The same for scattered rows, each of which waits for memory.
const PARALLEL_SCATTERED_ROWS: usize = 1_024;

/// The number of rows by which the fetch of a scattered row is ahead of its turn.
const AHEAD: usize = 12;

/// A query in the forms that the scans need.
#[derive(Debug)]
pub(super) struct Query {
    rotated: Vec<f32>,
    int8: Int8Query,
    scale: f32,
    instructions: Instructions,
}

impl Query {
    pub(super) fn new(encoder: &Encoder, vector: &[f32], instructions: Instructions) -> Result<Self, VectorError> {
        let (rotated, code) = encoder.query(vector)?;
        Ok(Self { rotated, int8: Int8Query::new(code.codes), scale: code.scale, instructions })
    }

    /// The similarities to the given rows, ascending, of int8 codes.
    pub(super) fn similarities(&self, codes: &[i8], scales: &[f32], rows: &[u32], in_parallel: bool) -> Vec<f32> {
        let mut similarities = vec![0.0; rows.len()];
        let padded = self.rotated.len();
        if rows.len() < PARALLEL_SCATTERED_ROWS || !in_parallel {
            self.similarities_of(codes, scales, rows, padded, &mut similarities);
        } else {
            let part = rows.len().div_ceil(4 * rayon::current_num_threads()).max(PARALLEL_SCATTERED_ROWS / 4);
            rows.par_chunks(part)
                .zip(similarities.par_chunks_mut(part))
                .for_each(|(rows, similarities)| self.similarities_of(codes, scales, rows, padded, similarities));
        }
        similarities
    }

    fn similarities_of(&self, codes: &[i8], scales: &[f32], rows: &[u32], padded: usize, similarities: &mut [f32]) {
        let mut dots = [0_i32; GROUP];
        let mut at = 0;
        while at < rows.len() {
            let first = rows[at] as usize;
            if let Some(ahead) = rows.get(at + AHEAD) {
                self.instructions.prefetch(&codes[*ahead as usize * padded..][..padded]);
            }
            // Adjacent rows go through the kernel together.
            let run =
                rows[at..].iter().take(GROUP).zip(first..).take_while(|(row, next)| **row as usize == *next).count();
            self.instructions.dots(&codes[first * padded..(first + run) * padded], &self.int8, &mut dots[..run]);
            for ((similarity, dot), scale) in similarities[at..].iter_mut().zip(&dots[..run]).zip(&scales[first..]) {
                let value = *dot as f32 * (self.scale * scale);
                // A damaged file can hold any scale.
                *similarity = if value.is_finite() { value } else { 0.0 };
            }
            at += run;
        }
    }

    /// The best `depth` of the snapshot's `live` rows by their sign codes, in ascending order of rows.
    pub(super) fn candidates(&self, snapshot: &Snapshot, live: &[u64], depth: usize) -> Vec<u32> {
        let table = SignTable::new(&self.rotated);
        let offsets = Offsets::new(snapshot, &self.rotated);
        // Only groups with a live row are touched, and the threads share those: the rows left by a filter may lie in
        // one place.
        let groups: Vec<u32> = live.iter().zip(0..).filter(|(live, _)| **live != 0).map(|(_, group)| group).collect();
        let count = groups.len();
        let part = if count * GROUP < PARALLEL_ROWS { count } else { count.div_ceil(2 * rayon::current_num_threads()) };
        let best = groups
            .par_chunks(part.max(1))
            .map(|groups| {
                let mut best = Best::new(depth);
                self.scan_groups((&table, &offsets), snapshot, live, groups, &mut best);
                best
            })
            .reduce_with(Best::merge)
            .map(Best::into_keys)
            .unwrap_or_default();
        let mut rows: Vec<u32> = best.into_iter().map(Key::row).collect();
        rows.sort_unstable();
        rows
    }

    fn scan_groups(
        &self,
        (table, offsets): (&SignTable, &Offsets<'_>),
        snapshot: &Snapshot,
        live: &[u64],
        groups: &[u32],
        best: &mut Best,
    ) {
        let group_bytes = self.rotated.len() / 8 * GROUP;
        let (codes, (scales, _)) = (snapshot.sign_codes(), snapshot.sign_scales().as_chunks::<GROUP>());
        let (centres, namespaces) = (snapshot.group_centres(), snapshot.namespaces());
        let mut sums = [0_i32; GROUP];
        let mut estimates = [0.0_f32; GROUP];
        for &group in groups {
            let at = group as usize;
            self.instructions.table_sums(&codes[at * group_bytes..][..group_bytes], &table.entries, &mut sums);
            let centre = centres[at];
            let offset = if centre == MIXED { 0.0 } else { offsets.at(centre) };
            for ((estimate, sum), scale) in estimates.iter_mut().zip(&sums).zip(&scales[at]) {
                *estimate = scale * (table.step * *sum as f32 - table.absolute) + offset;
            }
            if centre == MIXED {
                for (estimate, namespace) in estimates.iter_mut().zip(&namespaces[at * GROUP..]) {
                    *estimate += offsets.of(*namespace);
                }
            }
            let mut good = at_least(&estimates, best.floor()) & live[at];
            while good != 0 {
                let row = good.trailing_zeros();
                good &= good - 1;
                best.push(Key::new(estimates[row as usize], group * GROUP as u32 + row));
            }
        }
    }
}

/// For each four dimensions, the contribution of each of the 16 combinations of signs to the dot product.
///
/// The centre's own product with the query is the same for all rows of a namespace, and [`Offsets`] adds it.
#[derive(Debug)]
struct SignTable {
    entries: Vec<u8>,
    /// The value of one unit of an entry.
    step: f32,
    /// The sum of the query's absolute values: a row with all signs opposite has its negative as product.
    absolute: f32,
}

impl SignTable {
    fn new(query: &[f32]) -> Self {
        let absolute = query.iter().map(|value| value.abs()).sum();
        let largest =
            query.chunks(4).map(|four| 2.0 * four.iter().map(|value| value.abs()).sum::<f32>()).fold(0.0, f32::max);
        let step = largest / f32::from(TABLE_MAX);
        let inverse = if step > 0.0 { step.recip() } else { 0.0 };
        let mut entries = Vec::with_capacity(query.len() / 8 * TABLE_BYTES);
        for four in query.chunks(4) {
            for signs in 0..16 {
                let agreeing: f32 = four
                    .iter()
                    .enumerate()
                    .filter(|(lane, value)| (signs >> lane & 1 == 1) == (**value > 0.0))
                    .map(|(_, value)| 2.0 * value.abs())
                    .sum();
                entries.push(((agreeing * inverse).round() as u8).min(TABLE_MAX));
            }
        }
        Self { entries, step, absolute }
    }
}

/// The rows of a snapshot that are live and pass the filter, as a bit for each, in words of 64.
///
/// `keys` holds the filter's key of each row: its document or its passage.
pub(super) fn passing<T: Copy + PartialEq + Sync>(
    keys: &[T],
    live: &[u64],
    filter: &(dyn Fn(T) -> bool + Sync),
) -> Vec<u64> {
    let part = if live.len() * GROUP < PARALLEL_ROWS {
        live.len()
    } else {
        live.len().div_ceil(4 * rayon::current_num_threads())
    };
    let part = part.max(1);
    let mut passing = vec![0; live.len()];
    passing.par_chunks_mut(part).zip(live.par_chunks(part)).zip(keys.par_chunks(part * GROUP)).for_each(
        |((passing, live), keys)| {
            // Passages of one document are mostly adjacent: the filter is asked once for each run.
            let mut last = None;
            for ((passing, live), keys) in passing.iter_mut().zip(live).zip(keys.chunks(GROUP)) {
                for (row, key) in keys.iter().enumerate().filter(|(row, _)| live >> row & 1 == 1) {
                    let passes = match last {
                        Some((same, passes)) if same == *key => passes,
                        _ => filter(*key),
                    };
                    last = Some((*key, passes));
                    *passing |= u64::from(passes) << row;
                }
            }
        },
    );
    passing
}

/// The numbers of the bits that are set, ascending.
pub(super) fn rows_of(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().zip(0_u32..).filter(|(word, _)| **word != 0).flat_map(|(word, at)| {
        let mut word = *word;
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros();
            let found = (word != 0).then_some(at * GROUP as u32 + bit);
            word &= word.wrapping_sub(1);
            found
        })
    })
}

/// The bits with these ranks among the set bits; `ranks` ascend.
pub(super) fn rows_at_ranks(words: &[u64], ranks: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut rows = Vec::new();
    let mut words = words.iter().zip(0_u32..);
    let (mut word, mut at, mut before, mut ones) = (0_u64, 0, 0, 0);
    for rank in ranks {
        while before + ones <= rank {
            before += ones;
            let Some((next, number)) = words.next() else { return rows };
            (word, at) = (*next, number);
            ones = word.count_ones() as usize;
        }
        let mut rest = word;
        for _ in 0..rank - before {
            rest &= rest - 1;
        }
        rows.push(at * GROUP as u32 + rest.trailing_zeros());
    }
    rows
}
