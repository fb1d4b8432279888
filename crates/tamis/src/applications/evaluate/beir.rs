//! Test collections in BEIR's layout: `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use tamis_eval::{Qrels, QueryKind};
use tamis_text::Options;

use super::{EvaluationError, text};
use crate::config::{Config, EmbeddingCacheConfig};
use crate::handle::Index;
use crate::index::{RunOptions, SPLITTER, TextDocument};
use crate::index_location::Location;
use crate::models::Models;
use crate::progress::{Observer, Stage};

/// The index collection that holds a corpus.
const COLLECTION: &str = "corpus";

/// Documents, and queries with known answers.
#[derive(Clone, Debug)]
pub struct TestCollection {
    /// Name in the tables: the directory's name.
    pub name: String,
    /// The directory it was read from, absolute.
    pub directory: PathBuf,
    /// Every document. A document without text uses its title as text, so that it can be found.
    pub documents: Vec<TextDocument>,
    /// The queries that can be measured, in file order: judged ones and unanswerable ones.
    pub queries: Vec<TestQuery>,
    /// Notes for people: judgements of missing queries or documents.
    pub notes: Vec<String>,
    /// BLAKE3 of the corpus file.
    pub(crate) digest: blake3::Hash,
}

/// A query and its known answers.
#[derive(Clone, Debug, PartialEq)]
pub struct TestQuery {
    /// Its identifier.
    pub id: String,
    /// The question.
    pub text: String,
    /// Judged, unanswerable, or from another collection.
    pub kind: QueryKind,
    /// Grades by document; above 0 is relevant. Empty for an unanswerable query.
    pub judged: BTreeMap<String, i32>,
}

impl TestCollection {
    /// Reads `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`, `metadata`) and
    /// `qrels/SPLIT.tsv` (query, document, grade, with or without a header) of a directory.
    ///
    /// A query is unanswerable if its metadata says so (`answerable` is false, or `answerability` begins with
    /// `"UNANSWERABLE"`), or if it is judged without any grade above 0. Queries that are neither judged nor
    /// unanswerable are left out.
    ///
    /// # Errors
    /// A missing file, a malformed line (with its number), or judgements that name no query or no document of the
    /// collection.
    pub fn from_directory(directory: &Path, split: &str) -> Result<Self, EvaluationError> {
        let directory = absolute(directory)?;
        let path = directory.join("corpus.jsonl");
        if directory.is_dir() && !path.exists() {
            let reason = "no corpus.jsonl; a collection has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv (docs/evaluation.md)";
            return Err(EvaluationError::path(&directory, reason));
        }
        let corpus = text(&path)?;
        let digest = blake3::hash(corpus.as_bytes());
        let documents: Vec<TextDocument> = read(&path, &corpus)?.into_iter().map(document).collect();
        let (queries, mut notes) = queries(&directory, split)?;

        let known: HashSet<&str> = documents.iter().map(|document| document.id.as_str()).collect();
        let judged: HashSet<&str> = queries.iter().flat_map(|query| query.judged.keys()).map(String::as_str).collect();
        let missing = judged.difference(&known).count();
        if missing > 0 && missing == judged.len() {
            let reason = format!("none of the {missing} judged documents is in {}", path.display());
            return Err(EvaluationError::path(&qrels_file(&directory, split), reason));
        }
        if missing > 0 {
            notes.push(format!(
                "judged documents that are not in the corpus and cannot be found: {missing} of {}",
                judged.len()
            ));
        }
        let name = directory.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned());
        Ok(TestCollection { name, directory, documents, queries, notes, digest })
    }
}

/// Returns the first `count` answerable queries of a collection, to be asked of another one. Its corpus is not needed.
/// If the directory lacks the split, `test` is used.
///
/// # Errors
/// As [`TestCollection::from_directory`], for the queries and judgements.
pub fn foreign_queries(directory: &Path, split: &str, count: usize) -> Result<Vec<TestQuery>, EvaluationError> {
    let directory = absolute(directory)?;
    let split = if qrels_file(&directory, split).exists() { split } else { "test" };
    let (queries, _) = queries(&directory, split)?;
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let answerable = queries.into_iter().filter(|query| query.kind == QueryKind::Judged);
    let foreign = |query: TestQuery| TestQuery {
        id: format!("{name}/{}", query.id),
        kind: QueryKind::Foreign,
        judged: BTreeMap::new(),
        ..query
    };
    Ok(answerable.take(count).map(foreign).collect())
}

