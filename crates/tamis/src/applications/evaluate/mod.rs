//! Evaluation: measures ranking and cuts on a collection with judged answers, with the code that answers searches.
//!
//! A [`TestCollection`] is a directory in BEIR's layout. [`measure`] indexes it through the library's normal path into
//! a cache, gathers each query's candidates once, and lets every [`NamedCut`] decide on them, gate included. The result
//! is data for the metrics and reports of [`tamis_eval`]. [`from_run`]
//! does the same for the ranked results of any other engine, without an index.
//!
//! ```no_run
//! use tamis::config::Config;
//! use tamis_eval::{Options, evaluate};
//! use tamis::evaluate::{Measurement, TestCollection, cuts, measure};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let test = TestCollection::from_directory("scifact".as_ref(), "test")?;
//! let mut config = Config::built_in();
//! config.index.models = vec!["static".into()];
//! let measurement = Measurement { cuts: cuts(&config, &[])?, ..Measurement::default() };
//! let collection = measure(&test, &[], &config, "cache".as_ref(), &measurement, &())?;
//! println!("{}", evaluate(&[collection], &Options::default())?.markdown());
//! # Ok(())
//! # }
//! ```

mod beir;
mod measure;
mod trec_run;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rayon::prelude::*;
use serde::Serialize;
use tamis_cut::{Auto, Fixed, Rule};
use tamis_eval::{EvalError, FormatError, QueryKind};
use thiserror::Error;

use crate::config::Config;
use crate::handle::Index;
use crate::progress::{Observer, Stage};
use crate::search::{Candidates, Context, candidates};

pub(crate) use beir::queries;
pub use beir::{TestCollection, TestQuery, foreign_queries};
pub use measure::{Measurement, NamedCut, cuts, measure};
pub use trec_run::{RunCollection, from_results, from_run};

// Errors of an evaluation.

/// An evaluation that failed.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// A file or directory that cannot be read or has unexpected content.
    #[error("{}: {reason}", path.display())]
    Path {
        /// The file or directory.
        path: PathBuf,
        /// The problem, and its remedy.
        reason: String,
    },
    /// A malformed line.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// An unknown cut, or a bad parameter of one.
    #[error("cut {specification:?}: {problem}")]
    Cut {
        /// The cut as it was given.
        specification: String,
        /// The problem, and the values allowed.
        problem: String,
    },
    /// Judgements or a run that cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Measurements that do not fit together.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Indexing or searching failed.
    #[error(transparent)]
    Index(#[from] crate::Error),
    /// The observer stopped it. The finished part of the index stays, and the next evaluation resumes from there.
    #[error("stopped; what is indexed so far is kept, and the next evaluation goes on from there")]
    Interrupted,
}

impl EvaluationError {
    pub(crate) fn path(path: &Path, reason: impl ToString) -> Self {
        EvaluationError::Path { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Reads a file's text, without the mark that some programs begin a file with.
pub(crate) fn text(path: &Path) -> Result<String, EvaluationError> {
    let mut bytes = std::fs::read(path).map_err(|error| EvaluationError::path(path, error))?;
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
        EvaluationError::Line { path: path.to_owned(), line, problem: "not UTF-8".into() }
    })
}

// Finds the document a query was made from, in collections whose queries are documents.

/// Placeholder for the document's identifier in a pattern.
const ID: &str = "{}";

/// A pattern that relates a query's identifier to that of its own document: `{}` stands for the document's identifier
/// and `*` for any text.
///
/// ```
/// use tamis::evaluate::OwnId;
///
/// let facets: OwnId = "{}_*".parse()?;
/// assert_eq!(facets.to_string(), "{}_*");
/// assert!("paper_*".parse::<OwnId>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnId {
    before: String,
    after: String,
}

impl Default for OwnId {
    /// The query and its document have the same identifier.
    fn default() -> Self {
        OwnId { before: String::new(), after: String::new() }
    }
}

impl std::fmt::Display for OwnId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{ID}{}", self.before, self.after)
    }
}

impl FromStr for OwnId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(ID) {
            Some((before, after)) if !after.contains(ID) => {
                Ok(OwnId { before: before.to_owned(), after: after.to_owned() })
            }
            _ => Err(format!("{text:?} must have {ID} once, for the document's identifier, such as {ID}_*")),
        }
    }
}

