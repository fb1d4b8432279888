//! A store in a database of its own for each test, and the same generated documents in a store of each kind.

mod changes;
mod connection;
#[allow(dead_code)]
#[path = "../../../tests/store/postgres.rs"]
mod database;
mod retrievers;

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use database::TestDatabase;

use super::PostgresStore;
use crate::embedded::EmbeddedStore;
use crate::prelude::*;
use crate::{
    Access, Applied, Attribute, AttributeCondition, Change, DateBound, DocumentId, DocumentState, Documents, FileStat,
    Filter, ModelKey, NewDocument, NewPassage, PassageId, StoredPassage, TextForm, TextHash,
};

/// A store whose database is dropped with it, also when the test panics.
pub(crate) struct TestStore {
    store: Option<PostgresStore>,
    database: TestDatabase,
}

/// An empty store, or `None` after saying why the test is skipped.
pub(crate) fn store() -> Option<TestStore> {
    let database = TestDatabase::create()?;
    Some(TestStore { store: Some(database.open("here")), database })
}

impl TestStore {
    /// The address of the store's database.
    pub fn url(&self) -> String {
        self.database.url()
    }

    /// Another store in the same database, as another process would open it.
    pub fn another(&self) -> PostgresStore {
        self.database.open("here")
    }

    /// Ends the connection that holds the right to write. Others that hold locks are in the middle of a change.
    pub fn end_holder(&self) {
        self.execute(
            "SELECT pg_terminate_backend(l.pid, 10000) FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
             WHERE l.locktype = 'advisory' AND l.granted AND a.state = 'idle in transaction' \
             AND NOT EXISTS (SELECT FROM pg_locks o WHERE o.pid = l.pid AND o.locktype = 'relation') \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        );
    }

    /// Runs statements on the store's tables, past the store.
    pub fn execute(&self, statements: &str) {
        self.database.execute(&format!("SET search_path = tamis, public; {statements}"));
    }

    /// The first column of what a statement finds, read past the store.
    pub fn rows(&self, statement: &str) -> Vec<String> {
        self.connections
            .wait(async {
                let connection = self.connections.session_of_its_own().await?;
                Ok(connection.query(statement, &[]).await?.iter().map(|row| row.get(0)).collect())
            })
            .unwrap()
    }

    /// The number of rows of a table, also under a condition.
    pub fn count(&self, from: &str) -> u64 {
        self.rows(&format!("SELECT count(*)::text FROM {from}"))[0].parse().unwrap()
    }
}

impl Deref for TestStore {
    type Target = PostgresStore;

    fn deref(&self) -> &PostgresStore {
        self.store.as_ref().expect("a test's store is open until it is dropped")
    }
}

impl DerefMut for TestStore {
    fn deref_mut(&mut self) -> &mut PostgresStore {
        self.store.as_mut().expect("a test's store is open until it is dropped")
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        self.store = None;
    }
}

/// The change that puts a document of these texts.
pub(crate) fn put_in(namespace: &str, path: &str, texts: &[impl AsRef<str>]) -> Change {
    let passages = texts.iter().map(|text| NewPassage::new("paragraph", 1..=1, text.as_ref(), TextForm::Prose));
    Change::Put(NewDocument { passages: passages.collect(), ..NewDocument::new(namespace, "docs", path) })
}

/// The same in the tree of the tests.
pub(crate) fn put(path: &str, texts: &[&str]) -> Change {
    put_in("here", path, texts)
}

/// All documents and passages, with numbers that count from 0 in their order.
pub(crate) fn content(store: &impl Documents) -> Vec<(DocumentState, Vec<StoredPassage>)> {
    let mut documents: Vec<(DocumentState, Vec<StoredPassage>)> = Vec::new();
    for namespace in store.namespaces().unwrap() {
        for document in store.documents(&namespace.name).unwrap() {
            let passages = store.document_passages(&namespace.name, &document.path).unwrap();
            documents.push((document, passages));
        }
    }
    let mut numbers: Vec<u32> = documents.iter().map(|(document, _)| document.document.0).collect();
    let mut passages: Vec<u64> = documents.iter().flat_map(|(_, all)| all).map(|passage| passage.passage.0).collect();
    numbers.sort_unstable();
    passages.sort_unstable();
    for (document, of) in &mut documents {
        document.document = DocumentId(numbers.binary_search(&document.document.0).unwrap() as u32);
        for passage in of {
            assert_eq!(numbers.binary_search(&passage.document.0).unwrap() as u32, document.document.0);
            passage.document = document.document;
            passage.passage = PassageId(passages.binary_search(&passage.passage.0).unwrap() as u64);
        }
    }
    documents
}

/// An empty embedded store, for the same changes.
pub(crate) fn embedded() -> (tempfile::TempDir, EmbeddedStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
    (directory, store)
}

/// The counts without the change number, which each kind of store counts its own way.
pub(crate) fn counts(applied: Applied) -> Applied {
    Applied { seq: 0, ..applied }
}

