//! Any text as a statement: it never panics, never writes, never exceeds its time, leaves nothing running, returns no
//! more than requested, and reveals no other namespace and no hidden table.
//!
//! `cargo +nightly fuzz run sql`

#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use tamis_store::prelude::*;
use tamis_store::{Access, Change, Claim, EmbeddedStore, EvidenceRecord, NewDocument, NewPassage, SqlQuery, SqlValue, Task, TextForm};

/// A word that only the other namespace holds.
const SECRET: &str = "hush";

/// Tables of the index that no message names unless the statement does.
const HIDDEN: &[&str] = &["evidence_", "index_", "documents", "passages", "vectors", "models"];

/// Most bytes of an answer; a quarter more allows for what `Debug` writes around values.
const MOST: usize = 64 << 10;

struct Graph {
    store: EmbeddedStore,
    database: std::path::PathBuf,
    bytes: Vec<u8>,
    _directory: tempfile::TempDir,
}

static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let database = directory.path().join("tamis.db");
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).expect("a store");
    for (namespace, word) in [("here", "open"), ("there", SECRET)] {
        let claim = Claim { id: "c1".into(), task_id: "t1".into(), text: format!("{word} claim"), ..Claim::default() };
        let records = [
            EvidenceRecord::Task(Task { id: "t1".into(), question: format!("{word} question"), ..Task::default() }),
            EvidenceRecord::Claim(claim),
        ];
        let passage = NewPassage::new("claim", 1..=1, format!("{word} claim"), TextForm::Prose);
        let document = NewDocument {
            origin: Some("fuzz".into()),
            passages: vec![passage],
            ..NewDocument::new(namespace, "evidence", "claim:c1")
        };
        store.apply_evidence(namespace, "fuzz", &records, &[Change::Put(document)]).expect("records");
    }
    let bytes = std::fs::read(&database).expect("a database");
    Graph { store, database, bytes, _directory: directory }
});

/// Processor time of this process, which other load on the machine does not extend.
fn worked() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the one value that it is given.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "a clock of this process");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fuzz_target!(|sql: &str| {
    let graph = &*GRAPH;
    let query = SqlQuery { timeout: Duration::from_millis(20), max_bytes: MOST, ..SqlQuery::new(sql) };
    let started = worked();
    let given = graph.store.query_sql("here", &query, &|| false);
    // The rest of an abandoned statement counts here too, or with the next one.
    let took = worked() - started;
    assert!(took < Duration::from_secs(1), "{took:?}");
    let told = format!("{given:?}");
    assert!(!told.contains(SECRET) || sql.contains(SECRET), "{told}");
    match given {
        Ok(rows) => {
            let values = rows.rows.iter().flatten().map(|value| match value {
                SqlValue::Text(text) => text.len(),
                _ => 1,
            });
            let names = rows.columns.iter().map(String::len);
            assert!(values.chain(names).sum::<usize>() <= MOST, "{told}");
        }
        Err(error) => {
            let (error, sql) = (error.to_string(), sql.to_lowercase());
            assert!(error.chars().count() < 2500, "{error}");
            for name in HIDDEN {
                assert!(!error.contains(name) || sql.contains(name), "{error}");
            }
        }
    }
    assert!(std::fs::read(&graph.database).expect("a database") == graph.bytes, "the database changed");
});
