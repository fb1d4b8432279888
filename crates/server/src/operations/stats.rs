//! How past queries were answered.

use jiff::tz::TimeZone;
use tamis::telemetry::{ReplayRequest, StatsRequest};

use crate::call_queue::Lane;
use crate::operation::{Call, Failure, Operation, Route};

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

// What other cuts would have kept of past searches.

pub(crate) struct Replay;

impl Operation for Replay {
    const NAME: &'static str = "replay";
    const LANE: Lane = Lane::Slow;
    type Request = ReplayRequest;
    type Answer = tamis::telemetry::Replay;

    fn call(call: &Call<'_>, request: ReplayRequest) -> Result<tamis::telemetry::Replay, Failure> {
        let namespace = call.one_namespace(request.searches.namespace)?;
        let searches = StatsRequest { namespace, ..request.searches };
        let mut replay = call.index.statistics().replay(&ReplayRequest { searches, ..request })?;
        if call.caller.namespaces.is_some() {
            replay.examples.clear();
            replay.notes.clear();
            replay.unreadable = 0;
        }
        Ok(replay)
    }
}

impl Route for Replay {
    const PATH: &'static str = "/v1/replay";
    const SUMMARY: &'static str = "Decide past searches again with other cuts, and compare";
    const DESCRIPTION: &'static str = "As `tamis stats --replay --json`. A token that is limited to namespaces gets the figures of one \
        of them, without examples.";
}
