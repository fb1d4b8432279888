//! Scores rows: all of them by their sign codes, some of them by their int8 codes. Keeps the best ones, and the distribution of all.

use rayon::prelude::*;

use super::VectorError;
use super::format::{GROUP, MIXED};
use super::kernels::{Instructions, TABLE_BYTES, TABLE_MAX, at_least, prefetch};
use super::quantize::Encoder;
use super::snapshot::{Offsets, Snapshot};

/// Work on fewer rows than this is not split over threads.
const PARALLEL_ROWS: usize = 16_384;
/// The same for scattered rows, each of which waits for memory.
const PARALLEL_SCATTERED_ROWS: usize = 1_024;

/// The number of rows by which the fetch of a scattered row is ahead of its turn.
const AHEAD: usize = 12;

/// A query in the forms that the scans need.
#[derive(Debug)]
pub(crate) struct Query {
    rotated: Vec<f32>,
    /// Its int8 code, padded to a multiple of 64.
    codes: Vec<i8>,
    scale: f32,
    instructions: Instructions,
}

impl Query {
    pub(crate) fn new(encoder: &Encoder, vector: &[f32], instructions: Instructions) -> Result<Self, VectorError> {
        let (rotated, code) = encoder.query(vector)?;
        Ok(Self { rotated, codes: code.codes, scale: code.scale, instructions })
    }

    /// The similarities to the given rows, ascending, of int8 codes.
    pub(crate) fn similarities(&self, codes: &[i8], scales: &[f32], rows: &[u32], in_parallel: bool) -> Vec<f32> {
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
                prefetch(&codes[*ahead as usize * padded..][..padded]);
            }
            // Adjacent rows go through the kernel together.
            let run =
                rows[at..].iter().take(GROUP).zip(first..).take_while(|(row, next)| **row as usize == *next).count();
            self.instructions.dots(&codes[first * padded..(first + run) * padded], &self.codes, &mut dots[..run]);
            for ((similarity, dot), scale) in similarities[at..].iter_mut().zip(&dots[..run]).zip(&scales[first..]) {
                let value = *dot as f32 * (self.scale * scale);
                // A damaged file can hold any scale.
                *similarity = if value.is_finite() { value } else { 0.0 };
            }
            at += run;
        }
    }

    /// The best `depth` of the snapshot's `live` rows by their sign codes, in ascending order of rows.
    pub(crate) fn candidates(&self, snapshot: &Snapshot, live: &[u64], depth: usize) -> Vec<u32> {
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
                    *estimate += offsets.get(*namespace);
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
pub(crate) fn passing<T: Copy + PartialEq + Sync>(
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
pub(crate) fn rows_of(words: &[u64]) -> impl Iterator<Item = u32> {
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
pub(crate) fn rows_at_ranks(words: &[u64], ranks: impl Iterator<Item = usize>) -> Vec<u32> {
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

/// A row and its score as one number. It orders by score, and among equal scores puts the lower row first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u64);

impl Key {
    pub(crate) fn new(score: f32, row: u32) -> Self {
        let bits = score.to_bits();
        // Floats order like their bits once those of negative numbers are inverted.
        let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
        Self(u64::from(ordered) << 32 | u64::from(!row))
    }

    pub(crate) fn row(self) -> u32 {
        !(self.0 as u32)
    }

    pub(crate) fn score(self) -> f32 {
        let ordered = (self.0 >> 32) as u32;
        f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered })
    }
}

/// The `limit` best keys, in whatever order they are pushed.
#[derive(Debug)]
pub(crate) struct Best {
    limit: usize,
    keys: Vec<Key>,
    floor: f32,
}

impl Best {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, keys: Vec::with_capacity(2 * limit), floor: f32::NEG_INFINITY }
    }

    /// Rows with a score below this can no longer be among the best.
    pub(crate) fn floor(&self) -> f32 {
        self.floor
    }

    pub(crate) fn push(&mut self, key: Key) {
        if self.limit == 0 {
            return;
        }
        self.keys.push(key);
        if self.keys.len() == 2 * self.limit {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.keys.len() > self.limit {
            let (_, last, _) = self.keys.select_nth_unstable_by(self.limit - 1, |a, b| b.cmp(a));
            self.floor = last.score();
            self.keys.truncate(self.limit);
        }
    }

    /// Adds the keys of another selection.
    fn merge(mut self, other: Self) -> Self {
        if self.limit > 0 {
            self.keys.extend(other.keys);
            self.shrink();
        }
        self
    }

    /// Returns the best keys, in no particular order.
    pub(crate) fn into_keys(mut self) -> Vec<Key> {
        if self.limit > 0 {
            self.shrink();
        }
        self.keys
    }
}

/// Statistics of a query's similarity to all passages that passed the filter.
///
/// They show whether the best similarities stand out. All are 0 when nothing passed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Background {
    /// The passages that passed the filter.
    pub count: usize,
    /// The number measured: all of a small corpus, 8,192 evenly spaced ones of a large corpus.
    pub sampled: usize,
    /// The mean similarity, -1 to 1.
    pub mean: f32,
    /// The standard deviation of the similarities (of the population), 0 to 1.
    pub deviation: f32,
}

