//! Answers a problem from what was already solved: closed issues with their threads, shortened to a budget of characters,
//! and the wiki if no issue is similar. The answer can be empty.
//!
//! Reading order: [`request`](TroubleshootRequest) → `troubleshooter` (both retrievers, the floor, the wiki) → `budget` and
//! `thread` (the part of each conversation to return) → `answer` → `markdown`. The rest is pure: [`keywords`],
//! [`shorten`], [`budgets`], [`assemble`].

mod thread;
mod troubleshooter;
mod wiki;

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::config::{Allowed, TroubleshootingConfig, Value};
#[cfg(feature = "clap")]
use crate::flag_values::{share, whole};
use crate::handle::Index;
use crate::search::{Asker, CutReport};

pub use thread::{BodyLengths, CommentReason, Remark, Thread, ThreadComment, ThreadRules, assemble, shorten};
pub use troubleshooter::keywords;

/// Answers a problem from solved issues and the wiki. From [`Index::troubleshooting`].
#[derive(Clone, Copy)]
pub struct Troubleshooter<'a> {
    pub(super) index: &'a Index,
}

// The request to troubleshoot a problem.

/// A problem to be answered from solved issues: a title, a body or both, or an issue of the index.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TroubleshootRequest {
    /// The problem in one line, like the title of a report (default: none).
    #[schemars(length(max = 1000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TITLE"))]
    pub title: Option<String>,
    /// Everything known about it: error messages, steps taken, versions (default: nothing).
    #[schemars(length(max = 50_000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TEXT", requires = "title", conflicts_with = "body_file"))]
    pub body: Option<String>,
    /// Number of an issue of the index, in place of a title and a body; the issue itself is no answer.
    #[schemars(range(min = 1, max = 9_000_000_000_000_i64))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub issue: Option<u64>,
    /// Least similarity of a solved issue, 0 to 1 (default: triage.troubleshooting.similarity_threshold, by the model).
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(rename = "threshold")]
    #[cfg_attr(feature = "clap", arg(long = "threshold", value_name = "SIMILARITY", value_parser = share, allow_negative_numbers = true))]
    pub similarity_threshold: Option<f64>,
    /// Most solved issues, 1 to 10 (default: triage.troubleshooting.max_results, 3).
    #[schemars(range(min = 1, max = 10))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = whole::<1, 10>, allow_negative_numbers = true))]
    pub max_results: Option<usize>,
    /// Characters shared by the threads, 1000 to 50000 (default: triage.troubleshooting.total_budget_chars, 12000).
    #[schemars(range(min = 1000, max = 50_000))]
    #[serde(rename = "budget")]
    #[cfg_attr(feature = "clap", arg(long = "budget", value_name = "CHARACTERS", value_parser = whole::<1000, 50_000>, allow_negative_numbers = true))]
    pub total_budget_chars: Option<usize>,
    /// Repository to search first (default: this one, or all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

impl TroubleshootRequest {
    /// Creates a request for a problem in words, with the configuration's settings.
    #[must_use]
    pub fn text(title: impl Into<String>, body: impl Into<String>) -> Self {
        TroubleshootRequest { title: Some(title.into()), body: Some(body.into()), ..TroubleshootRequest::default() }
    }

    /// Creates a request for the problem of an issue of the index, by number.
    #[must_use]
    pub fn issue(number: u64) -> Self {
        TroubleshootRequest { issue: Some(number), ..TroubleshootRequest::default() }
    }

    /// The configuration's settings, overridden by those of the request.
    ///
    /// # Errors
    /// A problem without words, or a value out of range.
    pub(crate) fn settings(&self, config: &TroubleshootingConfig) -> Result<TroubleshootingConfig, Error> {
        described("issue", self.issue, self.title.as_deref(), self.body.as_deref())?;
        let integer =
            |value: Option<usize>| value.map(|value| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)));
        in_range("similarity_threshold", self.similarity_threshold.map(Value::Number))?;
        in_range("max_results", integer(self.max_results))?;
        in_range("total_budget_chars", integer(self.total_budget_chars))?;
        Ok(TroubleshootingConfig {
            similarity_threshold: self.similarity_threshold.or(config.similarity_threshold),
            max_results: self.max_results.unwrap_or(config.max_results),
            total_budget_chars: self.total_budget_chars.unwrap_or(config.total_budget_chars),
            ..*config
        })
    }
}

/// Checks that a request has the number of an issue, or its words, and not both.
///
/// # Errors
/// It has neither, or both. `number` is the argument of the number.
pub(crate) fn described(
    number: &'static str,
    issue: Option<u64>,
    title: Option<&str>,
    body: Option<&str>,
) -> Result<(), Error> {
    let has_words = title.into_iter().chain(body).any(|text| !text.trim().is_empty());
    match issue {
        Some(issue) if has_words => Err(Error::argument(number, issue.to_string(), "without a title and a body")),
        None if !has_words => {
            Err(Error::argument("title", format!("{:?}", title.unwrap_or_default()), "a title, or a body"))
        }
        _ => Ok(()),
    }
}

/// Rejects a value that the configuration would reject too.
fn in_range(name: &'static str, value: Option<Value>) -> Result<(), Error> {
    let key = format!("triage.troubleshooting.{name}");
    let allowed =
        crate::config::keys().into_iter().find(|known| known.name == key).map_or(Allowed::Text, |key| key.allowed);
    match value {
        Some(value) if !allowed.takes(&value) => Err(Error::argument(name, value.to_string(), allowed.to_string())),
        _ => Ok(()),
    }
}

