//! The relevance prior: the expectations for a collection before a query's search.

use tamis_cut::{Profile, Relevance};

/// The model of where relevance ends, and the typical evidence of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RelevancePrior {
    pub relevance: Relevance,
    pub usual_evidence: Option<f64>,
}

impl From<&Profile> for RelevancePrior {
    fn from(profile: &Profile) -> Self {
        RelevancePrior { relevance: Relevance::of(profile), usual_evidence: profile.usual_evidence }
    }
}
