//! Likely duplicates of an issue, which can be none.
//!
//! Both legs propose issues (`search::issues`), `likeness` says how alike two are, `run` orders and cuts, `answer` is what
//! comes out. How the measure and its floor were chosen is in `docs/research/duplicates.md`.

mod answer;
mod finder;
mod likeness;

pub use answer::{ConsideredDuplicate, DuplicateQuestion, Duplicates, DuplicatesRequest};

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
