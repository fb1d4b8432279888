//! What can be wrong with the data of an evaluation.

use thiserror::Error;

/// Why a file of judgements or of results cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// A line with another number of columns than the format has.
    #[error("{file}, line {line}: {found} columns where {expected} were expected: {text:?}")]
    Columns {
        /// Name of the file as the caller gave it.
        file: String,
        /// Line number, counted from 1.
        line: usize,
        /// What the format asks for, in words.
        expected: &'static str,
        /// How many columns the line has.
        found: usize,
        /// The line, shortened where it is long.
        text: String,
    },
    /// A column that should hold a number and does not.
    #[error("{file}, line {line}: the {column} is {value:?}, and {expected} was expected")]
    Number {
        /// Name of the file as the caller gave it.
        file: String,
        /// Line number, counted from 1.
        line: usize,
        /// Which column: `grade` or `score`.
        column: &'static str,
        /// What stands there.
        value: String,
        /// What should stand there, in words.
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
    /// No line of data at all.
    #[error("{file} holds no {what}; give a file with at least one line of them")]
    Empty {
        /// Name of the file as the caller gave it.
        file: String,
        /// What was looked for: `judgements` or `results`.
        what: &'static str,
    },
}

/// Why an evaluation cannot be made from the data given.
#[derive(Debug, Clone, PartialEq, Error)]
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
    /// Two things of one kind with one name.
    #[error("{what} {name:?} is there twice in {place}; names must differ")]
    Duplicate {
        /// The kind of thing: `collection`, `method`, `query` or `document`.
        what: &'static str,
        /// The name that occurs twice.
        name: String,
        /// Where: the evaluation, a collection, or a query of a collection.
        place: String,
    },
    /// A method whose name is that of a reference method that every evaluation has.
    #[error(
        "method {method:?} in collection {collection:?} has the name of a reference method; call it something else"
    )]
    ReservedName {
        /// Name of the method.
        method: String,
        /// Name of the collection.
        collection: String,
    },
    /// A method that does not decide exactly once per query.
    #[error(
        "method {method:?} has {found} decisions in collection {collection:?}, which has {expected} queries; \
         give one decision for each query, in the order of the queries"
    )]
    Decisions {
        /// Name of the method.
        method: String,
        /// Name of the collection.
        collection: String,
        /// How many queries the collection has.
        expected: usize,
        /// How many decisions the method has.
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
        /// What does not fit, with the value and what was expected.
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
    /// A baseline that is none of the methods.
    #[error("the baseline {baseline:?} is not among the methods of collection {collection:?}: {}", known.join(", "))]
    UnknownBaseline {
        /// The baseline as given.
        baseline: String,
        /// Name of the collection that lacks it.
        collection: String,
        /// Names of the methods that are there.
        known: Vec<String>,
    },
    /// An option out of its range.
    #[error("{option} = {value} is out of range: {expected}")]
    Option {
        /// Name of the field of [`Options`](crate::Options).
        option: &'static str,
        /// The value as given.
        value: String,
        /// What is allowed, in words.
        expected: &'static str,
    },
}

/// Why a report cannot be read back.
#[derive(Debug, Error)]
pub enum ReportError {
    /// Not JSON, or not a report.
    #[error("{file} is no evaluation report: {source}; make one with JSON as its output form")]
    Json {
        /// Name of the file as the caller gave it.
        file: String,
        /// What the parser says.
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
