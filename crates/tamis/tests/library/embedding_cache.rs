//! Indexes of one user never embed a text twice, and problems with the shared cache do not affect them.

use crate::support::{Tree, refresh};
use std::fs;
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
    assert_eq!((minilm(&report.embedded), minilm(&report.cached)), (3, 0));

    second.write("kite.md", b"# Kite\n\nA kite needs wind and a long string.\n");
    let other = open(&second, cache.path(), &[]);
    let report = refresh(&other);
    assert_eq!((minilm(&report.embedded), minilm(&report.cached)), (1, 3));
    assert_eq!(report.cached.get("static"), None, "the quick model makes a vector about as fast as one is found");
    assert!(report.changed_anything() && report.pending.is_empty() && report.uncached.is_none(), "{report:?}");
    assert_eq!(vectors(&other).iter().flatten().count(), 4);
    assert!(vectors(&one).iter().all(|vector| vectors(&other).contains(vector)), "bit for bit");

    let status = other.status().expect("read").embedding_cache.expect("there");
    assert_eq!((status.vectors, minilm(&status.last_run)), (4, 3));
    assert_eq!(status.path, database(cache.path()));
    assert!(status.bytes > 0 && status.bytes < status.most_bytes && !refresh(&other).changed_anything());
    let last = other.status().expect("read").embedding_cache.expect("there").last_run;
    assert_eq!(minilm(&last), 3, "a run that embeds nothing is not the last that did");

    let cache = tempfile::tempdir().expect("a temporary directory");
    let (first, second) = (Tree::new(&FILES), Tree::new(&FILES));
    refresh(&open(&first, cache.path(), &[]));
    let index = open(&second, cache.path(), &[]);
    let none = RunOptions { embed_at_most: 0, ..RunOptions::WHOLE };
    let report: RunReport = index.refresh_with(none, &()).expect("refreshed");
    assert_eq!((minilm(&report.embedded), minilm(&report.cached)), (0, 3));
    assert!(report.pending.is_empty());

    let third = Tree::new(&FILES);
    let report = open(&third, &cache.path().join("empty"), &[]).refresh_with(none, &()).expect("refreshed");
    assert_eq!((minilm(&report.cached), minilm(&report.pending)), (0, 3), "nothing known: left for another run");
}

#[test]
fn nothing_is_made_where_it_is_off_or_the_quick_model_is_alone() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let tree = Tree::new(&FILES);
    for settings in [[("index.embedding_cache_mb", "0")], [("index.models", "static")]] {
        let index = open(&tree, cache.path(), &settings);
        refresh(&index);
        assert!(!database(cache.path()).exists());
        assert_eq!(index.status().expect("read").embedding_cache, None);
        assert_eq!(index.check_embedding_cache(true).expect("looked"), None);
        assert!(!database(cache.path()).exists(), "to look makes none");
    }
}

#[test]
fn a_cache_that_cannot_be_used_fails_no_run() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let file = cache.path().join("file");
    fs::write(&file, "").expect("written");
    let tree = Tree::new(&FILES);
    let index = open(&tree, &file, &[]);
    let report = refresh(&index);
    assert_eq!(minilm(&report.embedded), 3);
    assert!(report.uncached.is_some_and(|reason| reason.contains("file")) && index.status().is_ok());

    let first = Tree::new(&FILES[..1]);
    refresh(&open(&first, cache.path(), &[]));
    let other = rusqlite::Connection::open(database(cache.path())).expect("opened");
    other.execute_batch("BEGIN IMMEDIATE").expect("held");
    let second = Tree::new(&FILES);
    let report = refresh(&open(&second, cache.path(), &[]));
    assert_eq!((minilm(&report.embedded), minilm(&report.cached)), (2, 1), "read, but not written");
    assert!(report.uncached.is_some_and(|reason| reason.contains("another process")));

    let cache = tempfile::tempdir().expect("a temporary directory");
    let (first, second) = (Tree::new(&FILES), Tree::new(&FILES));
    refresh(&open(&first, cache.path(), &[]));
    let other = rusqlite::Connection::open(database(cache.path())).expect("opened");
    other.execute("UPDATE vectors SET vector = zeroblob(12)", []).expect("written");
    drop(other);
    let report = refresh(&open(&second, cache.path(), &[]));
    assert_eq!((minilm(&report.embedded), minilm(&report.cached)), (3, 0));
}

#[test]
fn a_damaged_cache_is_begun_anew() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let (first, second) = (Tree::new(&FILES), Tree::new(&FILES));
    refresh(&open(&first, cache.path(), &[]));
    fs::write(database(cache.path()), "no database".repeat(2000)).expect("written");
    let index = open(&second, cache.path(), &[]);
    let report = refresh(&index);
    assert_eq!((minilm(&report.embedded), minilm(&report.cached)), (3, 0));
    assert!(cache.path().join("embeddings/embeddings.db.damaged").exists());
    assert_eq!(index.check_embedding_cache(false).expect("looked"), None);
    let third = Tree::new(&FILES);
    assert_eq!(minilm(&refresh(&open(&third, cache.path(), &[])).cached), 3);

    let cache = tempfile::tempdir().expect("a temporary directory");
    let (first, second) = (Tree::new(&FILES), Tree::new(&FILES));
    refresh(&open(&first, cache.path(), &[]));
    let mut bytes = fs::read(database(cache.path())).expect("there");
    bytes[8192..].fill(0xa5);
    fs::write(database(cache.path()), bytes).expect("written");
    let index = open(&second, cache.path(), &[]);
    let damage = index.check_embedding_cache(false).expect("looked");
    assert!(damage.is_some());
    let report = refresh(&index);
    assert_eq!((minilm(&report.embedded), minilm(&report.cached)), (3, 0));
    assert!(report.uncached.is_some(), "{report:?}");
    assert_eq!(index.check_embedding_cache(true).expect("looked"), None, "begun anew by the run");
}