impl OwnId {
    /// The longest part of a query's identifier that names a document and leaves a rest that matches the pattern.
    fn document<'a>(&self, query: &'a str, documents: &HashSet<&str>) -> Option<&'a str> {
        let places = || query.char_indices().map(|(place, _)| place).chain([query.len()]);
        let starts = places().filter(|&start| matches(&self.before, &query[..start]));
        let ends: Vec<usize> = places().filter(|&end| matches(&self.after, &query[end..])).collect();
        let parts = starts.flat_map(|start| ends.iter().filter_map(move |&end| query.get(start..end)));
        parts.filter(|part| documents.contains(part)).max_by_key(|part| part.len())
    }
}

/// Returns `true` if a text matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
    }
    true
}

/// The documents that are left out, each for its query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnDocuments {
    documents: HashMap<String, String>,
    /// The number of all queries.
    queries: usize,
}

impl OwnDocuments {
    /// The document that the query was made from.
    pub fn document_of(&self, query: &TestQuery) -> Option<&str> {
        self.documents.get(&query.id).map(String::as_str)
    }

    /// Returns a note with the number of queries that have one.
    pub fn note(&self) -> String {
        match self.documents.len() {
            0 => "no query's identifier leads to a document, so no document is left out; where a query is a part of a document, \
                  say how its identifier is made, such as --own-id='{}_*'"
                .to_owned(),
            matched => format!("queries whose own document is left out: {matched} of {}", self.queries),
        }
    }
}

impl TestCollection {
    /// Finds the document that each query was made from.
    ///
    /// # Errors
    /// Queries and documents that share numbers only, and differ in content.
    pub fn own_documents(&self, own: &OwnId) -> Result<OwnDocuments, EvaluationError> {
        let known: HashSet<&str> = self.documents.iter().map(|document| document.id.as_str()).collect();
        let found: HashMap<&str, &str> = self
            .queries
            .iter()
            .filter_map(|query| Some((query.id.as_str(), own.document(&query.id, &known)?)))
            .collect();
        if *own == OwnId::default() {
            self.refuse_chance(&found)?;
        }
        let documents = found.into_iter().map(|(query, document)| (query.to_owned(), document.to_owned())).collect();
        Ok(OwnDocuments { documents, queries: self.queries.len() })
    }

