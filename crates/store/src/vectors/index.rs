//! A snapshot and the later changes, searched as one.

use std::path::Path;
use std::sync::Arc;

use super::VectorError;
use super::format::{GROUP, Identity, Owner, check_dimension};
use super::quantize::Encoder;
use super::scan::rows_of;
use super::snapshot::{PART_BYTES, Snapshot};
use super::tail::Tail;
use super::writer::SnapshotWriter;

/// The searchable vectors of one model: those of a [`Snapshot`] without the deleted ones, and those added since.
///
/// A clone shares the snapshot and copies the rest.
#[derive(Debug, Clone)]
pub struct VectorIndex {
    pub(super) encoder: Encoder,
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// A bit for each row of the snapshot, cleared when it is deleted or replaced.
    pub(super) live: Vec<u64>,
    pub(super) live_count: usize,
    pub(super) tail: Tail,
    /// Counts additions and deletions, so that rows chosen earlier are recognized as outdated.
    pub(super) changes: u64,
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
        of_snapshot.chain(self.tail.passages().iter().copied())
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
        let mut added: Vec<(u64, usize)> = self.tail.passages().iter().copied().zip(0..).collect();
        added.sort_unstable();
        let mut added = added.into_iter().peekable();
        let push_added = |writer: &mut SnapshotWriter, passage: u64, row: usize| {
            let codes = &self.tail.codes()[row * padded..(row + 1) * padded];
            writer.push_code(passage, self.tail.owner(row), codes, self.tail.scales()[row])
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
