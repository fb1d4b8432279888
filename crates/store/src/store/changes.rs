//! Changing documents and namespaces.

use std::time::Duration;

use crate::error::Result;
use crate::namespace::NewNamespace;
use crate::record::{Applied, Change};
use crate::tree::Tree;

/// Changes documents and namespaces.
pub trait Changes: Send + Sync {
    /// Takes the right to write and holds it over several calls. Without it, each writing method takes the right for its
    /// own duration.
    fn writer(&self) -> Result<Writing<'_>>;

    /// Takes the right to write as [`writer`](Changes::writer) does, after queueing behind other processes for up to
    /// `patience`. `waiting` receives the current writer's name before each pause; returning false gives up.
    fn wait_to_write(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Writing<'_>>;

    /// Takes the right to embed in the background, after waiting for it for up to `patience`. One process at a time has it, so
    /// that no two make the same vectors. It keeps nobody from writing. A store whose namespaces have a worker each needs none.
    fn wait_to_embed(&self, patience: Duration) -> Result<Writing<'_>> {
        let _ = patience;
        Ok(Writing::new(()))
    }

    /// Returns `true` while a process has the right to embed in the background.
    fn is_embedding(&self) -> bool {
        false
    }

    /// Registers a namespace, or replaces its registration. Its documents and its tree stay as they are.
    fn put_namespace(&self, namespace: &NewNamespace) -> Result<()>;

    /// Makes trees those of their namespaces, all or none. A namespace keeps its tree: another one is
    /// [`StoreError::OtherTree`](crate::StoreError::OtherTree), unless it has `moved`, which means that the tree of the namespace is
    /// at this place now. Every writer of files calls this first.
    fn claim_trees(&self, trees: &[Tree], moved: bool) -> Result<()>;

    /// Removes a namespace and all its documents in one transaction. A missing namespace is not an error.
    fn remove_namespace(&self, name: &str) -> Result<Applied>;

    /// Applies changes in order, in one transaction: all or nothing. The database shows them at once, the legs after
    /// [`publish`](super::Maintenance::publish) at the latest.
    fn apply(&self, changes: &[Change]) -> Result<Applied>;

    /// Removes everything imported from an origin into these namespaces, in one transaction: its documents, and the
    /// evidence that nothing else refers to.
    fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied>;

    /// Sets the dates of the documents at these paths, in nanoseconds since 1970, and skips paths without a document.
    /// Passages and the change number stay. Returns the number of dates that changed. A later
    /// [`Put`](Change::Put) overwrites the date.
    fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64>;
}

/// The right to write, held until dropped.
#[must_use = "the right to write ends when this is dropped"]
pub struct Writing<'a> {
    _hold: Box<dyn Send + 'a>,
}

impl<'a> Writing<'a> {
    /// Wraps the guard that an implementation releases on drop.
    pub fn new(hold: impl Send + 'a) -> Writing<'a> {
        Writing { _hold: Box::new(hold) }
    }
}

impl std::fmt::Debug for Writing<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Writing")
    }
}
