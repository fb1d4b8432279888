//! A tree in a temporary directory, and an index of it.

#![allow(dead_code)]

pub mod endpoint;
pub mod issues;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tamis::config::{Config, Origins};
use tamis::{Answer, Error, Index, Location, Observer, RunReport, SearchRequest};
use tamis_store::{Access, EmbeddedStore, Store};

/// The store of an index, for writes that the library does not offer.
pub fn store(index: &Index) -> Box<dyn Store> {
    Box::new(EmbeddedStore::open(&index.location().directory, Access::ReadWrite).expect("opened"))
}

/// An index of a directory with the quick model alone and these further settings.
pub fn open(root: &Path, settings: &[(&str, &str)]) -> Index {
    let quick = [("index.models", "static")];
    let flags = quick.iter().chain(settings).map(|&(key, value)| (key.into(), value.into(), "test".into()));
    let origins = Origins { flags: flags.collect(), ..Origins::default() };
    let config = Config::load(&origins, None).expect("a valid configuration");
    Index::at(Location::at(root, None), config).expect("opened")
}

pub struct Tree {
    pub directory: tempfile::TempDir,
}

impl Tree {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let tree = Tree { directory: tempfile::tempdir().expect("a temporary directory") };
        files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
        tree
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, bytes).expect("written");
    }

    /// An index with the quick model alone and these further settings.
    pub fn open(&self, settings: &[(&str, &str)]) -> Index {
        open(self.root(), settings)
    }

    /// An index with these further settings that has read the tree.
    pub fn indexed(&self, settings: &[(&str, &str)]) -> Index {
        let index = self.open(settings);
        refresh(&index);
        index
    }
}

/// An index of the notes with these further settings, refreshed.
pub fn indexed_notes(settings: &[(&str, &str)]) -> (Tree, Index) {
    let tree = notes_tree();
    let index = tree.indexed(settings);
    (tree, index)
}

/// An index of the notes that has read nothing yet.
pub fn opened_notes(settings: &[(&str, &str)]) -> (Tree, Index) {
    let tree = notes_tree();
    let index = tree.open(settings);
    (tree, index)
}

/// Asserts that a message has all these parts.
#[track_caller]
pub fn assert_says(message: impl std::fmt::Display, parts: &[&str]) {
    let message = message.to_string();
    parts.iter().for_each(|part| assert!(message.contains(part), "{part:?} is not in {message:?}"));
}

pub fn refresh(index: &Index) -> RunReport {
    index.refresh().expect("refreshed")
}

pub fn search(index: &Index, request: SearchRequest) -> Answer {
    index.search(&request).expect("searched")
}

pub fn ask(index: &Index, query: &str) -> Answer {
    search(index, SearchRequest::new(query))
}

/// A directory in BEIR's layout with these queries and judgements.
pub fn judged_directory(queries: &str, qrels: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir_all(directory.path().join("qrels")).expect("made");
    fs::write(directory.path().join("queries.jsonl"), queries).expect("written");
    let qrels = format!("query-id\tcorpus-id\tscore\n{qrels}");
    fs::write(directory.path().join("qrels/test.tsv"), qrels).expect("written");
    directory
}

pub fn paths(answer: &Answer) -> Vec<&str> {
    answer.results.iter().map(|hit| hit.path.as_str()).collect()
}

/// Notes on many subjects, which form a background.
pub fn notes() -> Vec<(String, String)> {
    let subjects = [
        ("oven", "Heat the oven to 220 degrees and bake the bread on a stone for forty minutes."),
        ("glacier", "The glacier moves a metre a day and leaves a moraine of broken rock behind."),
        ("violin", "The violin is tuned in fifths; rosin on the bow makes the string speak."),
        ("harbour", "Ships wait outside the harbour for the tide and the pilot."),
        ("orchard", "Apple trees in the orchard are pruned in late winter before the buds open."),
        ("telescope", "A telescope gathers light with a mirror; its diameter sets what it can resolve."),
        ("ledger", "Every entry in the ledger has a debit and a credit of the same amount."),
        ("bicycle", "A bicycle chain lasts longer when it is cleaned and oiled every few weeks."),
        ("beehive", "In spring the beekeeper opens the hive and looks for the queen and her brood."),
        ("lighthouse", "The lighthouse lamp turns once in ten seconds behind a lens of glass prisms."),
        ("glass", "Molten glass is gathered on an iron pipe, blown, and cooled slowly."),
        ("tax", "The tax return is due in May; receipts are kept for seven years."),
    ];
    subjects.iter().map(|(name, text)| (format!("{name}.md"), format!("# On the {name}\n\n{text}\n"))).collect()
}

pub fn notes_tree() -> Tree {
    let notes = notes();
    let files: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Tree::new(&files)
}

/// Stops a call once it has been asked so often.
#[derive(Debug)]
pub struct StopsAfter {
    asked: AtomicUsize,
    allowed: usize,
}

impl StopsAfter {
    pub fn new(allowed: usize) -> StopsAfter {
        StopsAfter { asked: AtomicUsize::new(0), allowed }
    }
}

impl Observer for StopsAfter {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.allowed
    }
}

/// Stops a call at each place where it can be stopped, and returns their number.
pub fn stop_everywhere<T>(mut call: impl FnMut(&dyn Observer) -> Result<T, Error>) -> usize {
    let is_stopped = |&allowed: &usize| match call(&StopsAfter::new(allowed)) {
        Err(Error::Cancelled) => true,
        answered => answered.map(|_| false).expect("answered"),
    };
    (0..).take_while(is_stopped).count()
}
