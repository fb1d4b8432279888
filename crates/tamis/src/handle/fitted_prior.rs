//! The relevance prior that was fitted last, kept so that searches under the same conditions do not fit it again.

use std::sync::Mutex;
use tamis_cut::Relevance;
use tamis_store::{LabelVersion, ScoringKey};

/// The relevance fitted last, and what it was fitted to.
#[derive(Debug, Default)]
pub(crate) struct FittedPrior(pub Mutex<Option<(PriorKey, Relevance)>>);

/// What a fit depends on. Nothing is fitted anew while this stays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PriorKey {
    pub labels: LabelVersion,
    pub namespace: String,
    pub model: Option<String>,
    pub mode: String,
    pub scoring: ScoringKey,
    /// The prior moves a little with every query; a hundredth of a level changes no decision worth a new fit.
    pub prior: i64,
}
