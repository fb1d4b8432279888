//! The index in the server's directory. When another process replaces it, the server goes on with the new one. When it
//! is deleted, each call fails with the reason and the remedy.

use std::sync::{Arc, PoisonError, RwLock};
use tamis::Index;

/// The open index, exchanged for its replacement.
pub(crate) struct CurrentIndex {
    index: RwLock<Arc<Index>>,
}

impl CurrentIndex {
    pub fn new(index: Arc<Index>) -> CurrentIndex {
        CurrentIndex { index: RwLock::new(index) }
    }

    /// The current index. When the replacement cannot be opened, the old index stays and its calls fail with the reason.
    pub fn get(&self) -> Arc<Index> {
        let known = self.index.read().unwrap_or_else(PoisonError::into_inner).clone();
        if !known.is_replaced() {
            return known;
        }
        // Several threads may notice at once; the lock lets one of them exchange it.
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Some(successor)) = index.successor() {
            let directory = successor.location().directory.display().to_string();
            tracing::warn!(target: "tamis::index", directory, "another process replaced the index; the new one is open now");
            *index = Arc::new(successor);
        }
        index.clone()
    }
}
