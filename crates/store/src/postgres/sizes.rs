//! The sizes that decide how passages are found.

use crate::vectors::{Effort, sample_ranks};

/// The sizes that decide how passages are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Up to this many passages of the namespaces searched, their words and all their vectors are kept in memory, and up to this many
    /// passages of a filter are listed.
    pub few: usize,
    /// The number of passages that the background of larger namespaces is measured on. Both numbers are those of the embedded store,
    /// so that it measures the same.
    pub sample: usize,
    /// The number of passages that a search for words reads first. Each further time it reads four times as many.
    pub first: u64,
    /// The number of searches for words of the same small namespaces that read the database, before their words are kept in memory: a
    /// single search may ask so often.
    pub patience: usize,
    /// The number of passages with a word from which the server's index of words chooses among them.
    pub many: u64,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            few: Effort::default().exact_rows,
            sample: Effort::default().sample,
            first: 2_000,
            patience: 6,
            many: 20_000,
        }
    }
}

impl Sizes {
    /// The ranks of the sample among so many passages: those that the embedded store takes, whose rows are in the same order.
    pub fn ranks(&self, passages: usize) -> Vec<i64> {
        sample_ranks(passages, self.sample).map(|rank| rank as i64).collect()
    }
}
