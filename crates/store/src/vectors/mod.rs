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
//! A query passes through `search`, `scan` (with `kernels`), `select` and `background`. A vector passes through `rotate`,
//! `quantize` (with `centres`), then `writer` (with `format`) or `index` and `tail`.
//!
//! ```
//! use tamis_store::vectors::{Identity, Opened, Snapshot, SnapshotWriter, VectorIndex};
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
//! let nearest = index.nearest(&[1.0, 0.0, 0.0], None, 10)?;
//! let passages: Vec<u64> = nearest.hits.iter().map(|hit| hit.passage).collect();
//! assert_eq!(passages, [10, 12]);
//! assert_eq!(nearest.background.count, 2);
//! # Ok(())
//! # }
//! ```

mod background;
mod centres;
mod effort;
mod error;
mod format;
mod index;
mod kernels;
mod quantize;
mod rotate;
mod scan;
mod search;
mod select;
mod snapshot;
mod tail;
#[cfg(test)]
mod tests;
mod unit;
mod writer;

#[cfg(feature = "postgres")]
pub(crate) use background::sample_ranks;
pub use background::{Background, Quantiles};
pub use effort::Effort;
pub use error::VectorError;
pub use format::{Identity, MAX_DIMENSION, MAX_MODEL_BYTES, Owner, file_name};
pub use index::VectorIndex;
pub use kernels::Instructions;
pub use quantize::cosine;
pub use search::{DocumentFilter, Hit, Nearest, PassageFilter, Rows};
pub use snapshot::{Opened, Snapshot};
pub(crate) use unit::unit;
pub use writer::SnapshotWriter;
