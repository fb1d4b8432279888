//! The fragments about a claim.

use crate::call::Call;
use crate::operation::{Failure, Operation, Route};
use tamis::evidence::{RankRequest, RankedEvidence};

pub(crate) struct EvidenceRank;

impl Operation for EvidenceRank {
    const NAME: &'static str = "evidence_rank";
    type Request = RankRequest;
    type Answer = RankedEvidence;

    fn kept(answer: &RankedEvidence) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, request: RankRequest) -> Result<RankedEvidence, Failure> {
        Ok(call.index.evidence().rank(&RankRequest {
            allowed_namespaces: call.allowed(),
            entry_point: Some(call.entry_point.to_owned()),
            ..request
        })?)
    }
}

impl Route for EvidenceRank {
    const PATH: &'static str = "/v1/evidence/rank";
    const SUMMARY: &'static str = "Rank the fragments about a claim";
    const DESCRIPTION: &'static str = "As `tamis evidence rank --json`. It stores no edges.";
}
