//! The last fitted relevance prior, kept so that searches under the same conditions do not fit it again.

use std::sync::Mutex;
use tamis_cut::Relevance;
use tamis_store::{LabelVersion, ScoringKey};

/// The last fitted relevance and the key of its fit.
#[derive(Debug, Default)]
pub(crate) struct FittedPrior(pub Mutex<Option<(PriorKey, Relevance)>>);

/// The inputs of a fit. The fit is reused as long as they stay the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PriorKey {
    pub labels: LabelVersion,
    pub namespace: String,
    pub model: Option<String>,
    pub mode: String,
    pub scoring: ScoringKey,
}
