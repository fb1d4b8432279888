//! Indexes of one user never embed a text twice, and problems with the shared cache do not affect them.

use crate::support::{Tree, refresh};
use std::path::{Path, PathBuf};
use tamis::config::{Config, Origins, UserDirectories};
use tamis::{Index, Location, RunOptions, RunReport};

const FILES: [(&str, &str); 3] = [
    ("oven.md", "# Oven\n\nHeat the oven to 220 degrees before baking.\n"),
    ("tide.md", "# Tide\n\nShips wait outside the harbour for the tide.\n"),
    ("bee.py", "def queen(hive):\n    return hive.find('queen')\n"),
];

/// An index whose user has this cache directory.
fn open(tree: &Tree, cache: &Path, settings: &[(&str, &str)]) -> Index {
    let flags = settings.iter().map(|&(key, value)| (key.into(), value.into(), "test".into())).collect();
    let directories = UserDirectories::at(None, Some(cache.to_owned()));
    let config = Config::load(&Origins { flags, directories, ..Origins::default() }, None).expect("valid");
    Index::at(Location::at(tree.root(), None), config).expect("opened")
}

fn minilm(counts: &std::collections::BTreeMap<String, u64>) -> u64 {
    counts.get("minilm").copied().unwrap_or(0)
}

fn database(cache: &Path) -> PathBuf {
    cache.join("embeddings/embeddings.db")
}

fn vectors(index: &Index) -> Vec<Option<Vec<f32>>> {
    let store = crate::support::store(index);
    let ids: Vec<_> = store.select(&Default::default()).expect("read").iter().map(|one| one.passage).collect();
    store.vectors(&index.models().id("minilm").expect("built in"), &[], &ids).expect("read")
}

#[test]
fn a_second_clone_embeds_nothing_again() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let (first, second) = (Tree::new(&FILES), Tree::new(&FILES));
    let one = open(&first, cache.path(), &[]);
    let report = refresh(&one);
    assert_eq!((minilm(&report.embedding.embedded), minilm(&report.embedding.cached)), (3, 0));

    let other = open(&second, cache.path(), &[]);
    let report = refresh(&other);
    let run = &report.embedding;
    assert_eq!(run.cached.get("static"), None, "the quick model makes a vector about as fast as one is found");
    assert!(report.changed_anything() && run.pending.is_empty() && run.uncached.is_none(), "{report:?}");
    assert!(vectors(&one).iter().all(|vector| vectors(&other).contains(vector)), "bit for bit");
    assert!(!refresh(&other).changed_anything());
    let last = other.status().expect("read").embedding_cache.expect("there").last_run;
    assert_eq!(minilm(&last), 3, "a run that embeds nothing is not the last that did");

    let cache = tempfile::tempdir().expect("a temporary directory");
    let (first, second) = (Tree::new(&FILES), Tree::new(&FILES));
    refresh(&open(&first, cache.path(), &[]));
    let index = open(&second, cache.path(), &[]);
    let none = RunOptions { embed_at_most: 0, ..RunOptions::WHOLE };
    let report: RunReport = index.refresh_with(none, &()).expect("refreshed");
    assert_eq!((minilm(&report.embedding.embedded), minilm(&report.embedding.cached)), (0, 3));
    assert!(report.embedding.pending.is_empty());

    let third = Tree::new(&FILES);
    let run = open(&third, &cache.path().join("empty"), &[]).refresh_with(none, &()).expect("refreshed").embedding;
    assert_eq!((minilm(&run.cached), minilm(&run.pending)), (0, 3), "nothing known: left for another run");
}

#[test]
fn a_cache_that_cannot_be_used_fails_no_run() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let first = Tree::new(&FILES[..1]);
    refresh(&open(&first, cache.path(), &[]));
    let other = rusqlite::Connection::open(database(cache.path())).expect("opened");
    other.execute_batch("BEGIN IMMEDIATE").expect("held");
    let second = Tree::new(&FILES);
    let report = refresh(&open(&second, cache.path(), &[]));
    assert_eq!((minilm(&report.embedding.embedded), minilm(&report.embedding.cached)), (2, 1), "read, but not written");
    assert!(report.embedding.uncached.is_some_and(|reason| reason.contains("another process")));

    let cache = tempfile::tempdir().expect("a temporary directory");
    let (first, second) = (Tree::new(&FILES), Tree::new(&FILES));
    refresh(&open(&first, cache.path(), &[]));
    let other = rusqlite::Connection::open(database(cache.path())).expect("opened");
    other.execute("UPDATE vectors SET vector = zeroblob(12)", []).expect("written");
    drop(other);
    let report = refresh(&open(&second, cache.path(), &[]));
    assert_eq!((minilm(&report.embedding.embedded), minilm(&report.embedding.cached)), (3, 0));
}
