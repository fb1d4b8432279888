//! How past queries were answered.

use crate::call::Call;
use crate::lanes::Lane;
use crate::operation::{Failure, Operation, Route};
use jiff::tz::TimeZone;
use tamis::telemetry::StatsRequest;

pub(crate) struct Stats;

impl Operation for Stats {
    const NAME: &'static str = "stats";
    const LANE: Lane = Lane::Slow;
    type Request = StatsRequest;
    type Answer = tamis::telemetry::Stats;

    fn call(call: &Call<'_>, request: StatsRequest) -> Result<tamis::telemetry::Stats, Failure> {
        let namespace = call.one_namespace(request.namespace)?;
        let request = StatsRequest { namespace, time_zone: Some(TimeZone::UTC), ..request };
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

impl Route for Stats {
    const PATH: &'static str = "/v1/stats";
    const SUMMARY: &'static str = "Summarise how past queries were answered";
    const DESCRIPTION: &'static str = "As `tamis stats --json`. A token that is limited to namespaces gets the figures of one of \
        them, without texts and identifiers of queries.";
}
