//! The prior of a collection: what is expected of it before a query is seen.

use tamis_cut::{Profile, Relevance};

/// Where relevance is likely to end, and what evidence queries usually have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Beliefs {
    pub relevance: Relevance,
    pub usual_evidence: Option<f64>,
}

impl From<&Profile> for Beliefs {
    fn from(profile: &Profile) -> Self {
        Beliefs { relevance: Relevance::of(profile), usual_evidence: profile.usual_evidence }
    }
}
