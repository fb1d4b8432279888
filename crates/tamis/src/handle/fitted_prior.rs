//! What was last fitted to labels, kept so that searches do not fit it again until the labels change.

use std::collections::HashMap;
use std::sync::Mutex;
use tamis_cut::Relevance;
use tamis_rank::Shift;
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

/// The last shifts of the model of relevance.
#[derive(Debug, Default)]
pub(crate) struct FittedShifts(pub Mutex<Option<Shifts>>);

/// The shifts of the model of relevance that judgements justify.
#[derive(Debug)]
pub(crate) struct Shifts {
    /// The judgements that they rest on, as a [`LabelVersion`] has them.
    pub judgements: (i64, i64),
    /// Each by the searches that it holds for.
    pub by_key: HashMap<ShiftKey, Shift>,
}

/// The searches whose judgements speak for each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ShiftKey {
    pub namespace: String,
    pub model: Option<String>,
    pub mode: String,
    /// The reranker that read the first entries, if one did.
    pub reranker: Option<String>,
}
