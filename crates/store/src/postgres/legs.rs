//! What both legs keep between searches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::resident::Resident;
use super::select::Selection;
use super::vectors_in_memory::{self, VectorsInMemory};
use super::words_in_memory::{self, WordsInMemory};
use crate::filter::Filter;
use crate::recent::Recent;
use crate::report::Coverage;
use crate::vectors::{Effort, sample_ranks};

/// The state of some namespaces: number and change number of each.
pub(super) type State = Vec<(i32, i64)>;

/// Results that later searches use again, and the sizes that decide how they are found.
#[derive(Debug, Default)]
pub(super) struct Legs {
    /// The selections of recent filters, by the state of their namespaces.
    pub selections: Recent<(State, Filter), Arc<Selection>>,
    /// The coverage of models under recent filters.
    pub coverages: Recent<(State, String, Filter), Coverage>,
    /// Vectors of passages.
    pub vectors: Resident<vectors_in_memory::Key, VectorsInMemory>,
    /// Words of passages.
    pub words: Resident<words_in_memory::Key, WordsInMemory>,
    /// The passage up to which all of a namespace had a vector of a model when they were last looked at, by their numbers.
    pub embedded: Mutex<HashMap<(i32, i32), i64>>,
    pub sizes: Sizes,
}

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