pub(crate) const NAMESPACES: [&str; 3] = ["anvil", "bellows", "crucible"];
pub(crate) const DIMENSION: usize = 24;
pub(crate) const MODEL: &str = "model";

/// Numbers from a seed (Steele, Lea and Flood 2014).
pub(crate) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn one_of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    fn often(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A word, the first ones most often.
    fn word(&mut self) -> &'static str {
        let rank = self.below(WORDS.len()) * self.below(WORDS.len()) / WORDS.len();
        WORDS[rank]
    }

    pub fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    pub fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSION).map(|_| self.below(2_000) as f32 / 1_000.0 - 0.8).collect()
    }
}

const WORDS: &[&str] = &[
    "the", "of", "parse", "parsing", "configuration", "config", "parse_config", "ParseConfig", "store", "open",
    "close", "reader", "writer", "retries", "retry", "timeout", "connection", "pool", "index", "indexes", "searching",
    "query", "naïve", "全文", "utf8", "HTTPServer", "http", "server", "buffer", "flush", "token", "tokens", "stem",
    "stemming", "lock", "unlock", "door", "forge", "hammer", "steel", "bellows_pump", "ember", "quench", "temper",
    "alloy", "ingot", "x86_64", "why", "how", "rust",
];
const SYMBOLS: &[&str] = &[
    "Store::open", "Store::close", "Door#lock", "net/http.Get", "open_all", "LIMIT, Store::open", "Map<K, V>::get",
    "parse",
];
const LANGUAGES: &[&str] = &["rust", "markdown", "go", "python"];
const AUTHORS: &[&str] = &["Ada", "ADA", "Grüße", "GRÜSSE", "Bo"];
/// What filters ask for.
const GLOBS: &[&str] = &["*.rs", "src/", "!src/deep", "src/*.md", "!*.md", "moved"];
const NAMES: &[&str] = &["open", "Store::open", "Store::o*", "*", "Get", "net/http.Get", "open*", "Map<K, V>::get", ""];
const LABELS: &[&str] = &["Bug", "bug", "feature", "Straße", "STRASSE"];

pub(crate) fn document(random: &mut Random, namespace: &str, number: usize) -> NewDocument {
    let code = random.often(50);
    let folder = *random.one_of(&["src", "src/deep", "docs", "tests"]);
    let path = format!("{folder}/{}_{number}.{}", random.word(), if code { "rs" } else { "md" });
    let collection = if code { "code" } else { "docs" };
    let mut document = NewDocument::new(namespace, collection, path);
    document.language = random.often(90).then(|| random.one_of(LANGUAGES).to_string());
    document.title = random.often(50).then(|| random.text(3));
    document.file.modified_ns = if random.often(70) { random.below(1_000) as i64 } else { 0 };
    document.dated_ns = random.often(40).then(|| random.below(1_000) as i64);
    for _ in 0..random.below(3) {
        let (name, value) = (*random.one_of(&["label", "state"]), *random.one_of(LABELS));
        document.attributes.push(Attribute { name: name.into(), value: value.into() });
    }
    let passages = random.below(6);
    document.passages = (0..passages).map(|at| passage(random, code, at as u32)).collect();
    document
}

fn passage(random: &mut Random, code: bool, at: u32) -> NewPassage {
    let form = if code { TextForm::Code } else { TextForm::Prose };
    let length = 1 + random.below(60);
    let text = random.text(length);
    let kind = *random.one_of(&["function", "type", "section"]);
    NewPassage {
        symbol: (code && random.often(70)).then(|| random.one_of(SYMBOLS).to_string()),
        heading: (!code && random.often(60)).then(|| random.text(2)),
        role: random.one_of(&["main", "test"]).to_string(),
        language: random.often(20).then(|| random.one_of(LANGUAGES).to_string()),
        author: random.often(40).then(|| random.one_of(AUTHORS).to_string()),
        dated_ns: random.often(30).then(|| random.below(1_000) as i64),
        embedded_text: if random.often(50) { format!("{kind}: {text}") } else { text.clone() },
        ..NewPassage::new(kind, at + 1..=at + 1, text, form)
    }
}

/// The same content in both stores.
pub(crate) struct Both {
    /// It searches for words in the database alone.
    pub postgres: TestStore,
    /// The same database. It keeps words in memory from the first search.
    pub in_memory: PostgresStore,
    pub embedded: EmbeddedStore,
    /// The passages of each, in the same order.
    pub passages: Vec<(PassageId, PassageId)>,
    _directory: tempfile::TempDir,
}

