//! `/v1/related`: similar passages, and definitions and uses of names.

use crate::api::endpoint::Endpoint;
use crate::api::problem::Problem;
use crate::labels::note_opened;
use crate::lanes::Lane;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::related::{RelatedBy, RelatedRequest};

pub(crate) struct Related;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Identifier of a result, or PATH:LINE for any line of a passage.
    #[schemars(length(min = 1, max = 4000))]
    id: String,
    /// By meaning (vector) or by the names that code uses (reference) (default: both).
    by: Option<By>,
    /// Most results of each relation (default: search.top_k).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum By {
    Vector,
    Reference,
}

impl Endpoint for Related {
    const NAME: &'static str = "related";
    const PATH: &'static str = "/v1/related";
    const SUMMARY: &'static str = "Find passages like one, what it uses, and what uses it";
    const DESCRIPTION: &'static str = "As `tamis related --json`.";
    const LANE: Lane = Lane::Slow;
    type Parameters = Parameters;
    type Answer = tamis::related::Related;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<tamis::related::Related, Problem> {
        let found = call.index.related().find(&RelatedRequest {
            by: parameters.by.map(|by| match by {
                By::Vector => RelatedBy::Vector,
                By::Reference => RelatedBy::Reference,
            }),
            limit: parameters.limit,
            allowed_namespaces: call.allowed(),
            ..RelatedRequest::new(parameters.id)
        }, call.observer)?;
        note_opened(call, &found, "http related");
        Ok(found)
    }
}