// The answer to a problem. Its JSON form is a contract.

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
    /// Every issue that a retriever proposed, best first, with its scores and decision.
    pub considered: Vec<Considered>,
    /// The cut of the proposed issues, or their floor.
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
    /// The test an issue has to pass: `cut` or `floor`.
    pub keep_by: String,
    /// The least similarity of an issue; the one in use where `auto` is set.
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
    /// Its similarity and its ranks.
    #[serde(flatten)]
    pub scores: IssueScores,
    /// Its conversation, shortened to its budget of characters.
    pub thread: Thread,
}

/// What a solved issue was ranked by.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct IssueScores {
    /// Cosine similarity of its best passage to the problem.
    pub similarity: f64,
    /// Its score by reciprocal rank fusion.
    pub rrf: f64,
    /// Its rank by the lexical retriever, from 1.
    pub lexical_rank: Option<usize>,
    /// Its rank by the semantic retriever, from 1.
    pub semantic_rank: Option<usize>,
}

/// An issue that a retriever proposed.
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
    /// The best BM25 score of its passages; null if the lexical retriever did not propose it.
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

// Divides the characters of an answer among its matches.

/// Divides `total` among the matches by similarity: ⌊sim / Σ sim · total⌋ each. A single match gets all of it; if every
/// similarity is zero, the shares are equal. A negative or NaN similarity counts as zero. The shares never add up to
/// more than `total`.
///
/// ```
/// assert_eq!(tamis::troubleshoot::budgets(&[0.9, 0.6], 1000), [600, 400]);
/// assert_eq!(tamis::troubleshoot::budgets(&[0.7], 1000), [1000]);
/// assert_eq!(tamis::troubleshoot::budgets(&[0.0, 0.0, 0.0], 1000), [333, 333, 333]);
/// ```
#[must_use]
pub fn budgets(similarities: &[f64], total: usize) -> Vec<usize> {
    let counts = |similarity: &f64| if similarity.is_finite() { similarity.clamp(0.0, 1.0) } else { 0.0 };
    let weights: Vec<f64> = similarities.iter().map(counts).collect();
    let sum: f64 = weights.iter().sum();
    if let [_] = weights.as_slice() {
        return vec![total];
    }
    if sum <= 0.0 {
        return vec![total / weights.len().max(1); weights.len()];
    }
    // One product before the division, so that 0.9 of 1.5 is exactly three fifths.
    weights.iter().map(|weight| (weight * total as f64 / sum).floor() as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use proptest::prelude::*;

    #[test]
    fn what_is_asked_goes_by_the_same_ranges_as_the_configuration() {
        let config = Config::built_in().triage.troubleshooting;
        let asked = TroubleshootRequest::text("It fails", "");
        assert_eq!(asked.settings(&config).ok(), Some(config));
        let more = TroubleshootRequest { max_results: Some(10), ..asked.clone() };
        assert_eq!(more.settings(&config).map(|settings| settings.max_results).ok(), Some(10));
        let wrong = [
            (TroubleshootRequest { max_results: Some(0), ..asked.clone() }, "max_results = 0: must be 1 to 10"),
            (
                TroubleshootRequest { similarity_threshold: Some(f64::NAN), ..asked.clone() },
                "similarity_threshold = NaN: must be \"auto\", or 0 to 1",
            ),
            (TroubleshootRequest { total_budget_chars: Some(usize::MAX), ..asked.clone() }, "must be 1000 to 50000"),
            (TroubleshootRequest::text(" ", "\n"), "title = \" \": must be a title, or a body"),
        ];
        for (request, message) in wrong {
            let error = request.settings(&config).expect_err("refused").to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn shares_go_by_similarity_and_are_rounded_down() {
        assert_eq!(budgets(&[0.8, 0.7, 0.5], 12_000), [4800, 4200, 3000]);
        assert_eq!(budgets(&[0.7, 0.7, 0.7], 1000), [333, 333, 333]);
        assert_eq!([budgets(&[0.5, 0.0], 1000), budgets(&[-0.2, f64::NAN], 1001)], [[1000, 0], [500, 500]]);
        assert!(budgets(&[], 1000).is_empty());
    }

    proptest! {
        #[test]
        fn never_more_than_the_whole_and_little_is_lost(
            similarities in proptest::collection::vec(-0.2f64..1.0, 1..12),
            total in 1000usize..50_000,
        ) {
            let shares = budgets(&similarities, total);
            prop_assert_eq!(shares.len(), similarities.len());
            let sum: usize = shares.iter().sum();
            prop_assert!(sum <= total && sum + similarities.len() >= total, "{sum} of {total}");
            for at in 1..shares.len() {
                let grows = similarities[at - 1] < similarities[at];
                prop_assert!(!grows || shares[at - 1] <= shares[at], "a more similar one gets no less");
            }
        }

        #[test]
        fn any_numbers_do_no_harm(similarities in proptest::collection::vec(proptest::num::f64::ANY, 0..6), total in 0usize..9000) {
            prop_assert!(budgets(&similarities, total).iter().sum::<usize>() <= total);
        }
    }
}
