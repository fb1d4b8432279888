//! `/v1/evidence/rank`: the fragments about a claim.

use super::filters::{ENTRY_POINT, rule};
use crate::api::endpoint::Endpoint;
use crate::api::problem::Problem;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::evidence::{RankRequest, RankedEvidence};

pub(crate) struct EvidenceRank;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Identifier of the claim.
    #[schemars(length(min = 1, max = 1000))]
    claim: String,
    /// Only fragments with an edge to a claim of one of these tasks.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    tasks: Vec<String>,
    /// Where relevance ends, METHOD[:PARAM=VALUE,…] (default: evidence.cut).
    #[schemars(length(min = 1, max = 1000))]
    cut: Option<String>,
    /// Most fragments (default: all relevant ones).
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<usize>,
    /// Repository (default: the server's own).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Endpoint for EvidenceRank {
    const NAME: &'static str = "evidence_rank";
    const PATH: &'static str = "/v1/evidence/rank";
    const SUMMARY: &'static str = "Rank the fragments about a claim";
    const DESCRIPTION: &'static str = "As `tamis evidence rank --json`. It stores no edges.";
    type Parameters = Parameters;
    type Answer = RankedEvidence;

    fn kept(answer: &RankedEvidence) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<RankedEvidence, Problem> {
        Ok(call.index.evidence().rank(&RankRequest {
            tasks: parameters.tasks,
            cut: parameters.cut.as_deref().map(|cut| rule(call, cut)).transpose()?,
            limit: parameters.limit,
            namespace: parameters.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some(ENTRY_POINT.to_owned()),
            ..RankRequest::new(parameters.claim)
        })?)
    }
}
