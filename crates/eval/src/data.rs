//! The input of an evaluation: collections of queries with their ranked pools, the decisions of each method, and the errors in them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The kind of a query, by its right answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryKind {
    /// Judged, with documents that answer it. Without any positive grade it counts as [`Unanswerable`](Self::Unanswerable).
    Judged,
    /// Asked of this collection, which has no answer to it.
    Unanswerable,
    /// Asked of another collection, so that nothing here answers it. Its judgements are ignored.
    Foreign,
}

/// One document of a query's ranked pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PooledDocument {
    /// The document's identifier, as the judgements name it.
    pub id: String,
    /// The value that ordered the pool; finite, higher is better. Plots show it; it is never compared between queries.
    pub score: f64,
    /// Number of characters handed on for this document; 0 where it is unknown.
    pub characters: usize,
}

/// One query with its ranked pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryPool {
    /// The query's identifier, unique within its collection.
    pub id: String,
    /// Its kind.
    pub kind: QueryKind,
    /// The documents found, best first, each once.
    pub documents: Vec<PooledDocument>,
    /// All judgements of this query, document to grade, also of documents that were not found. Above 0 is relevant.
    pub judged: BTreeMap<String, i32>,
    /// Documents after the pool where more is retrieved, best first, for the ranking figures alone: a pool of a hundred
    /// passages has fewer documents, and recall@100 needs a hundred. No method decides on them. May be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<String>,
}

impl QueryPool {
    /// [`kind`](Self::kind), except that a judged query without any positive grade is unanswerable.
    pub fn effective_kind(&self) -> QueryKind {
        match self.kind {
            QueryKind::Judged if !self.judged.values().any(|&grade| grade > 0) => QueryKind::Unanswerable,
            kind => kind,
        }
    }

    /// Number of relevant documents by the judgements, found or not; 0 unless the query can be answered.
    pub fn relevant(&self) -> usize {
        match self.effective_kind() {
            QueryKind::Judged => self.judged.values().filter(|&&grade| grade > 0).count(),
            _ => 0,
        }
    }

    /// Returns true if the document at `position` of the pool is relevant; false past its end.
    pub fn is_relevant(&self, position: usize) -> bool {
        self.effective_kind() == QueryKind::Judged
            && self
                .documents
                .get(position)
                .and_then(|document| self.judged.get(&document.id))
                .is_some_and(|&grade| grade > 0)
    }
}

/// A method's decision on one query's pool.
///
/// ```
/// use tamis_eval::Decision;
///
/// let decision = Decision { probabilities: Some(vec![0.9, 0.6, 0.1]), ..Decision::keep(2) };
/// assert_eq!(decision.keep, 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Number of documents kept, from the best of the method's [`ranking`](Self::ranking); at most its length.
    pub keep: usize,
    /// The method's own order, where it has one: positions in the pool, best first, each at most once; `None` for the pool's
    /// order. Documents it leaves out cannot be kept. The method's share of the best F1 compares with the best prefix of this
    /// order, so that it measures the cut alone.
    pub ranking: Option<Vec<usize>>,
    /// Probability of relevance of each document **of the pool**, in the pool's order, each in 0..=1.
    pub probabilities: Option<Vec<f64>>,
    /// The method's evidence that there is anything to keep: finite, higher is more. Without it, the highest probability
    /// counts.
    pub evidence: Option<f64>,
    /// Numbers kept at other retrieval depths: (depth, keep), with depth in the caller's unit, such as candidates per retriever.
    /// Empty where stability is not measured. The deepest is the reference for the others.
    pub keep_at_depth: Vec<(usize, usize)>,
    /// Time of the decision in microseconds, where it was measured.
    pub microseconds: Option<f64>,
}

impl Decision {
    /// Keeps the first `keep` documents of the pool.
    pub fn keep(keep: usize) -> Self {
        Decision { keep, ..Decision::default() }
    }

    /// The evidence, or else the highest probability.
    pub(crate) fn evidence(&self) -> Option<f64> {
        let highest = |probabilities: &Vec<f64>| probabilities.iter().copied().fold(0.0, f64::max);
        self.evidence.or_else(|| self.probabilities.as_ref().map(highest))
    }

