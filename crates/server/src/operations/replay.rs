//! What other cuts would have kept of past searches.

use crate::call::Call;
use crate::lanes::Lane;
use crate::operation::{Failure, Operation, Route};
use tamis::telemetry::{ReplayRequest, StatsRequest};

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
