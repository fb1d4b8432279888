//! `/v1/stats`: how past queries were answered.

use super::filters::{moment, one_namespace};
use crate::api::endpoint::Endpoint;
use crate::api::problem::Problem;
use crate::lanes::Lane;
use crate::tool::Call;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::telemetry::StatsRequest;

pub(crate) struct Stats;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Only queries since then: 2025-01-31, 7d, yesterday.
    #[schemars(length(min = 1, max = 100))]
    since: Option<String>,
    /// Only queries before then.
    #[schemars(length(min = 1, max = 100))]
    until: Option<String>,
    /// Only queries of this namespace (default: all; for a token that is limited to several, one has to be named).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Endpoint for Stats {
    const NAME: &'static str = "stats";
    const PATH: &'static str = "/v1/stats";
    const SUMMARY: &'static str = "Summarise how past queries were answered";
    const DESCRIPTION: &'static str = "As `tamis stats --json`. A token that is limited to namespaces gets the figures of one of \
        them, without texts and identifiers of queries.";
    const LANE: Lane = Lane::Slow;
    type Parameters = Parameters;
    type Answer = tamis::telemetry::Stats;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<tamis::telemetry::Stats, Problem> {
        let request = StatsRequest {
            since_ms: moment("since", parameters.since.as_deref())?.map(Timestamp::as_millisecond),
            until_ms: moment("until", parameters.until.as_deref())?.map(Timestamp::as_millisecond),
            namespace: one_namespace(call, parameters.namespace)?,
            time_zone: Some(TimeZone::UTC),
            ..StatsRequest::default()
        };
        let mut stats = call.index.statistics().summarize(&request)?;
        if call.caller.namespaces.is_some() {
            // Others may have asked these, and reasons name models and counts of the whole index.
            stats.slowest.clear();
            stats.fallbacks.clear();
            stats.opened = Default::default();
            stats.judgements = Default::default();
        }
        Ok(stats)
    }
}
