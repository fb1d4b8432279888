//! Likely duplicates of an issue; there may be none.
//!
//! Both legs propose issues (`search::documents`), `likeness` compares two issues, `finder` orders and cuts, and
//! `answer` is the result. `docs/research/duplicates.md` explains the choice of the measure and its floor.

mod answer;
mod finder;
mod likeness;

pub use answer::{ConsideredDuplicate, Duplicates, DuplicatesRequest};

use crate::handle::Index;

/// Finds likely duplicates of an issue. From [`Index::duplicates`].
#[derive(Clone, Copy)]
pub struct DuplicateFinder<'a> {
    index: &'a Index,
}

impl Index {
    /// Finds likely duplicates among the imported issues.
    pub fn duplicates(&self) -> DuplicateFinder<'_> {
        DuplicateFinder { index: self }
    }
}
