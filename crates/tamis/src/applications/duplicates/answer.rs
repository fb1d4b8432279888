//! What is asked and what comes out. The JSON form is a contract.

use crate::search::CutReport;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Which issue duplicates are looked for of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DuplicateQuestion {
    /// One of the index.
    Issue(u64),
    /// One that is not in the index.
    Text {
        /// Its title.
        title: String,
        /// Its body; can be empty.
        body: String,
    },
}

/// A question for duplicates.
#[derive(Clone, Debug)]
pub struct DuplicatesRequest {
    /// Of which issue.
    pub question: DuplicateQuestion,
    /// Only issues in one of these states (`open`, `closed`, `merged`, …); empty: all.
    pub states: Vec<String>,
    /// The namespace that is searched first. `None`: the index's own, where it has one.
    pub namespace: Option<String>,
    /// The namespaces that the caller may read; nothing of others is touched. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
    /// Where the call comes from, as it is recorded; `None`: `duplicates`.
    pub entry_point: Option<String>,
}

impl DuplicatesRequest {
    /// A question with the configuration's settings.
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
    /// The identifier under which the search is recorded; null where it is not.
    pub query_id: Option<String>,
    /// Issues that are likely the same, best first.
    pub duplicates: Vec<ConsideredDuplicate>,
    /// Why there are so many, in one sentence.
    pub reason: String,
    /// Why another model, or words alone, compared.
    pub fallback_reason: Option<String>,
    /// The model that compared.
    pub model: Option<String>,
    /// Minimum likeness to the nearest issue for a duplicate.
    pub min_likeness: f64,
    /// Passages that were searched.
    pub searched: u64,
    /// Every issue that a leg proposed, best first.
    pub considered: Vec<ConsideredDuplicate>,
    /// How the proposed issues were cut.
    pub cut: CutReport,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
}

/// An issue that may be the same.
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
    /// When it was written.
    #[schemars(with = "Option<String>")]
    pub created_at: Option<Timestamp>,
    /// Where people read it.
    pub url: Option<String>,
    /// How alike the two are, in [0, 1]: similarity and shared words.
    pub likeness: f64,
    /// Cosine similarity of its body's best passage: the mean over the index's models.
    pub similarity: f64,
    /// The share of either's words, by weight, that the other has; the mean of both ways.
    pub shared_words: f64,
    /// What ranks it: its likeness, and a little for having been written at about the same time.
    pub score: f64,
}
