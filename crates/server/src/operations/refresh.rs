//! Reads the tree now.

use crate::api::problem::{Kind, Problem};
use crate::api::verbs::Verbs;
use crate::background::BackgroundState;
use crate::call::Call;
use crate::caller::Caller;
use crate::operation::{Failure, Nothing, Operation, Route};

pub(crate) struct Refresh;

impl Operation for Refresh {
    const NAME: &'static str = "refresh";
    type Request = Nothing;
    type Answer = BackgroundState;

    fn is_for(caller: &Caller) -> bool {
        caller.may_refresh
    }

    fn call(call: &Call<'_>, _: Nothing) -> Result<BackgroundState, Failure> {
        if !call.background.request() {
            let detail = "this server does not keep the index fresh; start it without --no-refresh and with search.refresh = true";
            return Err(Problem::new(Kind::Conflict, detail).into());
        }
        Ok(call.background.state().seen_by(call.caller))
    }
}

impl Route for Refresh {
    const PATH: &'static str = "/v1/refresh";
    const VERBS: Verbs = Verbs::Post;
    const SUMMARY: &'static str = "Read the tree now, without waiting for a change";
    const DESCRIPTION: &'static str = "The answer comes at once, with the state of the work; `/v1/events` tells how it goes on. The server \
        reads changed files by itself, so this is for trees whose changes it does not notice, such as network drives.";
    const NEEDS: &'static str =
        "reading on demand is off: the server needs --allow-refresh, and a token refresh = true";
}