fn absolute(directory: &Path) -> Result<PathBuf, EvaluationError> {
    dunce::canonicalize(directory).map_err(|error| EvaluationError::path(directory, error))
}

fn qrels_file(directory: &Path, split: &str) -> PathBuf {
    directory.join("qrels").join(format!("{split}.tsv"))
}

fn document(record: Record) -> TextDocument {
    let text = if record.text.trim().is_empty() { record.title.clone() } else { record.text };
    TextDocument { id: record.id, collection: COLLECTION.into(), title: Some(record.title), text }
}

/// The queries that can be measured, and notes about the judgements. The corpus is not needed.
pub(crate) fn queries(directory: &Path, split: &str) -> Result<(Vec<TestQuery>, Vec<String>), EvaluationError> {
    let judgements = qrels_file(directory, split);
    if !judgements.exists() {
        return Err(EvaluationError::path(&judgements, format!("not there; {}", splits(directory))));
    }
    let qrels = Qrels::parse(&judgements.to_string_lossy(), &text(&judgements)?)?;
    let path = directory.join("queries.jsonl");
    let records = read(&path, &text(&path)?)?;

    let known: HashSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let missing = qrels.iter().filter(|(id, _)| !known.contains(id)).count();
    if missing == qrels.len() {
        let reason = format!("none of the {missing} judged queries is in {}", path.display());
        return Err(EvaluationError::path(&judgements, reason));
    }
    let note = (missing > 0)
        .then(|| format!("judged queries that are not in queries.jsonl and left out: {missing} of {}", qrels.len()));

    let mut queries = Vec::new();
    for record in records {
        let judged = qrels.query(&record.id).cloned().unwrap_or_default();
        let relevant = judged.values().any(|&grade| grade > 0);
        let kind = match (is_unanswerable(&record), relevant, judged.is_empty()) {
            (true, _, _) | (false, false, false) => QueryKind::Unanswerable,
            (false, true, _) => QueryKind::Judged,
            (false, false, true) => continue,
        };
        if record.text.trim().is_empty() {
            return Err(EvaluationError::path(&path, format!("query {:?} has no text", record.id)));
        }
        let judged = if kind == QueryKind::Judged { judged } else { BTreeMap::new() };
        queries.push(TestQuery { id: record.id, text: record.text, kind, judged });
    }
    Ok((queries, note.into_iter().collect()))
}

fn is_unanswerable(record: &Record) -> bool {
    record.metadata["answerable"] == false || record.metadata["answerability"][0] == "UNANSWERABLE"
}

/// Lists the splits of a directory, for the message about a missing one.
pub(crate) fn splits(directory: &Path) -> String {
    let entries = std::fs::read_dir(directory.join("qrels")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".tsv").map(str::to_owned))
        .collect();
    names.sort();
    match names.as_slice() {
        [] => "a directory in BEIR's layout has its judgements in qrels/SPLIT.tsv".into(),
        names => format!("the splits here are {}", names.join(", ")),
    }
}

// The indexes of test collections, kept between evaluations. An index is keyed by its content: the corpus, the passage
// settings and the models. An interrupted run resumes.

/// Increased when the content of an index changes.
const LAYOUT: &str = "1";

/// The namespace of every corpus.
const NAMESPACE: &str = "corpus";

/// The property that records the progress of an index, and its values in order.
const STATE: &str = "evaluation";
const WRITTEN: &str = "written";
const COMPLETE: &str = "complete";

/// The number of documents stored at once.
const BATCH: usize = 512;

/// Opens the index of a test collection, creating or completing it first if needed.
pub(crate) fn index(
    test: &TestCollection,
    config: &Config,
    cache: &Path,
    observer: &dyn Observer,
) -> Result<Index, EvaluationError> {
    // Texts of test collections are not in any other index.
    let mut config = config.clone();
    config.index.embedding_cache = EmbeddingCacheConfig::default();
    // Searches by words alone compare no vectors.
    if !config.search.mode.semantic() {
        config.index.models.clear();
    }
    let directory = cache.join(key(test, &config)?);
    let location = Location { namespace: NAMESPACE.into(), ..Location::at(&directory, Some(&directory)) };
    let index = Index::at(location, config)?;
    let state = index.store.property(STATE).map_err(crate::Error::from)?;
    if state.as_deref() == Some(COMPLETE) {
        return Ok(index);
    }
    if state.as_deref() != Some(WRITTEN) {
        write(test, &index, observer)?;
        index.store.set_property(STATE, WRITTEN).map_err(crate::Error::from)?;
    }
    let report = index.complete(RunOptions::WHOLE, observer)?;
    if report.interrupted || observer.cancelled() {
        return Err(EvaluationError::Interrupted);
    }
    if let Some((model, reason)) = report.embedding.unusable.into_iter().next() {
        return Err(crate::Error::Model { model, reason }.into());
    }
    index.store.set_property(STATE, COMPLETE).map_err(crate::Error::from)?;
    Ok(index)
}

