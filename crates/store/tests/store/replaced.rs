//! An index whose directory is deleted or replaced while it is open: the store notices, and neither reads nor writes
//! the other index.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::*;

fn filled(directory: &Path, text: &str) -> EmbeddedStore {
    let store = open(directory);
    put(&store, vec![prose("a.md", &[text])]);
    complete(&store);
    store
}

/// Every file under a directory with its content, except lock files and shared memory.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            contents.extend(self::contents(&path));
        } else if !name.ends_with("-shm") && !name.ends_with(".lock") && !name.ends_with(".turn") {
            contents.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    contents
}

/// Asserts that every call on a store fails and says why.
fn refuses(store: &EmbeddedStore, gone_now: bool) {
    let query = LexicalQuery::new("flour");
    let everything = Filter::default();
    let results = [
        ("apply", store.apply(&[Change::Put(prose("b.md", &["more flour"]))]).map(drop)),
        ("publish", store.publish(&mut |_| Ok(()))),
        ("writer", store.writer().map(drop)),
        ("wait", store.wait_to_write(std::time::Duration::ZERO, &mut |_| true).map(drop)),
        ("mend", store.mend(&mut |_| Ok(())).map(drop)),
        ("prune", store.prune().map(drop)),
        ("vectors", store.put_vectors(&model(), &[]).map(drop)),
        ("property", store.set_property("a", "b")),
        ("lexical", store.lexical(&query, &everything, 5).map(drop)),
        ("nearest", store.nearest(MODEL, &[1.0; 8], &everything, 5).map(drop)),
        ("documents", store.documents("here").map(drop)),
        ("summary", store.summary().map(drop)),
        ("sql", store.query_sql("here", &SqlQuery::new("SELECT 1"), &|| false).map(drop)),
    ];
    for (what, result) in results {
        match result {
            Err(StoreError::Replaced { gone, .. }) => assert_eq!(gone, gone_now, "{what}"),
            other => panic!("{what}: {other:?}"),
        }
    }
}

#[test]
fn a_replaced_index_is_noticed_and_never_written_into() {
    let directory = temporary();
    let place = directory.path().join("index");
    let first = filled(&place, "flour of the first");
    let reader = EmbeddedStore::open(&place, Access::ReadOnly).unwrap();
    for store in [&first, &reader] {
        assert_eq!(found(store, "flour"), ["flour of the first"]);
    }
    std::fs::remove_dir_all(&place).unwrap();
    refuses(&first, true);
    assert!(!place.exists(), "nothing is made in the place of what was deleted");

    let second = filled(&place, "flour of the second");
    let before = contents(&place);
    refuses(&first, false);
    let error = reader.documents("here").unwrap_err();
    assert!(matches!(error, StoreError::Replaced { gone: false, .. }), "{error}");
    drop((first, reader));
    assert_eq!(contents(&place), before, "the end of the first one changes nothing either");
    assert_eq!(found(&second, "flour"), ["flour of the second"]);
    put(&second, vec![prose("b.md", &["flour again"])]);
    publish(&second);
    assert_sound(&second);
    drop(second);
    assert_eq!(found(&open(&place), "flour").len(), 2);
}

#[test]
fn an_index_that_comes_back_is_served_again() {
    let directory = temporary();
    let place = directory.path().join("index");
    let store = filled(&place, "flour");
    std::fs::rename(&place, directory.path().join("aside")).unwrap();
    refuses(&store, true);
    std::fs::rename(directory.path().join("aside"), &place).unwrap();
    assert_eq!(found(&store, "flour"), ["flour"]);
    put(&store, vec![prose("b.md", &["flour again"])]);
    publish(&store);
    assert_eq!(found(&store, "flour").len(), 2);
    assert_sound(&store);
}

#[test]
fn what_is_judged_is_never_written_into_a_deleted_log() {
    let directory = temporary();
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    let search = |id: &str| RecordedSearch { id: id.into(), namespace: "here".into(), ..RecordedSearch::default() };
    log.record(&search("7k2m9qrt")).unwrap();
    for file in ["usage.db", "usage.db-wal", "usage.db-shm"] {
        let _ = std::fs::remove_file(directory.path().join(file));
    }
    log.record(&search("8k2m9qrt")).unwrap();
    log.judge("8k2m9qrt", &[("3f9a1c2b4d5e", true)], 1).unwrap();
    let again = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(again.judged().unwrap().len(), 1);
    drop(log);
    let checked = EmbeddedUsageLog::check(directory.path()).unwrap().unwrap();
    assert_eq!((checked.searches, checked.judgements), (1, 1));
}
