//! A graph in two namespaces, and the same of one namespace alone.

use std::path::Path;
use std::time::Duration;

pub use tamis_store::prelude::*;
pub use tamis_store::*;

/// The namespace that the statements query.
pub const HERE: &str = "here";
/// A word in every text of the other namespace and in none of this one.
pub const SECRET: &str = "hush";

/// The same evidence in an index of its own and in one with another namespace. A statement on one namespace returns the
/// same from both.
pub struct Pair {
    pub shared: EmbeddedStore,
    pub alone: EmbeddedStore,
    _directory: tempfile::TempDir,
}

pub fn pair() -> Pair {
    let memory = Path::new("/dev/shm");
    let directory = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap();
    let open = |name: &str| EmbeddedStore::open(directory.path().join(name), Access::ReadWrite).unwrap();
    let (shared, alone) = (open("shared"), open("alone"));
    fill(&shared, "there", &format!("{SECRET} "), 40);
    fill(&shared, HERE, "", 25);
    fill(&alone, HERE, "", 25);
    Pair { shared, alone, _directory: directory }
}

/// Adds claims, as many fragments, and edges between them, each text after the word; and vectors for all.
pub fn fill(store: &EmbeddedStore, namespace: &str, word: &str, claims: usize) {
    let (title, authors) = (format!("{word}work"), vec!["Ada".into(), "Bo".into()]);
    let (url, work_id) = (Some("https://example.org/a".into()), Some("w1".into()));
    let page = Page { id: "p1".into(), url, title: Some(format!("{word}page")), work_id, ..Page::default() };
    let mut records = vec![
        EvidenceRecord::Task(Task { id: "t1".into(), question: format!("{word}why?"), ..Task::default() }),
        EvidenceRecord::Work(Work { id: "w1".into(), title, authors, year: Some(1999), ..Work::default() }),
        EvidenceRecord::Page(page),
    ];
    for number in 0..claims {
        let (id, page_id, text) = (format!("f{number}"), "p1".into(), format!("{word}fragment {number}"));
        let position = u32::try_from(number).ok();
        records.push(EvidenceRecord::Fragment(Fragment { id, page_id, text, position, ..Fragment::default() }));
        let (id, task_id, text) = (format!("c{number}"), "t1".into(), format!("{word}claim {number}"));
        let confidence = Some(number as f64 / 100.0);
        records.push(EvidenceRecord::Claim(Claim { id, task_id, text, confidence, ..Claim::default() }));
        records.push(EvidenceRecord::Edge(Edge {
            source_type: NodeType::Fragment,
            source_id: format!("f{number}"),
            target_type: NodeType::Claim,
            target_id: format!("c{number}"),
            relation: if number % 3 == 0 { Relation::Refutes } else { Relation::Supports },
            nli_edge_confidence: Some(0.5),
            note: None,
            created_at: None,
        }));
    }
    let document = |record: &EvidenceRecord| {
        let (kind, text) = match record {
            EvidenceRecord::Fragment(fragment) => ("fragment", &fragment.text),
            EvidenceRecord::Claim(claim) => ("claim", &claim.text),
            _ => return None,
        };
        Some(Change::Put(NewDocument {
            origin: Some("test".into()),
            passages: vec![NewPassage::new(kind, 1..=1, text.as_str(), TextForm::Prose)],
            ..NewDocument::new(namespace, "evidence", record.path()?)
        }))
    };
    let documents: Vec<Change> = records.iter().filter_map(document).collect();
    store.apply_evidence(namespace, "test", &records, &documents).unwrap();
    let model = ModelKey { id: "toy".into(), dimension: 2 };
    let texts = store.unembedded("toy", &Filter::default(), 10_000).unwrap();
    let vectors: Vec<_> = texts.iter().map(|text| (text.hash, vec![1.0, f32::from(text.hash.0[0])])).collect();
    store.put_vectors(&model, &vectors).unwrap();
}

pub fn ask(store: &EmbeddedStore, sql: &str) -> Result<SqlRows, StoreError> {
    ask_within(store, sql, 1000)
}

pub fn ask_within(store: &EmbeddedStore, sql: &str, milliseconds: u64) -> Result<SqlRows, StoreError> {
    let query = SqlQuery { timeout: Duration::from_millis(milliseconds), limit: 200, ..SqlQuery::new(sql) };
    store.query_sql(HERE, &query, &|| false)
}

/// The rows of a statement that runs.
pub fn rows(store: &EmbeddedStore, sql: &str) -> Vec<Vec<SqlValue>> {
    ask(store, sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows
}

/// The error and the hint of one that does not.
pub fn refusal(store: &EmbeddedStore, sql: &str) -> (String, String) {
    match ask(store, sql) {
        Err(StoreError::Sql { error, hint }) => (error, hint.unwrap_or_default()),
        other => panic!("{sql}: {other:?}"),
    }
}

pub fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

/// The bytes of the database and its log.
pub fn contents(directory: &Path) -> [Vec<u8>; 2] {
    ["tamis.db", "tamis.db-wal"].map(|name| std::fs::read(directory.join(name)).unwrap_or_default())
}
