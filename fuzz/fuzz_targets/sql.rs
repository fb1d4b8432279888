//! Any text as a statement: it never panics, never writes, never takes longer than it may, and never tells of another
//! namespace.
//!
//! `cargo +nightly fuzz run sql`

#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use tamis_store::{
    Access, Change, Claim, EmbeddedStore, EvidenceRecord, NewDocument, NewPassage, SqlQuery, Store, Task, TextForm,
};

/// What stands in the other namespace alone.
const SECRET: &str = "hush";

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

fuzz_target!(|sql: &str| {
    let graph = &*GRAPH;
    let query = SqlQuery { timeout: Duration::from_millis(20), ..SqlQuery::new(sql) };
    let started = Instant::now();
    let told = format!("{:?}", graph.store.query_sql("here", &query, &|| false));
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert!(!told.contains(SECRET) || sql.contains(SECRET), "{told}");
    assert!(std::fs::read(&graph.database).expect("a database") == graph.bytes, "the database changed");
});