impl Background {
    /// Statistics of `count` passages from a `sample` of their similarities.
    pub(crate) fn new(count: usize, sample: &[f32]) -> Self {
        if sample.is_empty() {
            return Self { count, ..Self::default() };
        }
        let sampled = sample.len();
        let mean = sum(sample.iter().map(|value| f64::from(*value))) / sampled as f64;
        let variance = sum(sample.iter().map(|value| (f64::from(*value) - mean).powi(2))) / sampled as f64;
        Self { count, sampled, mean: mean as f32, deviation: variance.sqrt() as f32 }
    }
}

/// The ranks, from 0, of a sample of `size` among `count` passages in ascending order: the midpoints of equal parts. Every store takes
/// the same ones, so that all of them measure the same background.
pub(crate) fn sample_ranks(count: usize, size: usize) -> impl Iterator<Item = usize> {
    let size = size.min(count);
    (0..size).map(move |at| (2 * at + 1) * count / (2 * size))
}

/// A sum that is the same in any order, so that it does not depend on which rows are in the file. It counts in units of 2⁻⁴⁰,
/// far below the resolution of similarities in f32.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    const PARTS: f64 = (1_u64 << 40) as f64;
    // A cast saturates, so a damaged file cannot overflow the sum.
    values.map(|value| i128::from((value * PARTS) as i64)).sum::<i128>() as f64 / PARTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_order_by_score_then_row(a in -2.0_f32..2.0, b in -2.0_f32..2.0, row_a: u32, row_b: u32) {
            let expected = a.total_cmp(&b).then(row_b.cmp(&row_a));
            prop_assert_eq!(Key::new(a, row_a).cmp(&Key::new(b, row_b)), expected);
            prop_assert_eq!((Key::new(a, row_a).score(), Key::new(a, row_a).row()), (a, row_a));
        }

        #[test]
        fn the_best_are_kept_in_any_split(
            scores in prop::collection::vec(-3_i8..3, 0..200),
            limit in 0_usize..20,
            split in 0_usize..200,
        ) {
            let keys: Vec<Key> = scores.iter().zip(0..).map(|(score, row)| Key::new(f32::from(*score), row)).collect();
            let split = split.min(keys.len());
            let collect = |keys: &[Key]| {
                let mut best = Best::new(limit);
                for key in keys {
                    if key.score() >= best.floor() {
                        best.push(*key);
                    }
                }
                best
            };
            let mut found = collect(&keys[..split]).merge(collect(&keys[split..])).into_keys();
            found.sort_unstable_by(|a, b| b.cmp(a));
            let mut expected = keys;
            expected.sort_unstable_by(|a, b| b.cmp(a));
            expected.truncate(limit);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn no_order_of_the_sample_changes_anything(
            (sorted, shuffled) in prop::collection::vec(-1.0_f32..1.0, 1..400)
                .prop_flat_map(|values| (Just(values.clone()), Just(values).prop_shuffle()))
        ) {
            let count = sorted.len();
            prop_assert_eq!(Background::new(count, &sorted), Background::new(count, &shuffled));
        }
    }

    #[test]
    fn a_worked_example() {
        let background = Background::new(4, &[0.4, 0.1, 0.3, 0.2]);
        assert!((background.mean - 0.25).abs() < 1e-6);
        assert!((background.deviation - 0.0125_f32.sqrt()).abs() < 1e-6);
        assert_eq!(Background::new(0, &[]), Background::default());
    }
}
