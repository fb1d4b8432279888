//! Refusals of a guarantee, each with what would be needed.

use thiserror::Error;

use super::Guarantee;
use crate::reason::figure;

/// The refusal of a guarantee.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GuaranteeError {
    /// A text in another form than that of a guarantee.
    #[error(
        "\"{text}\" is not a guarantee; use recall=0.9 (expected recall), precision=0.8 or precision=0.8,confidence=0.95 (mean precision)"
    )]
    Malformed {
        /// The text as given.
        text: String,
    },
    /// A level that cannot be promised.
    #[error("{name}={value}: must be above 0 and below 1")]
    NotAllowed {
        /// Its name: `recall`, `precision` or `confidence`.
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
        /// The promise asked for.
        guarantee: Guarantee,
        /// Number of judged queries that count: for recall those with a relevant passage, for precision all.
        have: usize,
        /// The least number that suffices if further queries resemble those judged.
        need: usize,
    },
    /// No number of judged queries like these allows the promise.
    #[error(
        "{guarantee} cannot be guaranteed: {}, and more judged queries like these would not change that",
        reached(guarantee, *best, *queries)
    )]
    Unreachable {
        /// The promise asked for.
        guarantee: Guarantee,
        /// The best mean recall or precision that any threshold reaches on the judged queries.
        best: f64,
        /// Number of judged queries that count.
        queries: usize,
    },
    /// A judged query that cannot be read.
    #[error("judged query {position}: {reason}")]
    Query {
        /// Its position, from 0.
        position: usize,
        /// The fault.
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
