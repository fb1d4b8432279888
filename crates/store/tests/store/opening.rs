//! Opening an index: versions, rights, locks, files that are not an index, and a database that is missing, empty, or created by several
//! processes at once.

use std::io::Write as _;
use std::path::Path;
use std::sync::Barrier;

use rusqlite::Connection;

use crate::common::*;

/// Two documents with three passages, all embedded.
fn indexed() -> tempfile::TempDir {
    let (directory, store) = opened();
    let sieve = document("src/sieve.rs", vec![function("sieve", "fn sieve() {}")]);
    put(&store, vec![prose("guide.md", &["a sieve", "shake the sieve"]), sieve]);
    complete(&store);
    directory
}

fn set_version(directory: &Path, version: u32) {
    let connection = Connection::open(directory.join("tamis.db")).unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
}

#[test]
fn a_database_of_another_version_is_refused_with_the_way_out_and_left_alone() {
    let directory = indexed();
    for version in [9, 99] {
        set_version(directory.path(), version);
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let error = EmbeddedStore::open(directory.path(), access).unwrap_err();
            let message = error.to_string();
            let StoreError::OtherVersion { found, needed: 10, .. } = error else { panic!("{message}") };
            assert_eq!(found, version);
            let path = directory.path().join("tamis.db").display().to_string();
            assert!(message.contains(&format!("mv {path} {path}.aside")), "{message}");
            assert_eq!(message.contains("upgrade"), version == 99, "{message}");
        }
    }
    set_version(directory.path(), 10);
    assert_eq!(open(directory.path()).documents("here").unwrap().len(), 2);
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
    let directory = indexed();
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
fn many_findings_in_the_database_are_one_line_with_the_way_out() {
    let directory = indexed();
    let path = directory.path().join("tamis.db");
    let mut content = std::fs::read(&path).unwrap();
    // Pages that nothing uses; the header has the size of a page at 16, and their number at 28.
    let size = usize::from(u16::from_be_bytes([content[16], content[17]]));
    let pages = content.len() / size + 30;
    content.resize(pages * size, 0);
    content[28..32].copy_from_slice(&u32::try_from(pages).unwrap().to_be_bytes());
    std::fs::write(&path, content).unwrap();
    let problems = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap().check().unwrap().problems;
    assert!(problems.len() == 1 && problems[0].message.contains("tamis.db.aside"), "{problems:?}");
}

#[test]
fn a_reader_may_not_write() {
    let directory = indexed();
    std::fs::remove_file(directory.path().join("write.lock")).unwrap();
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
    let directory = indexed();
    // Files that a directory that was never writable lacks.
    for lock in [".tantivy-meta.lock", ".tantivy-writer.lock"] {
        let _ = std::fs::remove_file(directory.path().join("lexical").join(lock));
    }
    let set = |mode: u32, file_mode: u32| {
        let chmod = |at: &Path, mode: u32| std::fs::set_permissions(at, std::fs::Permissions::from_mode(mode)).unwrap();
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

#[test]
fn all_who_open_a_new_index_at_once_get_the_same_one() {
    for _ in 0..5 {
        let directory = temporary();
        let barrier = Barrier::new(8);
        let place = directory.path().join("new/index");
        let write = |number: usize| {
            barrier.wait();
            let store = EmbeddedStore::open(&place, Access::ReadWrite).unwrap();
            let _writing = store.wait_to_write(std::time::Duration::from_secs(600), &mut |_| true).unwrap();
            put(&store, vec![prose(&format!("{number}.md"), &["flour"])]);
        };
        let write = &write;
        std::thread::scope(|scope| (0..8).for_each(|number| drop(scope.spawn(move || write(number)))));
        let store = open(&place);
        assert_eq!(store.documents("here").unwrap().len(), 8);
        publish(&store);
        assert_sound(&store);
    }
}

#[test]
fn an_empty_database_where_an_index_was_is_damage() {
    for left in ["lexical", "vectors", "usage.db", "tamis.db-wal"] {
        let directory = temporary();
        let store = open(directory.path());
        put(&store, vec![prose("imported.md", &["flour"])]);
        complete(&store);
        drop(store);
        for part in ["lexical", "vectors"].iter().filter(|part| **part != left) {
            std::fs::remove_dir_all(directory.path().join(part)).unwrap();
        }
        if left.contains("db") {
            std::fs::write(directory.path().join(left), "something").unwrap();
        }
        std::fs::write(directory.path().join("tamis.db"), "").unwrap();
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let error = EmbeddedStore::open(directory.path(), access).unwrap_err();
            let message = error.to_string();
            assert!(matches!(error, StoreError::Corrupt { .. }), "{left}: {message}");
            assert!(message.contains("empty") && message.contains(left.trim_start_matches("tamis.db-w")), "{message}");
        }
        assert_eq!(std::fs::metadata(directory.path().join("tamis.db")).unwrap().len(), 0, "it is left alone");
    }
}

#[test]
fn an_empty_database_where_nothing_was_is_a_new_index() {
    let directory = temporary();
    std::fs::write(directory.path().join("tamis.db"), "").unwrap();
    let missing = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    put(&open(directory.path()), vec![prose("a.md", &["flour"])]);
    assert_eq!(open(directory.path()).documents("here").unwrap().len(), 1);
}

#[test]
fn the_log_of_a_deleted_database_does_not_get_into_a_new_one() {
    let directory = temporary();
    let aside = temporary();
    let store = open(directory.path());
    put(&store, vec![prose("old.md", &["flour"])]);
    // The log as a killed process leaves it.
    std::fs::copy(directory.path().join("tamis.db-wal"), aside.path().join("log")).unwrap();
    drop(store);
    std::fs::remove_file(directory.path().join("tamis.db")).unwrap();
    std::fs::copy(aside.path().join("log"), directory.path().join("tamis.db-wal")).unwrap();
    let store = open(directory.path());
    assert!(store.documents("here").unwrap().is_empty());
    put(&store, vec![prose("new.md", &["flour"])]);
    publish(&store);
    assert_sound(&store);
}

#[test]
fn the_database_does_not_grow_with_every_change() {
    let (_directory, store) = opened();
    let change = |round: usize| {
        let texts: Vec<String> = (0..200).map(|number| format!("text {number} of round {round}")).collect();
        put(&store, vec![document("a.md", texts.iter().map(|text| passage(text)).collect())]);
        complete(&store);
        let summary = store.summary().unwrap();
        summary.models[0].vectors
    };
    let most = (0..40).map(change).max().unwrap();
    assert!(most <= 200 + 1024 + 200, "{most} vectors are kept for 200 passages");
    assert!(most > 1000, "what was there a moment ago is kept for when it comes back");
    // The texts kept last serve those that come back.
    let texts: Vec<String> = (0..200).map(|number| format!("text {number} of round 38")).collect();
    put(&store, vec![document("a.md", texts.iter().map(|text| passage(text)).collect())]);
    assert_eq!(embed(&store), 0);
    store.apply(&[Change::Delete { document: id_of(&store, "a.md") }]).unwrap();
    assert!(store.prune().unwrap().vectors > 0);
    assert_eq!(store.summary().unwrap().models[0].vectors, 0);
    publish(&store);
    assert_sound(&store);
}