fn write(test: &TestCollection, index: &Index, observer: &dyn Observer) -> Result<(), EvaluationError> {
    observer.stage(Stage::Read, test.documents.len() as u64);
    for batch in test.documents.chunks(BATCH) {
        if observer.cancelled() {
            return Err(EvaluationError::Interrupted);
        }
        index.put_documents(batch)?;
        observer.advance(batch.len() as u64);
    }
    Ok(())
}

/// The cache key of the content.
fn key(test: &TestCollection, config: &Config) -> Result<String, EvaluationError> {
    let models = Models::new(config);
    let mut hash = blake3::Hasher::new();
    let tokens = Options::default().max_tokens.to_string();
    let ids = config.index.models.iter().map(|name| models.id(name)).collect::<Result<Vec<_>, _>>()?;
    let parts = [LAYOUT, SPLITTER, test.digest.to_hex().as_str(), &tokens].map(str::to_owned);
    for part in parts.into_iter().chain(ids) {
        hash.update(part.as_bytes()).update(b"\0");
    }
    Ok(hash.finalize().to_hex()[..32].to_owned())
}

// The JSON Lines of a test collection: one document or query a line.

/// A line of `corpus.jsonl` or `queries.jsonl`.
#[derive(Debug)]
pub(crate) struct Record {
    pub id: String,
    pub title: String,
    pub text: String,
    pub metadata: Value,
}

/// The fields as written. An identifier can also be a whole number.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: Value,
    #[serde(default)]
    title: Option<String>,
    text: String,
    #[serde(default)]
    metadata: Value,
}

/// Reads every line except blank ones.
///
/// # Errors
/// The number of the first line that is not an object with an identifier and a text, or that repeats an identifier; or
/// a file without any record.
pub(crate) fn read(path: &Path, text: &str) -> Result<Vec<Record>, EvaluationError> {
    let mut records = Vec::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for (content, line) in text.lines().zip(1..) {
        if content.trim().is_empty() {
            continue;
        }
        let bad = |problem: String| EvaluationError::Line { path: path.to_owned(), line, problem };
        let read: Line = serde_json::from_str(content).map_err(|error| bad(problem(&error)))?;
        let id = match &read.id {
            Value::String(id) => id.clone(),
            Value::Number(number) if !number.is_f64() => number.to_string(),
            other => return Err(bad(format!("_id is {other}, and a text was expected"))),
        };
        if id.is_empty() {
            return Err(bad("_id is empty".into()));
        }
        if let Some(first) = lines.insert(id.clone(), line) {
            return Err(bad(format!("_id {id:?} is also that of line {first}; leave one of the two lines out")));
        }
        records.push(Record { id, title: read.title.unwrap_or_default(), text: read.text, metadata: read.metadata });
    }
    if records.is_empty() {
        return Err(EvaluationError::path(path, "holds no lines; give one JSON object with _id and text a line"));
    }
    Ok(records)
}

