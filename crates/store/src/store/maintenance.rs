//! Keeping a store sound: publishing, checking, pruning.

use crate::error::Result;
use crate::report::{Findings, Progress, Pruned, Summary};

/// Publishes, checks and prunes a store.
pub trait Maintenance: Send + Sync {
    /// Brings the lexical index and the vector files up to date with the database. An error of `progress` stops it and is returned:
    /// finished parts stay published, and the next publication does the rest.
    fn publish(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()>;

    /// Builds what large namespaces are searched with and is not kept up to date by publishing alone. It can take minutes, in which
    /// others read and write. A run calls it once, at its end, because writing is slower afterwards.
    fn build_indexes(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the change number, which grows with every change of documents, namespaces and vectors.
    fn change_number(&self) -> Result<u64>;

    /// Counts the store's content and measures its size.
    fn summary(&self) -> Result<Summary>;

    /// Looks for damage in the database, and for differences between it and the legs. Reads everything, changes nothing.
    fn check(&self) -> Result<Findings>;

    /// Rebuilds every derived index that is damaged or behind, then returns the findings of a new
    /// [`check`](Maintenance::check).
    fn mend(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Findings>;

    /// Deletes vectors without a passage and returns the space to the system. Until then they serve texts that come back.
    fn prune(&self) -> Result<Pruned>;

    /// Fails with [`Replaced`](crate::StoreError::Replaced) when the store was deleted, or replaced by another one, since it
    /// was opened.
    fn check_replaced(&self) -> Result<()>;
}
