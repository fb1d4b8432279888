//! Answers a query from both stages, over the snapshot and the tail.

use super::VectorError;
use super::background::{Background, sample_ranks};
use super::effort::Effort;
use super::index::VectorIndex;
use super::scan::{Query, passing, rows_at_ranks, rows_of};

/// Returns `true` for documents that may be found.
pub type DocumentFilter<'a> = &'a (dyn Fn(u32) -> bool + Sync);

/// Returns `true` for passages that may be found.
pub type PassageFilter<'a> = &'a (dyn Fn(u64) -> bool + Sync);

/// A passage and its similarity to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The passage's id.
    pub passage: u64,
    /// Cosine similarity by int8 codes: within about 0.005 of the full-precision value, so it can exceed -1 to 1 by as
    /// much.
    pub similarity: f32,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Nearest {
    /// The most similar passages, best first, equal ones by passage id.
    pub hits: Vec<Hit>,
    /// The query's similarity to everything that passed the filter.
    pub background: Background,
}

/// The rows of an index that pass a filter, chosen once for several searches, as long as the index does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// A bit for each row of the snapshot.
    snapshot: Vec<u64>,
    /// The number of set bits.
    count: usize,
    /// Numbers of rows of the tail, ascending.
    tail: Vec<u32>,
    /// The state of the index that they belong to.
    changes: u64,
}

