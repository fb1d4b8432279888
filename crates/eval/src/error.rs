//! Errors in the data of an evaluation.

use thiserror::Error;

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
