//! The progress of a long call, and the way to stop it.

use crate::Error;

/// A stage of a long call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Listing files; their number is unknown.
    Walk,
    /// Reading, splitting and committing; counts files.
    Read,
    /// Bringing the derived indexes up to date; counts passages.
    Publish,
    /// Embedding with the named model; counts passages.
    Embed(String),
    /// Reading, comparing and committing imported content; counts documents.
    Import,
    /// Fetching the named list or detail from another host.
    Fetch(String),
    /// Downloading the named model; counts bytes.
    Download(String),
    /// Trying the named model.
    Try(String),
    /// Waiting for the named process, which is writing the index.
    Queue(String),
    /// Copying the named namespace, or what else has this name; counts documents.
    Copy(String),
    /// Comparing the named namespace with its copy; counts documents.
    Compare(String),
    /// Answering the queries of an evaluation; counts queries.
    Answer,
    /// Measuring similarities of symbols; counts languages.
    Calibrate,
    /// Answering one query; counts gathering, deciding and presenting.
    Search,
}

/// Follows a long call and can stop it. `&()` follows nothing and never stops.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tamis::{Observer, Stage};
///
/// #[derive(Default)]
/// struct Steps(AtomicU64);
///
/// impl Observer for Steps {
///     fn stage(&self, stage: Stage, total: u64) {
///         println!("{stage:?}: {total} steps");
///     }
///
///     fn advance(&self, steps: u64) {
///         self.0.fetch_add(steps, Ordering::Relaxed);
///     }
/// }
/// ```
pub trait Observer: Sync {
    /// Begins a stage. `total` is its number of steps, 0 if unknown.
    fn stage(&self, stage: Stage, total: u64) {
        let _ = (stage, total);
    }

    /// Notes that `steps` more steps are done.
    fn advance(&self, steps: u64) {
        let _ = steps;
    }

    /// Returns `true` to stop at the next safe point.
    fn cancelled(&self) -> bool {
        false
    }

    /// Returns [`Error::Cancelled`] if the call should stop.
    ///
    /// # Errors
    /// [`Observer::cancelled`] is true.
    fn check_cancelled(&self) -> Result<(), Error> {
        if self.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl Observer for () {}
