//! Opening an index: versions, rights, locks, and files that are not an index.

use std::io::Write as _;
use std::path::Path;

use rusqlite::Connection;
use tamis_store::prelude::*;
use tamis_store::{Access, Change, EmbeddedStore, Filter, LexicalQuery, StoreError};

use crate::common::*;

/// A database of schema version 1: two documents with three passages, all embedded.
const VERSION_1: &[u8] = include_bytes!("../fixtures/schema-1.db");

fn of_version_1() -> tempfile::TempDir {
    let directory = temporary();
    std::fs::write(directory.path().join("tamis.db"), VERSION_1).unwrap();
    directory
}

fn set_version(directory: &Path, version: u32) {
    let connection = Connection::open(directory.join("tamis.db")).unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
}

/// The same in version 2.
fn of_version_2() -> tempfile::TempDir {
    let directory = of_version_1();
    let connection = Connection::open(directory.path().join("tamis.db")).unwrap();
    connection.execute_batch(include_str!("../../src/sqlite/migrations/0002.sql")).unwrap();
    set_version(directory.path(), 2);
    directory
}

/// The same in version 4, with the attributes of an issue.
fn of_version_4() -> tempfile::TempDir {
    let directory = of_version_2();
    let connection = Connection::open(directory.path().join("tamis.db")).unwrap();
    connection.execute_batch(include_str!("../../src/sqlite/migrations/0003.sql")).unwrap();
    set_version(directory.path(), 3);
    connection.execute_batch(include_str!("../../src/sqlite/migrations/0004.sql")).unwrap();
    connection
        .execute_batch(
            "UPDATE documents SET record = '{\"number\":7}', origin = 'github:a/b' WHERE path = 'guide.md'; \
             INSERT INTO attributes SELECT id, 'state', 'Open', 'open' FROM documents WHERE path = 'guide.md'; \
             UPDATE passages SET author = 'Alice', dated_ns = 5 WHERE symbol IS NULL;",
        )
        .unwrap();
    set_version(directory.path(), 4);
    directory
}

/// The same in version 3.
fn of_version_3() -> tempfile::TempDir {
    let directory = of_version_2();
    let connection = Connection::open(directory.path().join("tamis.db")).unwrap();
    connection.execute_batch(include_str!("../../src/sqlite/migrations/0003.sql")).unwrap();
    set_version(directory.path(), 3);
    directory
}

#[test]
fn what_was_known_of_documents_stays_known() {
    let directory = of_version_4();
    let store = open(directory.path());
    publish(&store);
    let guide = id_of(&store, "guide.md");
    assert_eq!(store.records(&[guide, id_of(&store, "src/sieve.rs")]).unwrap(), [Some("{\"number\":7}".into()), None]);
    let condition = tamis_store::AttributeCondition::new("state", ["OPEN"]);
    let filter =
        Filter { attributes: vec![condition], authors: vec!["alice".into()], until_ns: Some(6), ..Filter::default() };
    let passing = store.select(&filter).unwrap();
    assert!(!passing.is_empty() && passing.iter().all(|passage| passage.document == guide));
    assert_sound(&store);
}

#[test]
fn a_database_of_each_earlier_schema_version_opens() {
    for directory in [of_version_1(), of_version_2(), of_version_3(), of_version_4()] {
        holds_what_it_held(directory.path());
    }
}

fn holds_what_it_held(directory: &Path) {
    let store = open(directory);
    assert_eq!(
        store.documents("here").unwrap().iter().map(|state| state.path.as_str()).collect::<Vec<_>>(),
        ["guide.md", "src/sieve.rs"]
    );
    publish(&store);
    assert_eq!(found(&store, "sieve").len(), 3);
    let shake = store.document_passages("here", "src/sieve.rs").unwrap().remove(0);
    assert_eq!((shake.symbol.as_deref(), shake.text.as_str()), (Some("shake"), "fn shake() {}"));
    assert_eq!(store.find(&shake.id, 2).unwrap(), [shake]);
    assert_eq!(store.nearest(MODEL, &[1.0; 8], &Filter::default(), 9).unwrap().hits.len(), 3);
    let namespaces = store.namespaces().unwrap();
    assert_eq!(
        namespaces.iter().map(|known| (known.name.as_str(), known.documents, known.passages)).collect::<Vec<_>>(),
        [("here", 2, 3)]
    );
    assert_eq!(store.calibrations().unwrap(), []);
    assert_eq!(store.document("here", "guide.md").unwrap().unwrap().dated_ns, None);
    assert_sound(&store);
}

#[test]
fn a_newer_database_is_refused_with_both_versions_and_left_alone() {
    let directory = of_version_1();
    set_version(directory.path(), 99);
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = EmbeddedStore::open(directory.path(), access).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, StoreError::Newer { found: 99, supported: 7, .. }), "{message}");
        assert!(
            message.contains("version 99") && message.contains("up to 7") && message.contains("upgrade"),
            "{message}"
        );
    }
    set_version(directory.path(), 1);
    assert_eq!(open(directory.path()).documents("here").unwrap().len(), 2);
}

#[test]
fn an_older_database_is_not_upgraded_by_a_reader() {
    let directory = of_version_1();
    let error = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap_err();
    assert!(matches!(error, StoreError::Older { found: 1, supported: 7, .. }), "{error}");
}

