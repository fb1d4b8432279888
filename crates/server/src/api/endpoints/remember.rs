//! `/v1/remember`: a note for later.

use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::{Kind, Problem};
use crate::caller::Caller;
use crate::lanes::Lane;
use crate::tool::Call;
use crate::tools::namespace_of_note;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::memory::{RememberRequest, Remembered};

pub(crate) struct Remember;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The note.
    #[schemars(length(min = 1, max = 100_000))]
    text: String,
    /// Topic of the note, used as the heading above it.
    #[schemars(length(min = 1, max = 100))]
    topic: Option<String>,
    /// Repository (default: the server's own, or the only one).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Endpoint for Remember {
    const NAME: &'static str = "remember";
    const PATH: &'static str = "/v1/remember";
    const VERBS: Verbs = Verbs::Post;
    const SUMMARY: &'static str = "Add a note to the notes of the day";
    const DESCRIPTION: &'static str = "As `tamis remember --json`.";
    const NEEDS: &'static str = "adding notes is off: the server needs --allow-remember, and a token remember = true";
    const LANE: Lane = Lane::Slow;
    type Parameters = Parameters;
    type Answer = Remembered;

    fn is_for(caller: &Caller) -> bool {
        caller.may_remember
    }

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<Remembered, Problem> {
        let Parameters { text, topic, namespace } = parameters;
        let refused = |refused: crate::reply::Refused| Problem::new(Kind::Parameter, refused.message);
        let namespace = namespace_of_note(call, namespace).map_err(refused)?;
        let request = RememberRequest { text, topic, namespace, ..Default::default() };
        Ok(call.index.notes().remember(&request, call.observer)?)
    }
}
