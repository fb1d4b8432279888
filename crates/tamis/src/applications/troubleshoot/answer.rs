//! The answer to a problem. Its JSON form is a contract.

use super::thread::Thread;
use crate::search::CutReport;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Similar problems that were already solved; there may be none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Troubleshooting {
    /// The problem as it was searched for: title and body.
    pub query: String,
    /// The number of the issue asked about; null for a problem in words.
    pub issue: Option<u64>,
    /// The identifier under which the search is recorded; null if it is not recorded.
    pub query_id: Option<String>,
    /// Solved issues similar to the problem, best first, each with its thread.
    pub matches: Vec<SolvedIssue>,
    /// Pages of the wiki, if no issue is similar to the problem.
    pub wiki: Vec<WikiPage>,
    /// The citation of each match or page: `[Issue #123]`, `[Wiki: Page Name]`.
    pub sources: Vec<String>,
    /// The fallback used if no issue is similar to the problem.
    pub fallback: Fallback,
    /// The reason for this answer, in one sentence.
    pub reason: String,
    /// The reason another model, or words alone, made the comparison.
    pub fallback_reason: Option<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The model that made the comparison.
    pub model: Option<String>,
    /// The limits in use.
    pub limits: TroubleshootingLimits,
    /// The number of passages of solved issues searched.
    pub searched: u64,
    /// Every issue that a leg proposed, best first, with its scores and decision.
    pub considered: Vec<Considered>,
    /// The cut of the proposed issues by the floor.
    pub cut: CutReport,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
}

impl Troubleshooting {
    /// Returns `true` if neither an issue nor a wiki page was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty() && self.wiki.is_empty()
    }
}

/// The source of an answer if no issue is similar to the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// Not needed: similar issues were found.
    None,
    /// The wiki was searched.
    Wiki,
    /// The index has no wiki.
    NoWiki,
}

/// The limits of a call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TroubleshootingLimits {
    /// The test an issue has to pass: `similarity` or `cut`.
    pub keep_by: String,
    /// The least similarity of an issue.
    pub similarity_threshold: f64,
    /// The most issues returned.
    pub max_results: usize,
    /// The number of characters shared by the threads.
    pub total_budget_chars: usize,
}

/// A solved issue similar to the problem.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SolvedIssue {
    /// Its number.
    pub number: u64,
    /// Its namespace.
    pub namespace: String,
    /// Its citation.
    pub source: String,
    /// Its title.
    pub title: String,
    /// `issue` or `pull_request`.
    pub kind: String,
    /// `closed` or `merged`.
    pub state: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// The time it was closed or merged.
    #[schemars(with = "Option<String>")]
    pub closed_at: Option<Timestamp>,
    /// Its address in a browser.
    pub url: Option<String>,
    /// Cosine similarity of its best passage to the problem.
    pub similarity: f64,
    /// Its score by reciprocal rank fusion.
    pub rrf: f64,
    /// Its rank in the lexical leg, from 1.
    pub lexical_rank: Option<usize>,
    /// Its rank in the semantic leg, from 1.
    pub semantic_rank: Option<usize>,
    /// Its conversation, shortened to its budget of characters.
    pub thread: Thread,
}

/// An issue that a leg proposed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Considered {
    /// Its number.
    pub number: u64,
    /// Its namespace.
    pub namespace: String,
    /// Its title.
    pub title: Option<String>,
    /// Cosine similarity of its best passage; null if none of its passages has a vector.
    pub similarity: Option<f64>,
    /// The best BM25 score of its passages; null if the lexical leg did not propose it.
    pub bm25: Option<f64>,
    /// Its score by reciprocal rank fusion.
    pub rrf: f64,
    /// True if it is part of the answer.
    pub kept: bool,
    /// The reason it was left out; null if it was kept.
    pub reason: Option<String>,
}

/// A page of the wiki that may help.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WikiPage {
    /// Its title, or else the name in its path.
    pub title: String,
    /// Its citation.
    pub source: String,
    /// Its namespace.
    pub namespace: String,
    /// Its path.
    pub path: String,
    /// The best similarity of one of its relevant passages to either query; null if nothing was compared.
    pub similarity: Option<f64>,
    /// The queries that found it.
    pub found_by: WikiFound,
    /// Its relevant sections, in the order of the page.
    pub text: String,
    /// The number of characters in the text.
    pub characters: usize,
    /// The most characters the text may have.
    pub budget: usize,
}

/// The queries that found a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WikiFound {
    /// The query of title and beginning of the body.
    Text,
    /// The query of keywords.
    Keywords,
    /// Both queries.
    Both,
}
