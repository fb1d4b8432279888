//! A snapshot and what changed since, searched as one.

use std::path::Path;
use std::sync::Arc;

use super::VectorError;
use super::format::{GROUP, Identity, Owner, check_dimension};
use super::quantize::Encoder;
use super::scan::rows_of;
use super::snapshot::Snapshot;
use super::tail::Tail;
use super::writer::SnapshotWriter;

/// All vectors of one model that can be searched: those of a [`Snapshot`] but the deleted, and those added since.
///
/// A clone shares the snapshot and copies the rest.
#[derive(Debug, Clone)]
pub struct VectorIndex {
    pub(super) encoder: Encoder,
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// A bit for each row of the snapshot, unset when it was deleted or replaced.
    pub(super) live: Vec<u64>,
    pub(super) live_count: usize,
    pub(super) tail: Tail,
    /// Counts additions and deletions, so that rows chosen before one are not taken for those after it.
    pub(super) changes: u64,
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
            changes: 0,
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
            changes: 0,
            snapshot: Some(snapshot),
        }
    }

    /// Adds a passage's vector, or replaces it. Its length does not matter; a zero vector is similar to nothing.
    ///
    /// # Errors
    /// When the vector has another dimension or is not finite; the index is then unchanged.
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

    /// Takes a passage out. False when it was not in the index.
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
            writer.push_code(passage, self.tail.owner(row), codes, self.tail.scales()[row])
        };
        if let Some(snapshot) = &self.snapshot {
            for row in rows_of(&self.live) {
                let row = row as usize;
                let passage = snapshot.passages()[row];
                while let Some((passage, row)) = added.next_if(|(added, _)| *added < passage) {
                    push_added(&mut writer, passage, row)?;
                }
                let codes = &snapshot.int8_codes()[row * padded..(row + 1) * padded];
                let owner = Owner { document: snapshot.documents()[row], namespace: snapshot.namespaces()[row] };
                writer.push_code(passage, owner, codes, snapshot.int8_scales()[row])?;
            }
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