impl Both {
    pub fn new(seed: u64, documents: usize) -> Option<Both> {
        let mut postgres = store()?;
        postgres.retrievers.sizes.patience = usize::MAX;
        let mut in_memory = postgres.another();
        in_memory.retrievers.sizes.patience = 0;
        let (_directory, embedded) = embedded();
        let mut random = Random(seed);
        let mut both = Both { postgres, in_memory, embedded, passages: Vec::new(), _directory };
        for namespace in NAMESPACES {
            both.apply((0..documents).map(|at| Change::Put(document(&mut random, namespace, at))).collect());
        }
        both.embed(&mut random, &Filter::default());
        // Some documents are replaced, moved or deleted.
        for namespace in NAMESPACES {
            let ours = both.postgres.documents(namespace).unwrap().into_iter();
            for (ours, theirs) in ours.zip(both.embedded.documents(namespace).unwrap()).step_by(7) {
                let replaced = NewDocument { path: ours.path.clone(), ..document(&mut random, namespace, 1_000) };
                let path = format!("moved/{}", ours.path);
                let choice = random.below(3);
                let file = FileStat { size: 7, modified_ns: 8, stamp: 0 };
                let change = |document: DocumentId| match choice {
                    0 => Change::Delete { document },
                    1 => Change::Move { document, path: path.clone(), file },
                    _ => Change::Put(replaced.clone()),
                };
                both.postgres.apply(&[change(ours.document)]).unwrap();
                both.embedded.apply(&[change(theirs.document)]).unwrap();
            }
        }
        both.embed(&mut random, &Filter::default());
        both.embedded.publish(&mut |_| Ok(())).unwrap();
        both.postgres.publish(&mut |_| Ok(())).unwrap();
        both.number();
        Some(both)
    }

    pub fn apply(&self, changes: Vec<Change>) {
        self.postgres.apply(&changes).unwrap();
        self.embedded.apply(&changes).unwrap();
    }

    /// Gives four of five texts a vector.
    pub fn embed(&self, random: &mut Random, filter: &Filter) {
        let model = ModelKey { id: MODEL.into(), dimension: DIMENSION };
        let mut ours = self.postgres.unembedded(MODEL, filter, usize::MAX).unwrap();
        let mut theirs = self.embedded.unembedded(MODEL, filter, usize::MAX).unwrap();
        ours.sort_by_key(|text| text.hash);
        theirs.sort_by_key(|text| text.hash);
        assert_eq!(ours, theirs);
        let hashes: Vec<TextHash> = ours.iter().filter(|_| random.often(80)).map(|text| text.hash).collect();
        let vectors: Vec<_> = hashes.into_iter().map(|hash| (hash, random.vector())).collect();
        let stored = self.postgres.put_vectors(&model, &vectors).unwrap();
        assert_eq!(stored, self.embedded.put_vectors(&model, &vectors).unwrap());
        assert_eq!(stored, vectors.len() as u64);
        assert_eq!(self.postgres.put_vectors(&model, &vectors).unwrap(), 0);
    }

    pub fn number(&mut self) {
        let [ours, theirs] = [&*self.postgres as &dyn crate::Store, &self.embedded].map(|store| {
            let ids: Vec<PassageId> = store.select(&Filter::default()).unwrap().iter().map(|one| one.passage).collect();
            let passages = store.passages(&[], &ids).unwrap().into_iter();
            let names = passages.map(|one| (one.namespace, one.path, one.ordinal, one.text)).collect::<Vec<_>>();
            (ids, names)
        });
        assert_eq!(ours.1, theirs.1);
        self.passages = ours.0.into_iter().zip(theirs.0).collect();
    }

    /// The embedded store's numbers of our passages.
    pub fn theirs(&self) -> HashMap<PassageId, PassageId> {
        self.passages.iter().copied().collect()
    }

    /// A filter in the embedded store's numbers.
    pub fn their_filter(&self, filter: &Filter) -> Filter {
        let numbers = self.theirs();
        let number = |id: &PassageId| numbers.get(id).copied().unwrap_or(PassageId(u64::MAX >> 1));
        Filter { ids: filter.ids.iter().map(number).collect(), ..filter.clone() }
    }

    pub fn filter(&self, random: &mut Random) -> Filter {
        let mut filter = Filter::default();
        for _ in 0..1 + random.below(3) {
            match random.below(12) {
                0 | 1 => filter.namespaces.push(random.one_of(&["anvil", "bellows", "crucible", "none"]).to_string()),
                2 => filter.collections.push(random.one_of(&["code", "docs"]).to_string()),
                3 => filter.languages.push(random.one_of(LANGUAGES).to_string()),
                4 => filter.kinds.push(random.one_of(&["function", "type", "section"]).to_string()),
                5 => filter.roles.push(random.one_of(&["main", "test"]).to_string()),
                6 => filter.path_globs.push(random.one_of(GLOBS).to_string()),
                7 => filter.ids.extend((0..60).map(|_| random.one_of(&self.passages).0)),
                8 => filter.symbols.push(random.one_of(NAMES).to_string()),
                9 => {
                    let name = *random.one_of(&["label", "state"]);
                    filter.attributes.push(AttributeCondition::new(name, [*random.one_of(LABELS)]));
                }
                10 => filter.authors.push(random.one_of(&["ada", "GRÜßE", "bo", "nobody"]).to_string()),
                _ => {
                    filter.dates.since = random.often(60).then(|| DateBound::at(random.below(900) as i64));
                    filter.dates.until = random.often(60).then(|| DateBound::at(random.below(1_000) as i64));
                }
            }
        }
        filter
    }
}
