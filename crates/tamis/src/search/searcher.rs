//! The handle of the search pipeline.

use crate::handle::Index;

/// The reader of an index that answers queries. It borrows the index and holds nothing of its own.
#[derive(Clone, Copy)]
pub(crate) struct Searcher<'a> {
    pub index: &'a Index,
}

impl Index {
    pub(crate) fn searcher(&self) -> Searcher<'_> {
        Searcher { index: self }
    }
}
