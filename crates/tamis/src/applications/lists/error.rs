//! The errors of a list that cannot be cut. Positions count from 0.

use tamis_cut::{Orientation, PoolError};
use thiserror::Error;

/// A list that cannot be cut.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ListError {
    /// Some entries have a score and some do not.
    #[error(
        "entry {}: no score, which entry {} has; give it to all entries or to none", without + 1, with + 1
    )]
    Mixed {
        /// The first entry without one.
        without: usize,
        /// The first entry with one.
        with: usize,
    },
    /// Scores that are not best first.
    #[error(
        "entry {}: {value} is better than {previous} before it ({} is better); give the entries best first, or set sort",
        position + 1, better(*orientation)
    )]
    Unsorted {
        /// The entry that is too good for its place.
        position: usize,
        /// Its score.
        value: f64,
        /// The score before it.
        previous: f64,
        /// The good end of the scores.
        orientation: Orientation,
    },
    /// A method that reads similarities, of which there are none.
    #[error("method {method}: it needs a similarity, and no entry has one")]
    NoSimilarity {
        /// The method.
        method: String,
    },
    /// A budget for entries of unknown length.
    #[error("entry {}: a budget needs the number tokens or the text to count them in", position + 1)]
    NoLength {
        /// The first such entry.
        position: usize,
    },
    /// A sample that does not fit the entries.
    #[error("background_sample: {0}")]
    Sample(String),
    /// A figure that no cut can read.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

/// The word for the good end of scores.
pub(super) fn better(orientation: Orientation) -> &'static str {
    match orientation {
        Orientation::Score => "higher",
        Orientation::Distance => "lower",
    }
}