impl Rows {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count + self.tail.len()
    }

    /// Returns `true` without any rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl VectorIndex {
    /// The `count` most similar passages of the documents that pass the filter, and the background.
    ///
    /// All passages are scanned. The result does not depend on the number of threads or the processor. Similarities
    /// come from int8 codes: ask for several times as many as are wanted in the end and score those by their vectors.
    ///
    /// # Errors
    /// The query has another dimension or is not finite.
    pub fn nearest(
        &self,
        query: &[f32],
        filter: Option<DocumentFilter<'_>>,
        count: usize,
    ) -> Result<Nearest, VectorError> {
        self.nearest_with(query, filter, count, &Effort::default())
    }

    /// As [`nearest`](Self::nearest), with a chosen effort.
    ///
    /// # Errors
    /// As [`nearest`](Self::nearest).
    pub fn nearest_with(
        &self,
        query: &[f32],
        filter: Option<DocumentFilter<'_>>,
        count: usize,
        effort: &Effort,
    ) -> Result<Nearest, VectorError> {
        let rows = filter.map(|filter| self.rows_of_documents(filter));
        self.search(query, rows.as_ref(), count, effort)
    }

    /// As [`nearest`](Self::nearest), among rows that were chosen before.
    ///
    /// # Errors
    /// As [`nearest`](Self::nearest), and when the index has changed since.
    pub fn nearest_among(&self, query: &[f32], rows: &Rows, count: usize) -> Result<Nearest, VectorError> {
        self.nearest_among_with(query, rows, count, &Effort::default())
    }

    /// As [`nearest_among`](Self::nearest_among), with a chosen effort.
    ///
    /// # Errors
    /// As [`nearest_among`](Self::nearest_among).
    pub fn nearest_among_with(
        &self,
        query: &[f32],
        rows: &Rows,
        count: usize,
        effort: &Effort,
    ) -> Result<Nearest, VectorError> {
        if rows.changes != self.changes || rows.snapshot.len() != self.live.len() {
            return Err(VectorError::Changed);
        }
        self.search(query, Some(rows), count, effort)
    }

    /// The rows of the documents that pass a filter.
    #[must_use]
    pub fn rows_of_documents(&self, filter: DocumentFilter<'_>) -> Rows {
        self.rows(self.snapshot().map_or(&[], |snapshot| snapshot.documents()), self.tail.documents(), filter)
    }

    /// The rows of the passages that pass a filter.
    #[must_use]
    pub fn rows_of_passages(&self, filter: PassageFilter<'_>) -> Rows {
        self.rows(self.snapshot().map_or(&[], |snapshot| snapshot.passages()), self.tail.passages(), filter)
    }

    fn rows<T: Copy + PartialEq + Sync>(&self, keys: &[T], tail: &[T], filter: &(dyn Fn(T) -> bool + Sync)) -> Rows {
        let snapshot = passing(keys, &self.live, filter);
        Rows {
            count: snapshot.iter().map(|word| word.count_ones() as usize).sum(),
            snapshot,
            tail: tail.iter().zip(0..).filter(|(key, _)| filter(**key)).map(|(_, row)| row).collect(),
            changes: self.changes,
        }
    }

    /// As [`nearest`](Self::nearest), for a filter that distinguishes the passages of one document.
    ///
    /// # Errors
    /// As [`nearest`](Self::nearest).
    pub fn nearest_passages(
        &self,
        query: &[f32],
        filter: PassageFilter<'_>,
        count: usize,
    ) -> Result<Nearest, VectorError> {
        self.search(query, Some(&self.rows_of_passages(filter)), count, &Effort::default())
    }

    fn search(
        &self,
        query: &[f32],
        rows: Option<&Rows>,
        count: usize,
        effort: &Effort,
    ) -> Result<Nearest, VectorError> {
        let query = Query::new(&self.encoder, query, effort.instructions)?;
        let every_tail_row: Vec<u32>;
        let tail_rows = match rows {
            Some(rows) => &rows.tail,
            None => {
                every_tail_row = (0..self.tail.len() as u32).collect();
                &every_tail_row
            }
        };
        let tail = query.similarities(self.tail.codes(), self.tail.scales(), tail_rows, effort.in_parallel);
        let tail_hits =
            tail_rows.iter().zip(&tail).map(|(row, similarity)| (self.tail.passages()[*row as usize], *similarity));
        let Some(snapshot) = &self.snapshot else {
            let hits = best_hits(tail_hits, count);
            return Ok(Nearest { background: Background::new(tail.len(), &mut tail.clone(), &[]), hits });
        };

        let passages = snapshot.passages();
        let (live, live_count) = match rows {
            Some(rows) => (&rows.snapshot, rows.count),
            None => (&self.live, self.live_count),
        };
        let total = live_count + tail.len();
        let similarities =
            |rows: &[u32]| query.similarities(snapshot.int8_codes(), snapshot.int8_scales(), rows, effort.in_parallel);
        // The method depends on the total searched, snapshot and tail, so that later additions do not change it.
        let exact = total <= effort.exact_rows;
        let rows = if exact {
            rows_of(live).collect()
        } else {
            query.candidates(snapshot, live, effort.depth(live_count, count))
        };
        let mut scored = similarities(&rows);
        let snapshot_hits = rows.iter().zip(&scored).map(|(row, similarity)| (passages[*row as usize], *similarity));
        let hits = best_hits(snapshot_hits.chain(tail_hits), count);

        let background = if exact {
            scored.extend(&tail);
            Background::new(total, &mut scored, &[])
        } else {
            // Of everything that passed, the snapshot first and then the tail.
            let ranks = || sample_ranks(total, effort.sample);
            let mut sample = similarities(&rows_at_ranks(live, ranks().take_while(|rank| *rank < live_count)));
            sample.extend(ranks().skip_while(|rank| *rank < live_count).map(|rank| tail[rank - live_count]));
            scored.extend(&tail);
            Background::new(total, &mut sample, &trusted(scored, rows.len()))
        };
        Ok(Nearest { hits, background })
    }
}

/// The similarities, best first, that are surely the best of all. The first stage, which left `depth` rows, may have
/// missed some of the last ones, but hardly any of the first quarter.
fn trusted(mut similarities: Vec<f32>, depth: usize) -> Vec<f32> {
    let order = |a: &f32, b: &f32| b.total_cmp(a);
    let count = depth / 4;
    if count < similarities.len() {
        similarities.select_nth_unstable_by(count, order);
        similarities.truncate(count);
    }
    similarities.sort_unstable_by(order);
    similarities
}

fn best_hits(scored: impl Iterator<Item = (u64, f32)>, count: usize) -> Vec<Hit> {
    let mut hits: Vec<Hit> = scored.map(|(passage, similarity)| Hit { passage, similarity }).collect();
    let order = |a: &Hit, b: &Hit| b.similarity.total_cmp(&a.similarity).then(a.passage.cmp(&b.passage));
    if count < hits.len() {
        if count > 0 {
            hits.select_nth_unstable_by(count - 1, order);
        }
        hits.truncate(count);
    }
    hits.sort_unstable_by(order);
    hits
}
