//! Vector search by scanning everything: small codes in a mapped file, and later changes in memory.
//!
//! Each model has one immutable [`Snapshot`] file, which any number of readers map. A writer creates a new one beside it and
//! renames it into place. Later additions and deletions are replayed into a [`VectorIndex`], which answers queries over both.
//! The file is derived: it can be deleted at any time and is rebuilt from the full-precision vectors in the database.
//!
//! A query has two stages. The first scores **every** row that passes the filter by a 1-bit code (the signs of
//! the rotated, centred vector, 48 bytes for 384 dimensions), the second scores the best few thousand by an int8 code.
//! The caller rescores the hits with its full-precision vectors. Because every row is visited, the similarity of the query to
//! everything else is a by-product, the [`Background`].
//!
//! A query passes through `index` and `scan` (with `kernels`). A vector passes through `quantize`, then `snapshot` (with `format`) or
//! `index`.
//!
//! ```
//! use tamis_store::vectors::{Effort, Identity, Opened, Snapshot, SnapshotWriter, VectorIndex};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("static.tvec");
//! let identity = Identity { instance: [7; 16], model: "static".to_owned(), dimension: 3 };
//! let mut writer = SnapshotWriter::create(&path, &identity, 1)?;
//! writer.push(10, 1u32, &[1.0, 0.0, 0.0])?;
//! writer.push(11, 1u32, &[0.0, 1.0, 0.0])?;
//! writer.finish()?;
//!
//! let Opened::Ready(snapshot) = Snapshot::open(&path, &identity)? else { panic!("just written") };
//! let mut index = VectorIndex::from_snapshot(snapshot);
//! index.add(12, 2u32, &[0.9, 0.1, 0.0])?;
//! index.delete(11);
//! index.advance(3);
//!
//! let nearest = index.nearest(&[1.0, 0.0, 0.0], None, 10, &Effort::default())?;
//! let passages: Vec<u64> = nearest.hits.iter().map(|hit| hit.passage).collect();
//! assert_eq!(passages, [10, 12]);
//! assert_eq!(nearest.background.count, 2);
//! # Ok(())
//! # }
//! ```

mod format;
mod index;
mod kernels;
mod quantize;
mod scan;
mod snapshot;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use format::{Identity, MAX_DIMENSION, MAX_MODEL_BYTES, Owner, file_name};
pub use index::{DocumentFilter, Effort, Hit, Nearest, PassageFilter, Rows, VectorIndex};
pub use kernels::Instructions;
pub use quantize::cosine;
pub(crate) use quantize::unit;
pub use scan::Background;
#[cfg(feature = "postgres")]
pub(crate) use scan::sample_ranks;
pub use snapshot::{Opened, Snapshot, SnapshotWriter};

/// An error of a vector file or a vector.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// A vector's length is not the model's dimension.
    #[error("a vector of {received} dimensions was given to an index of {expected}; embed it with the index's model")]
    Dimension {
        /// The dimension of the index.
        expected: usize,
        /// The length of the vector given.
        received: usize,
    },
    /// A passage's vector holds NaN or an infinity.
    #[error("the vector of passage {passage} holds {value} at position {position}; embed the passage again")]
    NonFinite {
        /// The passage that the vector belongs to.
        passage: u64,
        /// The first position that is not finite.
        position: usize,
        /// The value there.
        value: f32,
    },
    /// A query's vector holds NaN or an infinity.
    #[error("the query's vector holds {value} at position {position}; embed the query again")]
    NonFiniteQuery {
        /// The first position that is not finite.
        position: usize,
        /// The value there.
        value: f32,
    },
    /// Passages were not written in ascending order.
    #[error(
        "passage {passage} was written after passage {previous}; a snapshot takes each passage once, in ascending order"
    )]
    Order {
        /// The passage written before.
        previous: u64,
        /// The passage that came out of order.
        passage: u64,
    },
    /// A dimension out of range.
    #[error("{received} dimensions are not possible; a vector has 1 to {maximum}", maximum = MAX_DIMENSION)]
    UnsupportedDimension {
        /// The dimension asked for.
        received: usize,
    },
    /// A model name too long for the file's header.
    #[error("the model name `{model}` has {length} bytes; the vector file has room for {maximum}", length = model.len(), maximum = MAX_MODEL_BYTES)]
    ModelName {
        /// The model's name.
        model: String,
    },
    /// Rows that were chosen before the index changed.
    #[error("the index has changed since the rows to search were chosen; choose them again")]
    Changed,
    /// More rows than a file can number.
    #[error("a vector file holds at most {maximum} passages", maximum = u32::MAX)]
    TooManyRows,
    /// A file could not be read or written.
    #[error("{}: {source}; check the space and the permissions there (the file is derived and can be deleted)", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        source: std::io::Error,
    },
}

impl VectorError {
    /// Names the file that an operation failed on.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io { path, source }
    }
}