    /// Rejects a coincidence of two numberings: identifiers are numbers on both sides, and most pairs differ in
    /// content.
    fn refuse_chance(&self, found: &HashMap<&str, &str>) -> Result<(), EvaluationError> {
        let is_number = |id: &&str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        if found.is_empty() || !found.keys().all(is_number) {
            return Ok(());
        }
        let texts: HashMap<&str, String> = self
            .documents
            .iter()
            .filter(|document| found.contains_key(document.id.as_str()))
            .map(|document| {
                (document.id.as_str(), format!("{} {}", document.title.as_deref().unwrap_or_default(), document.text))
            })
            .collect();
        let strangers: Vec<&TestQuery> = self
            .queries
            .iter()
            .filter(|query| texts.get(query.id.as_str()).is_some_and(|text| !says(text, &query.text)))
            .collect();
        match strangers.first() {
            Some(query) if 2 * strangers.len() > found.len() => Err(EvaluationError::path(
                &self.directory.join("queries.jsonl"),
                format!(
                    "{} queries have the number of a document, and {} of them are not its text (query {}: {:?}): the \
                     numbers are the same by chance. Leave --own-id out, or say how a query's identifier is made of its \
                     document's, such as --own-id='{{}}_*'",
                    found.len(),
                    strangers.len(),
                    query.id,
                    query.text.chars().take(60).collect::<String>(),
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// Returns `true` if a document has most of the words of a query.
fn says(document: &str, query: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        text.split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let (document, query) = (words(document), words(query));
    4 * query.intersection(&document).count() >= 3 * query.len()
}

// The candidates of judged queries with all their scores, for fitting a cut elsewhere.

/// The candidates of one query, best first, as a search ranks them.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PoolRecord {
    /// Name of the collection.
    pub collection: String,
    /// Identifier of the query.
    pub query: String,
    /// Text of the query.
    pub text: String,
    /// True if the collection answers the query.
    pub answerable: bool,
    /// Number of documents judged relevant, in the pool or not.
    pub relevant: usize,
    /// The fused score of a passage that has nothing to do with the query.
    pub background: Option<f64>,
    /// The gate's evidence.
    pub evidence: tamis_cut::Evidence,
    /// The candidates.
    pub candidates: Vec<PooledCandidate>,
}

/// A candidate with its scores.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PooledCandidate {
    /// Its document.
    pub document: String,
    /// The fused score that a cut reads.
    pub score: f64,
    /// Cosine similarity to the query.
    pub similarity: Option<f64>,
    /// BM25 score.
    pub bm25: Option<f64>,
    /// Share of the query's IDF mass that it matches, 0 to 1.
    pub coverage: Option<f64>,
    /// The probability that a reranker gave it, if one read it.
    pub judged: Option<f64>,
    /// Number of its entry, what the cut counts: 0 for the best. Equal for passages that are one result.
    pub entry: usize,
    /// Length of its text.
    pub characters: usize,
    /// The judgement of its document; 0 if nobody judged it.
    pub grade: i32,
}

/// Indexes the collection into `cache` unless it is there, and returns the candidates of every query.
///
/// # Errors
/// An index or model that fails, or an observer that stops it.
pub fn pools(
    test: &TestCollection,
    config: &Config,
    cache: &Path,
    own_id: Option<&OwnId>,
    limit: Option<usize>,
    observer: &dyn Observer,
) -> Result<Vec<PoolRecord>, EvaluationError> {
    let own = own_id.map(|own| test.own_documents(own)).transpose()?.unwrap_or_default();
    let index = beir::index(test, config, cache, observer)?;
    let queries: Vec<&TestQuery> = test.queries.iter().take(limit.unwrap_or(usize::MAX)).collect();
    observer.stage(Stage::Answer, queries.len() as u64);
    let record = |query: &&TestQuery| {
        if observer.cancelled() {
            return Err(EvaluationError::Interrupted);
        }
        let record = record(&index, &test.name, query, own.document_of(query));
        observer.advance(1);
        record
    };
    queries.par_iter().map(record).collect()
}

fn record(
    index: &Index,
    collection: &str,
    query: &TestQuery,
    without: Option<&str>,
) -> Result<PoolRecord, EvaluationError> {
    let candidates: Candidates<'_> =
        candidates(&Context::unobserved(index), &query.text, index.config().search.pool, without)?;
    // Only rules that read relevance ask a reranker.
    let rule: &dyn Rule = if index.reranker.is_some() { &Auto::default() } else { &Fixed::default() };
    let ordered = candidates.decide(rule)?;
    let grade = |document: &str| query.judged.get(document).copied().unwrap_or_default();
    let mut passages = ordered.passages;
    passages.extend(ordered.others);
    passages.sort_by(|a, b| b.score.total_cmp(&a.score));
    let pooled = passages.into_iter().map(|passage| PooledCandidate {
        grade: grade(&passage.document),
        document: passage.document,
        entry: passage.entry,
        score: passage.score,
        similarity: passage.similarity,
        bm25: passage.bm25,
        coverage: passage.coverage,
        judged: passage.judged,
        characters: passage.characters,
    });
    Ok(PoolRecord {
        collection: collection.to_owned(),
        query: query.id.clone(),
        text: query.text.clone(),
        answerable: query.kind == QueryKind::Judged,
        relevant: query.judged.values().filter(|&&grade| grade > 0).count(),
        background: ordered.background,
        evidence: candidates.evidence(),
        candidates: pooled.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_leads_from_a_query_to_its_document() {
        let documents = HashSet::from(["p1", "p1_a", "p2", "12"]);
        for (pattern, query, expected) in [
            ("{}", "p1", Some("p1")),
            ("{}", "p1_method", None),
            ("{}_*", "p1_method", Some("p1")),
            ("{}_*", "p1_a_method", Some("p1_a")),
            ("{}_*", "p1", None),
            ("q-{}", "q-12", Some("12")),
            ("*/{}#*", "set/p2#3", Some("p2")),
            ("*a*{}", "xaxp2", Some("p2")),
            ("{}_*", "é_p1", None),
        ] {
            let own: OwnId = pattern.parse().expect("a pattern");
            assert_eq!(own.document(query, &documents), expected, "{pattern} on {query}");
        }
        for pattern in ["", "*", "{}{}", "{x}"] {
            assert!(pattern.parse::<OwnId>().is_err(), "{pattern}");
        }
    }
}