/// The parser's message without its position: it parsed one line and always says "line 1".
fn problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.rsplit_once(" at line 1").map_or(message.as_str(), |(message, _)| message);
    let what = if error.is_data() { "not a document or query" } else { "not JSON" };
    format!("{what}: {message} at column {}", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const QUERIES: &str = r#"{"_id":"q1","text":"tides"}
{"_id":"q2","text":"nothing relevant"}
{"_id":"q3","text":"said to have no answer","metadata":{"answerable":false}}
{"_id":"q4","text":"so here","metadata":{"answerability":["UNANSWERABLE"]}}
{"_id":"q5","text":"not judged"}
{"_id":"q6","text":"bread","metadata":{"answerable":true}}
"#;

    fn directory(qrels: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let corpus = "{\"_id\":\"d1\",\"title\":\"Moon\",\"text\":\"two tides\"}\n{\"_id\":\"d2\",\"title\":\"Bread\",\"text\":\" \"}\n";
        fs::write(directory.path().join("corpus.jsonl"), corpus).expect("written");
        fs::write(directory.path().join("queries.jsonl"), QUERIES).expect("written");
        fs::create_dir(directory.path().join("qrels")).expect("made");
        fs::write(directory.path().join("qrels/test.tsv"), qrels).expect("written");
        directory
    }

    #[test]
    fn a_query_is_judged_unanswerable_or_left_out() {
        let directory =
            self::directory("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t0\nq4\td1\t1\nq6\td2\t1\n");
        let test = TestCollection::from_directory(directory.path(), "test").expect("read");
        let kinds: Vec<(&str, QueryKind)> = test.queries.iter().map(|query| (query.id.as_str(), query.kind)).collect();
        let (judged, unanswerable) = (QueryKind::Judged, QueryKind::Unanswerable);
        let all = [("q1", judged), ("q2", unanswerable), ("q3", unanswerable), ("q4", unanswerable), ("q6", judged)];
        assert_eq!(kinds, all);
        assert_eq!(test.queries[0].judged.len(), 2);
        assert!(test.queries[3].judged.is_empty());
        assert_eq!(test.documents[1].text, "Bread", "the title stands for a text that is not there");
        assert!(test.notes.is_empty(), "{:?}", test.notes);

        let foreign = foreign_queries(directory.path(), "dev", 60).expect("test stands in");
        let name = directory.path().file_name().expect("a name").to_string_lossy().into_owned();
        let ids: Vec<String> = foreign.iter().map(|query| query.id.clone()).collect();
        assert_eq!(ids, [format!("{name}/q1"), format!("{name}/q6")]);
        assert!(foreign.iter().all(|query| query.kind == QueryKind::Foreign && query.judged.is_empty()));
        assert_eq!(foreign_queries(directory.path(), "test", 1).expect("read").len(), 1);

        let some = self::directory("q1\td1\t1\nq1\td9\t1\nq9\td1\t1\n");
        let notes = TestCollection::from_directory(some.path(), "test").expect("read").notes;
        let queries = "judged queries that are not in queries.jsonl and left out: 1 of 2";
        assert_eq!(notes, [queries, "judged documents that are not in the corpus and cannot be found: 1 of 2"]);
        let error = TestCollection::from_directory(self::directory("q9\td1\t1\n").path(), "test")
            .expect_err("fails")
            .to_string();
        assert!(error.contains("none of the 1 judged queries"), "{error}");
        fs::write(some.path().join("corpus.jsonl"), b"{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"\xff\"}\n")
            .expect("written");
        let error = TestCollection::from_directory(some.path(), "test").expect_err("malformed").to_string();
        assert!(error.contains("corpus.jsonl, line 2: not UTF-8"), "{error}");
    }

    fn fails(text: &str) -> String {
        read(Path::new("corpus.jsonl"), text).expect_err("malformed").to_string()
    }

    #[test]
    fn lines_are_read_or_named_by_their_number() {
        let text = "{\"_id\":\"a\",\"text\":\"x\"}\n\n{\"_id\":7,\"title\":null,\"text\":\"y\",\"metadata\":{\"k\":1},\"url\":\"z\"}\r\n";
        let records = read(Path::new("corpus.jsonl"), text).expect("well formed");
        assert_eq!(records.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(), ["a", "7"]);
        assert_eq!((records[1].title.as_str(), records[1].metadata["k"].as_i64()), ("", Some(1)));

        let good = "{\"_id\":\"a\",\"text\":\"x\"}\n";
        for (line, part) in [
            ("{\"_id\":\"b\",", "corpus.jsonl, line 2: not JSON: EOF"),
            ("nonsense", "corpus.jsonl, line 2: not JSON: expected ident"),
            ("{\"_id\":\"b\"}", "corpus.jsonl, line 2: not a document or query: missing field `text`"),
            ("{\"text\":\"b\"}", "missing field `_id`"),
            ("{\"_id\":null,\"text\":\"b\"}", "_id is null"),
            ("{\"_id\":1.5,\"text\":\"b\"}", "_id is 1.5"),
            ("{\"_id\":\"\",\"text\":\"b\"}", "_id is empty"),
            ("{\"_id\":\"a\",\"text\":\"b\"}", "_id \"a\" is also that of line 1"),
            ("{\"_id\":\"b\",\"text\":[1]}", "invalid type: sequence, expected a string"),
        ] {
            let error = fails(&format!("{good}{line}\n"));
            assert!(error.contains(part) && !error.contains("at line 1"), "{part} is not in: {error}");
        }
        assert!(fails("\n \n").contains("holds no lines"));
    }
}
