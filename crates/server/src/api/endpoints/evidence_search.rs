//! `/v1/evidence/search`: claims or fragments similar to a text.

use super::filters::{ENTRY_POINT, rule};
use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::Problem;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::evidence::{EvidenceTarget, VectorMatches, VectorSearchRequest};

pub(crate) struct EvidenceSearch;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Text to compare with: a claim, a question or a sentence.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Records to compare.
    #[serde(default)]
    target: Target,
    /// Only claims of this task, or fragments with an edge to one of them.
    #[schemars(length(min = 1, max = 200))]
    task: Option<String>,
    /// Most matches (default: 10).
    #[schemars(range(min = 1, max = 50))]
    top_k: Option<usize>,
    /// Least similarity; not together with cut (default: 0.5).
    #[schemars(range(min = 0.0, max = 1.0))]
    min_similarity: Option<f64>,
    /// Where relevance ends, METHOD[:PARAM=VALUE,…], in place of a least similarity.
    #[schemars(length(min = 1, max = 1000))]
    cut: Option<String>,
    /// Repository (default: the server's own).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    #[default]
    Claims,
    Fragments,
}

impl Endpoint for EvidenceSearch {
    const NAME: &'static str = "evidence_search";
    const PATH: &'static str = "/v1/evidence/search";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Find claims or fragments similar to a text";
    const DESCRIPTION: &'static str = "As `tamis evidence search --json`.";
    type Parameters = Parameters;
    type Answer = VectorMatches;

    fn kept(answer: &VectorMatches) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<VectorMatches, Problem> {
        Ok(call.index.evidence().vector_search(&VectorSearchRequest {
            target: match parameters.target {
                Target::Claims => EvidenceTarget::Claims,
                Target::Fragments => EvidenceTarget::Fragments,
            },
            task: parameters.task,
            top_k: parameters.top_k,
            min_similarity: parameters.min_similarity,
            cut: parameters.cut.as_deref().map(|cut| rule(call, cut)).transpose()?,
            namespace: parameters.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some(ENTRY_POINT.to_owned()),
            ..VectorSearchRequest::new(parameters.query)
        })?)
    }
}