#[test]
fn what_is_no_index_is_refused() {
    let directory = temporary();
    let path = directory.path().join("tamis.db");
    let missing = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    assert!(!path.exists());

    std::fs::write(&path, "not a database, but long enough to be taken for one: ".repeat(100)).unwrap();
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = EmbeddedStore::open(directory.path(), access).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs(a)").unwrap();
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = EmbeddedStore::open(directory.path(), access).unwrap_err();
        assert!(error.to_string().contains("another program"), "{error}");
    }
    let theirs = Connection::open(&path).unwrap();
    assert_eq!(theirs.query_row("SELECT count(*) FROM theirs", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn damage_in_the_database_is_reported() {
    let directory = of_version_1();
    drop(open(directory.path()));
    let path = directory.path().join("tamis.db");
    let mut content = std::fs::read(&path).unwrap();
    let length = content.len();
    content[length / 2..length / 2 + 3_000].fill(0x5a);
    std::fs::write(&path, content).unwrap();
    // It is too damaged to open, or the check reports the damage.
    match EmbeddedStore::open(directory.path(), Access::ReadOnly) {
        Err(error) => assert!(matches!(error, StoreError::Corrupt { .. }), "{error}"),
        Ok(store) => {
            let problems = store.check().unwrap().problems;
            assert!(problems.iter().any(|problem| !problem.mendable), "{problems:?}");
        }
    }
}

#[test]
fn a_reader_may_not_write() {
    let directory = of_version_1();
    drop(open(directory.path()));
    let reader = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(reader.access(), Access::ReadOnly);
    for error in [
        reader.apply(&[Change::Put(prose("a.md", &["one"]))]).unwrap_err(),
        reader.publish(&mut |_| Ok(())).unwrap_err(),
        reader.put_vectors(&model(), &[]).unwrap_err(),
        reader.set_property("a", "b").unwrap_err(),
        reader.prune().unwrap_err(),
        reader.mend(&mut |_| Ok(())).unwrap_err(),
        reader.writer().unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    }
    assert!(!directory.path().join("write.lock").exists());
}

#[test]
fn one_writer_at_a_time_and_readers_beside_it() {
    let directory = temporary();
    let first = open(directory.path());
    let second = open(directory.path());
    put(&first, vec![prose("a.md", &["flour"])]);
    publish(&first);
    put(&second, vec![prose("b.md", &["flour"])]);
    let held = first.writer().unwrap();
    let error = second.apply(&[Change::Put(prose("c.md", &["flour"]))]).unwrap_err();
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    assert!(matches!(second.publish(&mut |_| Ok(())), Err(StoreError::Busy { .. })));
    put(&first, vec![prose("c.md", &["flour"])]);
    assert_eq!(second.documents("here").unwrap().len(), 3);
    assert_eq!(found(&second, "flour").len(), 1);
    publish(&first);
    assert_eq!(found(&second, "flour").len(), 3);
    drop(held);
    put(&second, vec![prose("d.md", &["flour"])]);
}

#[test]
fn many_threads_search_while_one_writes() {
    let directory = temporary();
    let store = open(directory.path());
    put(&store, vec![prose("a.md", &["flour"])]);
    embed(&store);
    publish(&store);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..30 {
                        assert!(!found(&store, "flour").is_empty());
                        assert!(!store.nearest(MODEL, &[1.0; 8], &Filter::default(), 3).unwrap().hits.is_empty());
                    }
                })
            })
            .collect();
        for round in 0..8 {
            put(&store, vec![prose(&format!("{round}.md"), &["flour", &format!("sand {round}")])]);
            embed(&store);
            publish(&store);
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(found(&store, "flour").len(), 9);
    assert_sound(&store);
}

/// Opens an index in a directory that cannot be written and expects it to answer.
fn searchable(directory: &Path) {
    let store = EmbeddedStore::open(directory, Access::ReadOnly).unwrap();
    let query = LexicalQuery::new("sieve");
    assert_eq!(store.lexical(&query, &Filter::default(), 9).unwrap().hits.len(), 3);
    assert_eq!(store.nearest(MODEL, &[1.0; 8], &Filter::default(), 9).unwrap().hits.len(), 3);
    assert_sound(&store);
}

#[test]
#[cfg(unix)]
fn a_directory_that_can_not_be_written_is_searchable() {
    use std::os::unix::fs::PermissionsExt;
    let directory = of_version_1();
    let store = open(directory.path());
    publish(&store);
    drop(store);
    // Files that a directory that was never writable lacks.
    for lock in [".tantivy-meta.lock", ".tantivy-writer.lock"] {
        let _ = std::fs::remove_file(directory.path().join("lexical").join(lock));
    }
    let set = |mode: u32, file_mode: u32| {
        let chmod =
            |path: &Path, mode: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        for part in ["", "lexical", "vectors"] {
            let part = directory.path().join(part);
            chmod(&part, 0o755);
            for entry in std::fs::read_dir(&part).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    chmod(&path, file_mode);
                }
            }
            chmod(&part, mode);
        }
    };
    set(0o555, 0o444);
    if std::fs::write(directory.path().join("probe"), b"").is_ok() {
        set(0o755, 0o644);
        let _ = writeln!(std::io::stderr(), "skipped a read-only directory: permissions do not stop this user");
        return;
    }
    searchable(directory.path());
    let error = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    set(0o755, 0o644);
    // A log that was not written back cannot be read without the right to write.
    std::fs::write(directory.path().join("tamis.db-wal"), b"unfinished").unwrap();
    set(0o555, 0o444);
    let error = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap_err();
    set(0o755, 0o644);
    assert!(matches!(error, StoreError::Unfinished { .. }), "{error}");
}
