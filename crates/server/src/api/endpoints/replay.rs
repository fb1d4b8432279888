//! `/v1/replay`: what other cuts would have kept of past searches.

use super::filters::{moment, one_namespace};
use crate::api::endpoint::Endpoint;
use crate::api::problem::Problem;
use crate::lanes::Lane;
use crate::tool::Call;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::telemetry::{REPLAYED, ReplayRequest};

pub(crate) struct Replay;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The cuts to try, each as METHOD[:PARAM=VALUE,…]; repeat for several.
    #[schemars(length(min = 1, max = 6), inner(length(min = 1, max = 1000)), extend("x-whole" = true))]
    cuts: Vec<String>,
    /// Only searches since then: 2025-01-31, 7d, yesterday.
    #[schemars(length(min = 1, max = 100))]
    since: Option<String>,
    /// Only searches before then.
    #[schemars(length(min = 1, max = 100))]
    until: Option<String>,
    /// Only searches of this namespace (default: all; for a token that is limited to several, one has to be named).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
    /// Most searches replayed, latest first.
    #[schemars(range(min = 1, max = 2000))]
    #[serde(default = "limit")]
    limit: usize,
}

fn limit() -> usize {
    REPLAYED
}

impl Endpoint for Replay {
    const NAME: &'static str = "replay";
    const PATH: &'static str = "/v1/replay";
    const SUMMARY: &'static str = "Decide past searches again with other cuts, and compare";
    const DESCRIPTION: &'static str = "As `tamis stats --replay --json`. A token that is limited to namespaces gets the figures of one \
        of them, without examples.";
    const LANE: Lane = Lane::Slow;
    type Parameters = Parameters;
    type Answer = tamis::telemetry::Replay;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<tamis::telemetry::Replay, Problem> {
        let mut replay = call.index.statistics().replay(&ReplayRequest {
            cuts: parameters.cuts,
            since_ms: moment("since", parameters.since.as_deref())?.map(Timestamp::as_millisecond),
            until_ms: moment("until", parameters.until.as_deref())?.map(Timestamp::as_millisecond),
            namespace: one_namespace(call, parameters.namespace)?,
            limit: parameters.limit,
        })?;
        if call.caller.namespaces.is_some() {
            replay.examples.clear();
            replay.notes.clear();
            replay.unreadable = 0;
        }
        Ok(replay)
    }
}
