//! What is given for a trouble. Its JSON form is a contract.

use super::thread::Thread;
use crate::search::CutReport;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What was already solved that is like a trouble, which can be nothing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Troubleshooting {
    /// The trouble as it was searched for: title and body.
    pub query: String,
    /// The number of the issue that was asked about.
    pub issue: Option<u64>,
    /// The identifier under which the search is recorded; null where it is not.
    pub query_id: Option<String>,
    /// Solved issues like the trouble, best first, each with its thread.
    pub matches: Vec<SolvedIssue>,
    /// Pages of the wiki, where no issue is like the trouble.
    pub wiki: Vec<WikiPage>,
    /// How to cite each match or page: `[Issue #123]`, `[Wiki: Page Name]`.
    pub sources: Vec<String>,
    /// Whether the wiki was asked, since no issue is like the trouble.
    pub fallback: Fallback,
    /// Why the answer is what it is, in one sentence.
    pub reason: String,
    /// Why another model, or words alone, compared.
    pub fallback_reason: Option<String>,
    /// What did not go as it should.
    pub warnings: Vec<String>,
    /// The model that compared.
    pub model: Option<String>,
    /// The limits in use.
    pub limits: TroubleshootingLimits,
    /// Passages of solved issues that were searched.
    pub searched: u64,
    /// Every issue that a leg proposed, best first: kept or not, and its figures.
    pub considered: Vec<Considered>,
    /// How the cut or the floor ended the proposed issues.
    pub cut: CutReport,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
}

impl Troubleshooting {
    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty() && self.wiki.is_empty()
    }
}

/// Where an answer comes from when no issue is like the trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// None was needed: issues are like the trouble.
    None,
    /// The wiki was asked.
    Wiki,
    /// There is no wiki to ask.
    NoWiki,
}

/// The limits of a call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TroubleshootingLimits {
    /// What an issue had to stand up to: `cut` or `floor`.
    pub keep_by: String,
    /// Least similarity of an issue, which `auto` has chosen where none was set.
    pub similarity_threshold: f64,
    /// Most issues.
    pub max_results: usize,
    /// Characters that the threads share.
    pub total_budget_chars: usize,
}

/// A solved issue that is like the trouble.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SolvedIssue {
    /// Its number.
    pub number: u64,
    /// Its namespace.
    pub namespace: String,
    /// How to cite it.
    pub source: String,
    /// Its title.
    pub title: String,
    /// `issue` or `pull_request`.
    pub kind: String,
    /// `closed` or `merged`.
    pub state: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// When it was closed or merged.
    #[schemars(with = "Option<String>")]
    pub closed_at: Option<Timestamp>,
    /// Where people read it.
    pub url: Option<String>,
    /// Cosine similarity of its best passage to the trouble.
    pub similarity: f64,
    /// Its value by reciprocal rank fusion.
    pub rrf: f64,
    /// Its place in the lexical leg, from 1.
    pub lexical_rank: Option<usize>,
    /// Its place in the semantic leg, from 1.
    pub semantic_rank: Option<usize>,
    /// Its conversation in so many characters.
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
    /// Cosine similarity of its best passage; null where none of its passages has a vector.
    pub similarity: Option<f64>,
    /// The best BM25 of its passages, where the lexical leg proposed it.
    pub bm25: Option<f64>,
    /// Its value by reciprocal rank fusion.
    pub rrf: f64,
    /// Whether it is given.
    pub kept: bool,
    /// Why not; null for one that is.
    pub reason: Option<String>,
}

/// A page of the wiki that can help.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WikiPage {
    /// Its title, else the name in its path.
    pub title: String,
    /// How to cite it.
    pub source: String,
    /// Its namespace.
    pub namespace: String,
    /// Its path.
    pub path: String,
    /// The best similarity of a relevant passage of it to either query; null where nothing was compared.
    pub similarity: Option<f64>,
    /// Which queries found it.
    pub found_by: WikiFound,
    /// Its relevant sections, in the order of the page.
    pub text: String,
    /// Characters of the text.
    pub characters: usize,
    /// Characters that it may have.
    pub budget: usize,
}

/// Which of the two queries found a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WikiFound {
    /// Title and beginning of the body.
    Text,
    /// The keywords.
    Keywords,
    /// Both.
    Both,
}
