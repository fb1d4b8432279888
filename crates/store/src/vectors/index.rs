//! A snapshot and the later changes, searched as one.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::VectorError;
use super::format::{GROUP, Identity, Owner, check_dimension};
use super::kernels::Instructions;
use super::quantize::{Encoder, Int8Code};
use super::scan::{Background, Query, passing, rows_at_ranks, rows_of, sample_ranks};
use super::snapshot::{PART_BYTES, Snapshot, SnapshotWriter};

/// The searchable vectors of one model: those of a [`Snapshot`] without the deleted ones, and those added since.
///
/// A clone shares the snapshot and copies the rest.
#[derive(Debug, Clone)]
pub struct VectorIndex {
    pub(crate) encoder: Encoder,
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    /// A bit for each row of the snapshot, cleared when it is deleted or replaced.
    pub(crate) live: Vec<u64>,
    live_count: usize,
    pub(crate) tail: Tail,
    /// Counts additions and deletions, so that rows chosen earlier are recognized as outdated.
    pub(crate) changes: u64,
    seq: u64,
}

impl VectorIndex {
    /// Makes an empty index of vectors of `dimension`, at change number 0.
    ///
    /// # Errors
    /// The dimension is not 1 to [`MAX_DIMENSION`](super::MAX_DIMENSION).
    pub fn new(dimension: usize) -> Result<Self, VectorError> {
        check_dimension(dimension)?;
        Ok(Self {
            encoder: Encoder::new(dimension),
            snapshot: None,
            live: Vec::new(),
            live_count: 0,
            tail: Tail::default(),
            changes: 0,
            seq: 0,
        })
    }

    /// Makes an index of a snapshot.
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
            changes: 0,
            snapshot: Some(snapshot),
        }
    }

    /// Adds or replaces a passage's vector. Its length does not matter. A zero vector is similar to nothing.
    ///
    /// # Errors
    /// The vector has another dimension or is not finite; the index is then unchanged.
    pub fn add(&mut self, passage: u64, owner: impl Into<Owner>, vector: &[f32]) -> Result<(), VectorError> {
        if self.live.len() * GROUP + self.tail.len() >= u32::MAX as usize {
            return Err(VectorError::TooManyRows);
        }
        let code = self.encoder.passage(passage, vector)?;
        self.changes += 1;
        self.tail.put(passage, owner.into(), code);
        if let Some(row) = self.live_row(passage) {
            self.kill(row);
        }
        Ok(())
    }

    /// Removes a passage. Returns false when it was not in the index.
    pub fn delete(&mut self, passage: u64) -> bool {
        self.changes += 1;
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

    /// Returns the number of passages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live_count + self.tail.len()
    }

    /// Returns `true` without any passages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dimension of the vectors.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.encoder.dimension()
    }

    /// Returns the number of the last change in the index.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Records that the index has all changes up to and including `seq`. A lower number has no effect.
    pub fn advance(&mut self, seq: u64) {
        self.seq = self.seq.max(seq);
    }

    /// Returns the underlying snapshot, if there is one.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_deref()
    }

    /// Returns `true` if a passage is in the index.
    #[must_use]
    pub fn contains(&self, passage: u64) -> bool {
        self.tail.contains(passage) || self.live_row(passage).is_some()
    }

    /// Returns all passages, in no particular order.
    pub fn passages(&self) -> impl Iterator<Item = u64> {
        let of_snapshot = self.snapshot.iter().flat_map(|snapshot| {
            let passages = snapshot.passages();
            rows_of(&self.live).map(|row| passages[row as usize])
        });
        of_snapshot.chain(self.tail.passages.iter().copied())
    }

    /// Returns `true` if enough changed since the snapshot to write a new one: more than 2,000 passages and more than one in 200.
    ///
    /// Every process that opens the index replays these changes, so their number must not grow with the index. Writing the file
    /// again costs less than embedding as many passages as are then in it.
    #[must_use]
    pub fn wants_rewrite(&self) -> bool {
        let dead = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.len() - self.live_count);
        self.tail.len() + dead > (self.len() / 200).max(2_000)
    }

    /// Writes a new snapshot file to `path` from the codes in memory and in the old file. It needs no vectors, and repeating it
    /// loses nothing. Open the file to use it.
    ///
    /// # Errors
    /// The identity has another dimension, the file cannot be written, or the old file is damaged
    /// ([`VectorError::Order`]) and must be rebuilt from the full-precision vectors.
    pub fn save(&self, path: &Path, identity: &Identity) -> Result<(), VectorError> {
        if identity.dimension != self.dimension() {
            return Err(VectorError::Dimension { expected: self.dimension(), received: identity.dimension });
        }
        let padded = self.encoder.padded();
        let mut writer = SnapshotWriter::create(path, identity, self.seq)?;
        let mut added: Vec<(u64, usize)> = self.tail.passages.iter().copied().zip(0..).collect();
        added.sort_unstable();
        let mut added = added.into_iter().peekable();
        let push_added = |writer: &mut SnapshotWriter, passage: u64, row: usize| {
            let codes = &self.tail.codes[row * padded..(row + 1) * padded];
            writer.push_code(passage, self.tail.owner(row), codes, self.tail.scales[row])
        };
        if let Some(snapshot) = &self.snapshot {
            let rows_a_part = (PART_BYTES / padded).max(1);
            for row in rows_of(&self.live) {
                let row = row as usize;
                let passage = snapshot.passages()[row];
                while let Some((passage, row)) = added.next_if(|(added, _)| *added < passage) {
                    push_added(&mut writer, passage, row)?;
                }
                let codes = &snapshot.int8_codes()[row * padded..(row + 1) * padded];
                let owner = Owner { document: snapshot.documents()[row], namespace: snapshot.namespaces()[row] };
                writer.push_code(passage, owner, codes, snapshot.int8_scales()[row])?;
                // Otherwise all of the old file would be in memory at once.
                if row.is_multiple_of(rows_a_part) {
                    snapshot.release();
                }
            }
            snapshot.release();
        }
        for (passage, row) in added {
            push_added(&mut writer, passage, row)?;
        }
        writer.finish()
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

#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    rows: HashMap<u64, u32>,
    passages: Vec<u64>,
    documents: Vec<u32>,
    namespaces: Vec<u32>,
    codes: Vec<i8>,
    scales: Vec<f32>,
}

