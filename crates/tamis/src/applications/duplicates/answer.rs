//! The request and the answer of a search for duplicates. The JSON form is a contract.

use crate::search::CutReport;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The issue whose duplicates are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DuplicateQuestion {
    /// An issue of the index, by number.
    Issue(u64),
    /// An issue that is not in the index.
    Text {
        /// Its title.
        title: String,
        /// Its body; can be empty.
        body: String,
    },
}

/// A search for duplicates.
#[derive(Clone, Debug)]
pub struct DuplicatesRequest {
    /// The issue whose duplicates are wanted.
    pub question: DuplicateQuestion,
    /// Restricts the search to issues in one of these states (`open`, `closed`, `merged`, …). Empty: all.
    pub states: Vec<String>,
    /// The namespace that is searched first. `None`: the index's own, if it has one.
    pub namespace: Option<String>,
    /// The namespaces that the caller may read; nothing else is read. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
    /// The entry point recorded for the call. `None`: `duplicates`.
    pub entry_point: Option<String>,
}

impl DuplicatesRequest {
    /// Creates a request with the configuration's settings.
    #[must_use]
    pub fn new(question: DuplicateQuestion) -> Self {
        DuplicatesRequest { question, states: Vec::new(), namespace: None, allowed_namespaces: None, entry_point: None }
    }
}

/// The likely duplicates of an issue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Duplicates {
    /// The number of the issue asked about; null for one that is not in the index.
    pub issue: Option<u64>,
    /// Its title.
    pub title: String,
    /// The identifier under which the search is recorded; null if it is not recorded.
    pub query_id: Option<String>,
    /// Likely duplicates, best first.
    pub duplicates: Vec<ConsideredDuplicate>,
    /// The reason for the number of duplicates, in one sentence.
    pub reason: String,
    /// The reason another model, or words alone, made the comparison.
    pub fallback_reason: Option<String>,
    /// The model that made the comparison.
    pub model: Option<String>,
    /// The least likeness of a duplicate, in [0, 1].
    pub min_likeness: f64,
    /// The number of passages searched.
    pub searched: u64,
    /// Every issue that was compared, best first.
    pub considered: Vec<ConsideredDuplicate>,
    /// The cut of the compared issues.
    pub cut: CutReport,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
}

/// An issue that may be a duplicate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ConsideredDuplicate {
    /// Its number.
    pub number: u64,
    /// Its namespace.
    pub namespace: String,
    /// Its title.
    pub title: String,
    /// `issue` or `pull_request`.
    pub kind: String,
    /// `open`, `closed` or `merged`.
    pub state: String,
    /// The time it was written.
    #[schemars(with = "Option<String>")]
    pub created_at: Option<Timestamp>,
    /// Its address in a browser.
    pub url: Option<String>,
    /// Similarity and shared words combined, in [0, 1].
    pub likeness: f64,
    /// Cosine similarity of its body's best passage, averaged over the index's models.
    pub similarity: f64,
    /// The weighted share of words in common, averaged over both directions, in [0, 1].
    pub shared_words: f64,
    /// The score it is ranked by: likeness, plus a little for having been written at about the same time.
    pub score: f64,
}
