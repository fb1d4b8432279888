//! The request and the answer of a search for duplicates. The JSON form is a contract.

use crate::search::CutReport;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A search for duplicates of an issue of the index, or of one that is described by a title, a body or both.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DuplicatesRequest {
    /// Number of an issue of the index.
    #[schemars(range(min = 1, max = 9_000_000_000_000_i64))]
    #[cfg_attr(feature = "clap", arg(value_name = "N"))]
    pub number: Option<u64>,
    /// Title of an issue that isn't in the index.
    #[schemars(length(max = 1000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TITLE", conflicts_with = "number"))]
    pub title: Option<String>,
    /// Its body.
    #[schemars(length(max = 50_000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TEXT", requires = "title", conflicts_with = "body_file"))]
    pub body: Option<String>,
    /// Only issues in one of these states, such as open or closed (default: any).
    #[schemars(length(max = 10), inner(length(max = 20)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "state", value_name = "STATE", value_delimiter = ','))]
    pub states: Vec<String>,
    /// Repository to search first (default: this one, or all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// The namespaces that the caller may read; nothing else is read. `None`: all.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub allowed_namespaces: Option<Vec<String>>,
    /// The entry point recorded for the call. `None`: `duplicates`.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub entry_point: Option<String>,
}

impl DuplicatesRequest {
    /// Creates a request for the duplicates of an issue of the index.
    #[must_use]
    pub fn issue(number: u64) -> Self {
        DuplicatesRequest { number: Some(number), ..DuplicatesRequest::default() }
    }

    /// Creates a request for the duplicates of an issue that is not in the index.
    #[must_use]
    pub fn text(title: impl Into<String>, body: impl Into<String>) -> Self {
        DuplicatesRequest { title: Some(title.into()), body: Some(body.into()), ..DuplicatesRequest::default() }
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