impl Tail {
    /// Adds a row, or replaces the passage's. All codes have the same length.
    pub(crate) fn put(&mut self, passage: u64, owner: Owner, code: &Int8Code) {
        let padded = code.codes.len();
        if let Some(row) = self.rows.get(&passage) {
            let row = *row as usize;
            self.documents[row] = owner.document;
            self.namespaces[row] = owner.namespace;
            self.scales[row] = code.scale;
            self.codes[row * padded..(row + 1) * padded].copy_from_slice(&code.codes);
            return;
        }
        self.rows.insert(passage, self.passages.len() as u32);
        self.passages.push(passage);
        self.documents.push(owner.document);
        self.namespaces.push(owner.namespace);
        self.scales.push(code.scale);
        self.codes.extend_from_slice(&code.codes);
    }

    /// Removes a passage and moves the last row to its position. Returns false when the passage is missing.
    pub(crate) fn remove(&mut self, passage: u64, padded: usize) -> bool {
        let Some(row) = self.rows.remove(&passage) else { return false };
        let row = row as usize;
        let last = self.passages.len() - 1;
        self.passages.swap_remove(row);
        self.documents.swap_remove(row);
        self.namespaces.swap_remove(row);
        self.scales.swap_remove(row);
        self.codes.copy_within(last * padded.., row * padded);
        self.codes.truncate(last * padded);
        if let Some(moved) = self.passages.get(row) {
            self.rows.insert(*moved, row as u32);
        }
        true
    }

    pub(crate) fn contains(&self, passage: u64) -> bool {
        self.rows.contains_key(&passage)
    }

    pub(crate) fn len(&self) -> usize {
        self.passages.len()
    }

