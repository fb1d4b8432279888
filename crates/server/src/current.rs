//! The index that a server serves: the one that stands in its directory. Where another process has replaced it, the server
//! goes on with the new one; of an index that is gone each call says so, and what to do.

use std::sync::{Arc, PoisonError, RwLock};
use tamis::Index;

/// The open index, exchanged for the one that took its place.
pub(crate) struct Current {
    index: RwLock<Arc<Index>>,
}

impl Current {
    pub fn new(index: Arc<Index>) -> Current {
        Current { index: RwLock::new(index) }
    }

    /// The index as it stands now. One that cannot be opened anew stays, and what is asked of it fails with the reason.
    pub fn get(&self) -> Arc<Index> {
        let known = self.index.read().unwrap_or_else(PoisonError::into_inner).clone();
        if !known.is_replaced() {
            return known;
        }
        // Only one of those who noticed exchanges it.
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Some(successor)) = index.successor() {
            let directory = successor.location().directory.display().to_string();
            tracing::warn!(target: "tamis::index", directory, "the index was replaced by another process, and opened again");
            *index = Arc::new(successor);
        }
        index.clone()
    }
}
