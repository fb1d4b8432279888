//! The handle of the search pipeline.

use crate::handle::Index;
use crate::progress::Observer;

/// The reader of an index that answers queries. It borrows the index and an observer, and holds nothing of its own.
#[derive(Clone, Copy)]
pub(crate) struct Searcher<'a> {
    pub index: &'a Index,
    /// Can stop a search.
    pub observer: &'a dyn Observer,
}

impl Index {
    pub(crate) fn searcher(&self) -> Searcher<'_> {
        self.searcher_for(&())
    }

    /// A searcher that `observer` can stop: each call returns [`Error::Cancelled`](crate::Error::Cancelled) then.
    pub(crate) fn searcher_for<'a>(&'a self, observer: &'a dyn Observer) -> Searcher<'a> {
        Searcher { index: self, observer }
    }
}