    /// Checks the decision against a pool of `documents`.
    fn check(&self, documents: usize) -> Result<(), String> {
        let mut length = documents;
        if let Some(ranking) = &self.ranking {
            let mut seen = BTreeSet::new();
            for &position in ranking {
                if position >= documents {
                    return Err(format!(
                        "the ranking names position {position} of a pool of {documents}, counted from 0"
                    ));
                }
                if !seen.insert(position) {
                    return Err(format!("the ranking names position {position} twice"));
                }
            }
            length = ranking.len();
        }
        if self.keep > length {
            return Err(format!("{} documents are kept of {length}", self.keep));
        }
        if let Some(probabilities) = &self.probabilities {
            if probabilities.len() != documents {
                return Err(format!("{} probabilities for a pool of {documents}", probabilities.len()));
            }
            if let Some(value) = probabilities.iter().find(|value| !(0.0..=1.0).contains(*value)) {
                return Err(format!("probability {value} is not between 0 and 1"));
            }
        }
        if let Some(value) = [self.evidence, self.microseconds].into_iter().flatten().find(|value| !value.is_finite()) {
            return Err(format!("evidence and time must be finite, and one is {value}"));
        }
        let mut depths = BTreeSet::new();
        for &(depth, _) in &self.keep_at_depth {
            if !depths.insert(depth) {
                return Err(format!("depth {depth} is there twice"));
            }
        }
        Ok(())
    }
}

/// A way of cutting, with its decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Name in the tables, unique within the collection and different from those of the reference methods.
    pub name: String,
    /// One decision for each query of the collection, in the same order.
    pub decisions: Vec<Decision>,
}

/// A test collection after retrieval: its queries with their pools, and the methods' decisions on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Collection {
    /// Name in the tables, unique in the evaluation.
    pub name: String,
    /// Name of the model or engine that retrieved. `None` where it is unknown.
    pub model: Option<String>,
    /// The queries, each with a unique identifier.
    pub queries: Vec<QueryPool>,
    /// The methods to compare. [`evaluate`](crate::evaluate()) adds the reference methods.
    pub methods: Vec<Method>,
}

impl Collection {
    /// Checks that names are unique, every score is finite, and every decision fits its pool.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn check(&self) -> Result<(), EvalError> {
        if self.queries.is_empty() {
            return Err(EvalError::NoQueries { collection: self.name.clone() });
        }
        let here = || format!("collection {:?}", self.name);
        unique("query", self.queries.iter().map(|query| query.id.as_str()), here)?;
        unique("method", self.methods.iter().map(|method| method.name.as_str()), here)?;
        for query in &self.queries {
            let documents = query.documents.iter().map(|document| document.id.as_str());
            unique("document", documents.chain(query.beyond.iter().map(String::as_str)), || {
                format!("query {:?} of collection {:?}", query.id, self.name)
            })?;
            if let Some(document) = query.documents.iter().find(|document| !document.score.is_finite()) {
                return Err(EvalError::Score {
                    collection: self.name.clone(),
                    query: query.id.clone(),
                    document: document.id.clone(),
                    score: document.score,
                });
            }
        }
        for method in &self.methods {
            if method.decisions.len() != self.queries.len() {
                return Err(EvalError::Decisions {
                    method: method.name.clone(),
                    collection: self.name.clone(),
                    expected: self.queries.len(),
                    found: method.decisions.len(),
                });
            }
            for (query, decision) in self.queries.iter().zip(&method.decisions) {
                decision.check(query.documents.len()).map_err(|problem| EvalError::Decision {
                    method: method.name.clone(),
                    collection: self.name.clone(),
                    query: query.id.clone(),
                    problem,
                })?;
            }
        }
        Ok(())
    }
}

/// Refuses the first of `names` that occurs twice.
pub fn unique<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a str>,
    place: impl Fn() -> String,
) -> Result<(), EvalError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(EvalError::Duplicate { what, name: name.to_owned(), place: place() });
        }
    }
    Ok(())
}

// Errors in the data of an evaluation.

