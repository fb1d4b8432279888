//! Why nothing can be promised, with what would be needed.

use thiserror::Error;

use super::Guarantee;
use crate::text::figure;

/// Why a guarantee cannot be given.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GuaranteeError {
    /// A text that names no guarantee.
    #[error(
        "\"{text}\" is no guarantee; use recall=0.9 (expected recall), precision=0.8 or precision=0.8,confidence=0.95 (mean precision)"
    )]
    Malformed {
        /// The text as given.
        text: String,
    },
    /// A level that cannot be promised.
    #[error("{name}={value}: must be above 0 and below 1")]
    NotAllowed {
        /// What it is the level of: `recall`, `precision` or `confidence`.
        name: &'static str,
        /// The level as given.
        value: f64,
    },
    /// Fewer judged queries than the promise needs.
    #[error(
        "{guarantee} cannot be guaranteed from {}: at least {need} are needed, {} more",
        judged(*have, guarantee), need.saturating_sub(*have)
    )]
    TooFew {
        /// What was to be promised.
        guarantee: Guarantee,
        /// Judged queries that count: for recall those with a relevant passage, for precision all.
        have: usize,
        /// The least number that suffices if further queries are like those judged.
        need: usize,
    },
    /// No number of judged queries like these allows the promise.
    #[error(
        "{guarantee} cannot be guaranteed: {}, and more judged queries like these would not change that",
        reached(guarantee, *best, *queries)
    )]
    Unreachable {
        /// What was to be promised.
        guarantee: Guarantee,
        /// The best mean recall or precision that any threshold reaches on the judged queries.
        best: f64,
        /// How many judged queries there are that count.
        queries: usize,
    },
    /// A judged query that cannot be read.
    #[error("judged query {position}: {reason}")]
    Query {
        /// Its position, from 0.
        position: usize,
        /// What is wrong with it.
        reason: String,
    },
}

fn judged(count: usize, guarantee: &Guarantee) -> String {
    let queries = if count == 1 { "query" } else { "queries" };
    match guarantee {
        Guarantee::Recall { .. } => format!("{count} judged {queries} with a relevant passage"),
        Guarantee::Precision { .. } => format!("{count} judged {queries}"),
    }
}

fn reached(guarantee: &Guarantee, best: f64, queries: usize) -> String {
    let judged = judged(queries, guarantee);
    match guarantee {
        Guarantee::Recall { .. } => format!("keeping the whole pool reaches a recall of {} on {judged}", figure(best)),
        Guarantee::Precision { .. } => format!("the best thresholds reach a precision of {} on {judged}", figure(best)),
    }
}
