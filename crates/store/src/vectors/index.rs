//! A snapshot and what changed since, searched as one.

use std::path::Path;
use std::sync::Arc;

use super::VectorError;
use super::background::Background;
use super::effort::Effort;
use super::format::{GROUP, Identity, check_dimension};
use super::quantize::Encoder;
use super::scan::{Query, passing, rows_at_ranks, rows_of};
use super::snapshot::Snapshot;
use super::tail::Tail;
use super::writer::SnapshotWriter;

/// Says which documents may be found.
pub type DocumentFilter<'a> = &'a (dyn Fn(u32) -> bool + Sync);

/// A passage and how similar it is to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The passage's id.
    pub passage: u64,
    /// Cosine similarity by int8 codes: within about 0.005 of the full-precision value, so at most that far outside of -1 to 1.
    pub similarity: f32,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Nearest {
    /// The most similar passages, best first, equal ones by passage id.
    pub hits: Vec<Hit>,
    /// The query's similarity to everything that passed the filter.
    pub background: Background,
}

/// All vectors of one model that can be searched: those of a [`Snapshot`] but the deleted, and those added since.
///
/// A clone shares the snapshot and copies the rest.
#[derive(Debug, Clone)]
pub struct VectorIndex {
    encoder: Encoder,
    snapshot: Option<Arc<Snapshot>>,
    /// A bit for each row of the snapshot, unset when it was deleted or replaced.
    live: Vec<u64>,
    live_count: usize,
    tail: Tail,
    seq: u64,
}

impl VectorIndex {
    /// An empty index of vectors of `dimension`, that holds changes up to number 0.
    ///
    /// # Errors
    /// When the dimension is not 1 to [`MAX_DIMENSION`](super::MAX_DIMENSION).
    pub fn new(dimension: usize) -> Result<Self, VectorError> {
        check_dimension(dimension)?;
        Ok(Self {
            encoder: Encoder::new(dimension),
            snapshot: None,
            live: Vec::new(),
            live_count: 0,
            tail: Tail::default(),
            seq: 0,
        })
    }

    /// An index of what a snapshot holds.
    #[must_use]
    pub fn from_snapshot(snapshot: Arc<Snapshot>) -> Self {
        let count = snapshot.len();
        let mut live = vec![u64::MAX; count.div_ceil(GROUP)];
        if let Some(last) = live.last_mut()
            && !count.is_multiple_of(GROUP)
        {
            *last = (1 << (count % GROUP)) - 1;
        }
        Self {
            encoder: Encoder::new(snapshot.identity().dimension),
            seq: snapshot.seq(),
            live,
            live_count: count,
            tail: Tail::default(),
            snapshot: Some(snapshot),
        }
    }

    /// Adds a passage's vector, or replaces it. Its length does not matter; a zero vector is similar to nothing.
    ///
    /// # Errors
    /// When the vector has another dimension or is not finite; the index is then unchanged.
    pub fn add(&mut self, passage: u64, document: u32, vector: &[f32]) -> Result<(), VectorError> {
        if self.live.len() * GROUP + self.tail.len() >= u32::MAX as usize {
            return Err(VectorError::TooManyRows);
        }
        let code = self.encoder.passage(passage, vector)?;
        self.tail.put(passage, document, code);
        if let Some(row) = self.live_row(passage) {
            self.kill(row);
        }
        Ok(())
    }

    /// Takes a passage out. False when it was not in the index.
    pub fn delete(&mut self, passage: u64) -> bool {
        if self.tail.remove(passage, self.encoder.padded()) {
            return true;
        }
        match self.live_row(passage) {
            Some(row) => {
                self.kill(row);
                true
            }
            None => false,
        }
    }