/// A file of judgements or results that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A line with another number of columns than the format has.
    #[error("{file}, line {line}: {found} columns where {expected} were expected: {text:?}")]
    Columns {
        /// Name of the file as the caller gave it.
        file: String,
        /// Line number, counted from 1.
        line: usize,
        /// The expected columns, in words.
        expected: &'static str,
        /// Number of columns of the line.
        found: usize,
        /// The line, shortened where it is long.
        text: String,
    },
    /// A column without the number it should hold.
    #[error("{file}, line {line}: the {column} is {value:?}, and {expected} was expected")]
    Number {
        /// Name of the file as the caller gave it.
        file: String,
        /// Line number, counted from 1.
        line: usize,
        /// The column: `grade` or `score`.
        column: &'static str,
        /// The text found there.
        value: String,
        /// The expected value, in words.
        expected: &'static str,
    },
    /// The same document twice for one query in a run, or twice with different grades in the judgements.
    #[error(
        "{file}, line {line}: document {document:?} was already given for query {query:?} on line {first}; \
         leave one of the two lines out"
    )]
    Duplicate {
        /// Name of the file as the caller gave it.
        file: String,
        /// Line number of the second mention, counted from 1.
        line: usize,
        /// Line number of the first mention, counted from 1.
        first: usize,
        /// Identifier of the query.
        query: String,
        /// Identifier of the document.
        document: String,
    },
    /// A file without a line of data.
    #[error("{file} has no {what}; give a file with at least one line of them")]
    Empty {
        /// Name of the file as the caller gave it.
        file: String,
        /// The missing data: `judgements` or `results`.
        what: &'static str,
    },
}

/// Data or options that make no evaluation.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EvalError {
    /// No collection was given.
    #[error("there is nothing to evaluate: give at least one collection")]
    NoCollections,
    /// A collection without queries.
    #[error("collection {collection:?} has no queries; leave it out")]
    NoQueries {
        /// Name of the collection.
        collection: String,
    },
    /// A name that occurs twice.
    #[error("{what} {name:?} is there twice in {place}; names must differ")]
    Duplicate {
        /// The kind of name: `collection`, `method`, `query` or `document`.
        what: &'static str,
        /// The name that occurs twice.
        name: String,
        /// The place: the evaluation, a collection, or a query of a collection.
        place: String,
    },
    /// A method with the name of a reference method, which every evaluation has.
    #[error(
        "method {method:?} in collection {collection:?} has the name of a reference method; call it something else"
    )]
    ReservedName {
        /// Name of the method.
        method: String,
        /// Name of the collection.
        collection: String,
    },
    /// A method with more or fewer decisions than queries.
    #[error(
        "method {method:?} has {found} decisions in collection {collection:?}, which has {expected} queries; \
         give one decision for each query, in the order of the queries"
    )]
    Decisions {
        /// Name of the method.
        method: String,
        /// Name of the collection.
        collection: String,
        /// Number of queries of the collection.
        expected: usize,
        /// Number of decisions of the method.
        found: usize,
    },
    /// A decision that does not fit its pool.
    #[error("method {method:?}, collection {collection:?}, query {query:?}: {problem}")]
    Decision {
        /// Name of the method.
        method: String,
        /// Name of the collection.
        collection: String,
        /// Identifier of the query.
        query: String,
        /// The fault, with the value and the expectation.
        problem: String,
    },
    /// A score that is not finite.
    #[error(
        "collection {collection:?}, query {query:?}: document {document:?} has score {score}; drop such documents first"
    )]
    Score {
        /// Name of the collection.
        collection: String,
        /// Identifier of the query.
        query: String,
        /// Identifier of the document.
        document: String,
        /// The score.
        score: f64,
    },
    /// A baseline that is not among the methods.
    #[error("the baseline {baseline:?} is not among the methods of collection {collection:?}: {}", known.join(", "))]
    UnknownBaseline {
        /// The baseline as given.
        baseline: String,
        /// Name of the collection that lacks it.
        collection: String,
        /// Names of the collection's methods.
        known: Vec<String>,
    },
    /// An option out of its range.
    #[error("{option} = {value} is out of range: {expected}")]
    Option {
        /// Name of the field of [`Options`](crate::Options).
        option: &'static str,
        /// The value as given.
        value: String,
        /// The allowed values, in words.
        expected: &'static str,
    },
}

/// A report that cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Text in another form than a report's JSON.
    #[error("{file} is not an evaluation report: {source}; write one with `Report::to_json`")]
    Json {
        /// Name of the file as the caller gave it.
        file: String,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A report of another version of the format.
    #[error("{file} has report format {found}, and this version reads {}; evaluate again", crate::FORMAT)]
    Format {
        /// Name of the file as the caller gave it.
        file: String,
        /// The format that the file states.
        found: u64,
    },
}
