//! Definitions in the index, by their names.

use super::names::{LIST_SEPARATOR, last_parts};
use super::use_site::Defined;
use crate::Error;
use crate::handle::Index;
use crate::progress::Observer;
use crate::search::Scope;
use std::collections::{HashMap, HashSet};
use tamis_store::{Filter, PassageId, StoredPassage};

/// The most definitions of one name that are returned; a name with more is too ambiguous.
pub(super) const MOST_DEFINITIONS: usize = 6;

/// The most passages read to find definitions.
const MOST_READ: usize = 6000;

/// The number of passages read at once.
const READ_AT_ONCE: usize = 500;

/// The scope of a search for definitions.
pub(super) struct Definitions<'a> {
    pub(super) index: &'a Index,
    pub(super) scope: &'a Scope,
    pub(super) observer: &'a dyn Observer,
}

/// Passages that define names, by name.
#[derive(Default)]
pub(super) struct Known {
    pub(super) passages: Vec<StoredPassage>,
    by_name: HashMap<String, Vec<usize>>,
    /// True if there were too many to read all of them.
    pub(super) cut_short: bool,
}

impl Definitions<'_> {
    /// Finds the definitions of these names, in one pass over the symbols of the index.
    pub(super) fn of(&self, names: &HashSet<String>) -> Result<Known, Error> {
        if names.is_empty() {
            return Ok(Known::default());
        }
        let mut symbols: Vec<String> = names.iter().cloned().collect();
        symbols.sort_unstable();
        let filter = self.scope.of_all(&Filter { symbols, ..Filter::default() });
        let found: Vec<PassageId> = self.index.store.select(&filter)?.iter().map(|one| one.passage).collect();
        let mut known = Known { cut_short: found.len() > MOST_READ, ..Known::default() };
        for ids in found[..found.len().min(MOST_READ)].chunks(READ_AT_ONCE) {
            self.observer.check_cancelled()?;
            self.index
                .store
                .passages(&filter.namespaces, ids)?
                .into_iter()
                .for_each(|passage| known.take(passage, names));
        }
        Ok(known)
    }
}

impl Known {
    /// Adds a passage under each of the names that it defines. Only the first piece of a divided symbol counts.
    fn take(&mut self, passage: StoredPassage, names: &HashSet<String>) {
        let Some(symbols) = &passage.symbol else { return };
        let last: HashSet<&str> = symbols.split(LIST_SEPARATOR).map(|symbol| last_parts(symbol).0).collect();
        let place = self.passages.len();
        let mut taken = false;
        for name in last.into_iter().filter(|name| names.contains(*name)) {
            let others = self.by_name.entry(name.to_owned()).or_default();
            let piece = others.iter().any(|&other| {
                let other = &self.passages[other];
                (other.document, &other.symbol, &other.kind) == (passage.document, &passage.symbol, &passage.kind)
            });
            if !piece {
                others.push(place);
                taken = true;
            }
        }
        if taken {
            self.passages.push(passage);
        }
    }

    /// The definitions of a name.
    pub(super) fn named(&self, name: &str) -> Vec<&StoredPassage> {
        self.by_name.get(name).into_iter().flatten().map(|&at| &self.passages[at]).collect()
    }
}

/// A passage as a definition.
pub(super) fn defined(passage: &StoredPassage) -> Defined<'_> {
    Defined {
        symbol: passage.symbol.as_deref().unwrap_or_default(),
        kind: &passage.kind,
        namespace: &passage.namespace,
        path: &passage.path,
        language: passage.language.as_deref(),
        is_test: passage.role == "test",
    }
}