    /// The number of passages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live_count + self.tail.len()
    }

    /// Whether there are no passages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dimension of the vectors.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.encoder.dimension()
    }

    /// The last change that the index holds.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Notes that all changes up to and including `seq` were given to the index. A lower number changes nothing.
    pub fn advance(&mut self, seq: u64) {
        self.seq = self.seq.max(seq);
    }

    /// The snapshot below, if there is one.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_deref()
    }

    /// Whether a passage is in the index.
    #[must_use]
    pub fn contains(&self, passage: u64) -> bool {
        self.tail.contains(passage) || self.live_row(passage).is_some()
    }

    /// All passages, in no particular order.
    pub fn passages(&self) -> impl Iterator<Item = u64> {
        let of_snapshot = self.snapshot.iter().flat_map(|snapshot| {
            let passages = snapshot.passages();
            rows_of(&self.live).map(|row| passages[row as usize])
        });
        of_snapshot.chain(self.tail.passages().iter().copied())
    }

    /// Whether so much was added or deleted since the snapshot that a new one is worth its writing: more than 2,000
    /// passages and more than a tenth of the index.
    #[must_use]
    pub fn wants_rewrite(&self) -> bool {
        let dead = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.len() - self.live_count);
        self.tail.len() + dead > (self.len() / 10).max(2_000)
    }

    /// Writes everything to a new snapshot file at `path`, from the codes in memory and in the old file; no vector is
    /// needed and nothing is lost by doing it often. Open the file to use it.
    ///
    /// # Errors
    /// When the identity's dimension is not the index's, when the file can not be written, or when the old file turns
    /// out to be damaged ([`VectorError::Order`]): then it must be made anew from the full-precision vectors.
    pub fn save(&self, path: &Path, identity: &Identity) -> Result<(), VectorError> {
        if identity.dimension != self.dimension() {
            return Err(VectorError::Dimension { expected: self.dimension(), received: identity.dimension });
        }
        let padded = self.encoder.padded();
        let mut writer = SnapshotWriter::create(path, identity, self.seq)?;
        let mut added: Vec<(u64, usize)> = self.tail.passages().iter().copied().zip(0..).collect();
        added.sort_unstable();
        let mut added = added.into_iter().peekable();
        let push_added = |writer: &mut SnapshotWriter, passage: u64, row: usize| {
            let codes = &self.tail.codes()[row * padded..(row + 1) * padded];
            writer.push_code(passage, self.tail.documents()[row], codes, self.tail.scales()[row])
        };
        if let Some(snapshot) = &self.snapshot {
            for row in rows_of(&self.live) {
                let row = row as usize;
                let passage = snapshot.passages()[row];
                while let Some((passage, row)) = added.next_if(|(added, _)| *added < passage) {
                    push_added(&mut writer, passage, row)?;
                }
                let codes = &snapshot.int8_codes()[row * padded..(row + 1) * padded];
                writer.push_code(passage, snapshot.documents()[row], codes, snapshot.int8_scales()[row])?;
            }
        }
        for (passage, row) in added {
            push_added(&mut writer, passage, row)?;
        }
        writer.finish()
    }

    /// The `count` most similar passages of the documents that pass the filter, and the background.
    ///
    /// All passages are scanned. The result does not depend on the number of threads or the processor. Similarities come
    /// from int8 codes: ask for several times as many as are wanted in the end and score those in full precision.
    ///
    /// # Errors
    /// When the query has another dimension or is not finite.
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
        let query = Query::new(&self.encoder, query, effort.instructions)?;

        let tail_rows: Vec<u32> = match filter {
            None => (0..self.tail.len() as u32).collect(),
            Some(filter) => self
                .tail
                .documents()
                .iter()
                .zip(0..)
                .filter(|(document, _)| filter(**document))
                .map(|(_, row)| row)
                .collect(),
        };
        let tail = query.similarities(self.tail.codes(), self.tail.scales(), &tail_rows);
        let tail_hits =
            tail_rows.iter().zip(&tail).map(|(row, similarity)| (self.tail.passages()[*row as usize], *similarity));

        let Some(snapshot) = &self.snapshot else {
            let hits = best_hits(tail_hits, count);
            return Ok(Nearest { background: Background::new(tail.len(), &mut tail.clone(), &[]), hits });
        };
        let filtered = filter.map(|filter| passing(snapshot, &self.live, filter));
        let live = filtered.as_deref().unwrap_or(&self.live);
        let live_count =
            if filtered.is_some() { live.iter().map(|word| word.count_ones() as usize).sum() } else { self.live_count };

        let passages = snapshot.passages();
        let similarities = |rows: &[u32]| query.similarities(snapshot.int8_codes(), snapshot.int8_scales(), rows);
        let exact = live_count <= effort.exact_rows;
        let rows = if exact {
            rows_of(live).collect()
        } else {
            query.candidates(snapshot, live, effort.depth(live_count, count))
        };
        let scored = similarities(&rows);
        let snapshot_hits = rows.iter().zip(&scored).map(|(row, similarity)| (passages[*row as usize], *similarity));

        let total = live_count + tail.len();
        if exact {
            let hits = best_hits(snapshot_hits.chain(tail_hits), count);
            let mut sample = scored.clone();
            sample.extend(&tail);
            return Ok(Nearest { hits, background: Background::new(total, &mut sample, &[]) });
        }
        let hits = best_hits(snapshot_hits.chain(tail_hits), count);
        let mut top: Vec<f32> = scored.iter().chain(&tail).copied().collect();
        top.sort_unstable_by(|a, b| b.total_cmp(a));
        top.truncate(rows.len());
        let ranks = || (0..effort.sample.min(total)).map(|at| (2 * at + 1) * total / (2 * effort.sample.min(total)));
        let sampled_rows = rows_at_ranks(live, ranks().take_while(|rank| *rank < live_count));
        let mut sample = similarities(&sampled_rows);
        sample.extend(ranks().skip_while(|rank| *rank < live_count).map(|rank| tail[rank - live_count]));
        Ok(Nearest { hits, background: Background::new(total, &mut sample, &top) })
    }

    fn live_row(&self, passage: u64) -> Option<usize> {
        let row = self.snapshot.as_ref()?.passages().binary_search(&passage).ok()?;
        (self.live[row / GROUP] >> (row % GROUP) & 1 == 1).then_some(row)
    }

    fn kill(&mut self, row: usize) {
        self.live[row / GROUP] &= !(1 << (row % GROUP));
        self.live_count -= 1;
    }
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