    pub(crate) fn owner(&self, row: usize) -> Owner {
        Owner { document: self.documents[row], namespace: self.namespaces[row] }
    }
}

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
    /// The rows of the documents that pass a filter.
    #[must_use]
    pub fn rows_of_documents(&self, filter: DocumentFilter<'_>) -> Rows {
        self.rows(self.snapshot().map_or(&[], |snapshot| snapshot.documents()), &self.tail.documents, filter)
    }

    /// The rows of the passages that pass a filter.
    #[must_use]
    pub fn rows_of_passages(&self, filter: PassageFilter<'_>) -> Rows {
        self.rows(self.snapshot().map_or(&[], |snapshot| snapshot.passages()), &self.tail.passages, filter)
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

    /// The `count` most similar passages of some rows, or of all, and the background.
    ///
    /// All of them are scanned. The result does not depend on the number of threads or the processor. Similarities
    /// come from int8 codes: ask for several times as many as are wanted in the end and score those by their vectors.
    ///
    /// # Errors
    /// The query has another dimension or is not finite, or the index has changed since the rows were chosen.
    pub fn nearest(
        &self,
        query: &[f32],
        rows: Option<&Rows>,
        count: usize,
        effort: &Effort,
    ) -> Result<Nearest, VectorError> {
        if rows.is_some_and(|rows| rows.changes != self.changes || rows.snapshot.len() != self.live.len()) {
            return Err(VectorError::Changed);
        }
        let query = Query::new(&self.encoder, query, effort.instructions)?;
        let every_tail_row: Vec<u32>;
        let tail_rows = match rows {
            Some(rows) => &rows.tail,
            None => {
                every_tail_row = (0..self.tail.len() as u32).collect();
                &every_tail_row
            }
        };
        let tail = query.similarities(&self.tail.codes, &self.tail.scales, tail_rows, effort.in_parallel);
        let tail_hits =
            tail_rows.iter().zip(&tail).map(|(row, similarity)| (self.tail.passages[*row as usize], *similarity));
        let Some(snapshot) = &self.snapshot else {
            let hits = best_hits(tail_hits, count);
            return Ok(Nearest { background: Background::new(tail.len(), &tail), hits });
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

        let sample = if exact {
            scored.extend(&tail);
            scored
        } else {
            // Of everything that passed, the snapshot first and then the tail.
            let ranks = || sample_ranks(total, effort.sample);
            let mut sample = similarities(&rows_at_ranks(live, ranks().take_while(|rank| *rank < live_count)));
            sample.extend(ranks().skip_while(|rank| *rank < live_count).map(|rank| tail[rank - live_count]));
            sample
        };
        Ok(Nearest { hits, background: Background::new(total, &sample) })
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

/// The amount of work of a scan, and the instructions for it.
///
/// The defaults were measured on vectors of real text: see `docs/research/vector-codes.md`.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Up to this many passages are all scored by int8 codes, so that the background covers all of them.
    pub exact_rows: usize,
    /// The number of passages that pass from the sign codes of a larger corpus to the int8 codes; `None` chooses by the sizes of
    /// corpus and answer.
    pub depth: Option<usize>,
    /// The number of passages that the background of a larger corpus is measured on.
    pub sample: usize,
    /// The processor instructions. They only change the time.
    pub instructions: Instructions,
    /// True if a scan of many rows of the tail is divided among threads. A thread that waits for its share may begin something else.
    pub in_parallel: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { exact_rows: 32_768, depth: None, sample: 8_192, instructions: Instructions::best(), in_parallel: true }
    }
}

impl Effort {
    /// The number of `rows` that pass from the first stage to the second when `count` are wanted.
    ///
    /// At a fixed depth recall falls slowly as a corpus grows. The square root more than compensates.
    pub(crate) fn depth(&self, rows: usize, count: usize) -> usize {
        let chosen = || count.saturating_mul(4).max(3_000).max(5 * rows.isqrt());
        self.depth.unwrap_or_else(chosen).clamp(1, rows.max(1))
    }
}
