//! Documents and vectors to test with.

use std::path::Path;

pub use tamis_store::prelude::*;
pub use tamis_store::*;

/// A directory of its own, in memory if the system offers a file system there: the stores make the same calls and the
/// tests do not wait for a disk.
pub fn temporary() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap()
}

/// The model of the tests.
pub const MODEL: &str = "toy";
const DIMENSION: usize = 8;

pub fn model() -> ModelKey {
    ModelKey { id: MODEL.to_owned(), dimension: DIMENSION }
}

/// Runs a test on an empty store of each kind.
pub fn on_every_store(test: impl Fn(&dyn Store)) {
    let directory = temporary();
    test(&open(directory.path()));
    #[cfg(feature = "postgres")]
    for create in [crate::postgres::TestDatabase::create, crate::postgres::TestDatabase::pooled] {
        if let Some(database) = create() {
            test(&database.open("here"));
        }
    }
}

/// Makes a test of each function, which gets an empty store of each kind.
macro_rules! tests_on_every_store {
    ($($name:ident)*) => {
        mod on_every_store {
            $(
                #[test]
                fn $name() {
                    $crate::common::on_every_store(super::$name);
                }
            )*
        }
    };
}
pub(crate) use tests_on_every_store;

pub fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, Access::ReadWrite).unwrap()
}

/// A store in a directory of its own.
pub fn opened() -> (tempfile::TempDir, EmbeddedStore) {
    let directory = temporary();
    let store = open(directory.path());
    (directory, store)
}

/// A passage of prose with a text and nothing else.
pub fn passage(text: &str) -> NewPassage {
    NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)
}

/// A passage of code that defines a symbol.
pub fn function(symbol: &str, text: &str) -> NewPassage {
    NewPassage {
        kind: "function".into(),
        symbol: Some(symbol.into()),
        embedded_text: format!("{symbol}\n{text}"),
        form: TextForm::Code,
        ..passage(text)
    }
}

/// A document in the namespace `here`.
pub fn document(path: &str, passages: Vec<NewPassage>) -> NewDocument {
    NewDocument {
        file: FileStat { size: 10, modified_ns: 1, ..FileStat::default() },
        content_hash: [1; 32],
        passages,
        ..NewDocument::new("here", "docs", path)
    }
}

/// A document whose passages are these texts.
pub fn prose(path: &str, texts: &[&str]) -> NewDocument {
    document(path, texts.iter().map(|text| passage(text)).collect())
}

pub fn put(store: &dyn Store, documents: Vec<NewDocument>) {
    let changes: Vec<Change> = documents.into_iter().map(Change::Put).collect();
    store.apply(&changes).unwrap();
}

/// The change that moves a document.
pub fn moved(document: DocumentId, path: &str) -> Change {
    Change::Move { document, path: path.into(), file: FileStat { size: 1, modified_ns: 2, stamp: 0 } }
}

/// The change of a document whose file was written again at this time.
pub fn touched(document: DocumentId, modified_ns: i64) -> Change {
    Change::Touch { document, file: FileStat { size: 99, modified_ns, stamp: 0 } }
}

pub fn publish(store: &dyn Store) {
    store.publish(&mut |_| Ok(())).unwrap();
}

/// A vector that depends only on the given hash.
pub fn vector_of(hash: TextHash) -> Vec<f32> {
    hash.0[..DIMENSION].iter().map(|&byte| f32::from(byte) - 127.5).collect()
}

/// Gives each text without a vector one. Returns their number.
pub fn embed(store: &dyn Store) -> u64 {
    let texts = store.unembedded(MODEL, &Filter::default(), usize::MAX >> 1).unwrap();
    let vectors: Vec<_> = texts.iter().map(|text| (text.hash, vector_of(text.hash))).collect();
    store.put_vectors(&model(), &vectors).unwrap()
}

/// Gives every text a vector and publishes.
pub fn complete(store: &dyn Store) {
    embed(store);
    publish(store);
}

pub fn id_of(store: &dyn Store, path: &str) -> DocumentId {
    store.document("here", path).unwrap().unwrap().document
}

/// All passages of the store.
pub fn all(store: &dyn Store) -> Vec<PassageId> {
    store.select(&Filter::default()).unwrap().into_iter().map(|found| found.passage).collect()
}

/// The texts of passages.
pub fn texts(store: &dyn Store, ids: &[PassageId]) -> Vec<String> {
    store.passages(&[], ids).unwrap().into_iter().map(|passage| passage.text).collect()
}

/// The texts that the lexical retriever finds.
pub fn found(store: &dyn Store, query: &str) -> Vec<String> {
    let hits = store.lexical(&LexicalQuery::new(query), &Filter::default(), 100).unwrap().hits;
    texts(store, &hits.iter().map(|hit| hit.passage).collect::<Vec<_>>())
}

/// Asserts that the check finds nothing.
pub fn assert_sound(store: &dyn Store) {
    assert_eq!(store.check().unwrap().problems, []);
}
