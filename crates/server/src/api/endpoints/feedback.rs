//! `/v1/feedback`: judgements that later searches learn from, and the searches that can be judged.

use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::Problem;
use crate::caller::Caller;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::feedback::{Judged, Label, SearchSummary};

pub(crate) struct Feedback;
pub(crate) struct Searches;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The query_id of the answer.
    #[schemars(length(min = 1, max = 100))]
    query_id: String,
    /// The judged results: their ids, or their ranks in that answer.
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 200)))]
    ids: Vec<String>,
    /// True if these results answer the query.
    relevant: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ListParameters {
    /// Most searches.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default = "default_limit")]
    limit: usize,
}

/// As the command's.
fn default_limit() -> usize {
    20
}

impl Endpoint for Feedback {
    const NAME: &'static str = "feedback";
    const PATH: &'static str = "/v1/feedback";
    const VERBS: Verbs = Verbs::Post;
    const SUMMARY: &'static str = "Judge results of a search, which later searches learn from";
    const DESCRIPTION: &'static str = "As `tamis feedback --json`. A later judgement of a result replaces an earlier one.";
    const NEEDS: &'static str = "judging is off: the server needs --allow-feedback, and a token feedback = true";
    type Parameters = Parameters;
    type Answer = Vec<Judged>;

    fn is_for(caller: &Caller) -> bool {
        caller.may_judge
    }

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<Vec<Judged>, Problem> {
        let label = if parameters.relevant { Label::Relevant } else { Label::NotRelevant };
        let ids: Vec<&str> = parameters.ids.iter().map(String::as_str).collect();
        let allowed = call.caller.namespaces.as_deref();
        Ok(call.index.feedback().judge_allowed(&parameters.query_id, &ids, label, allowed)?)
    }
}

impl Endpoint for Searches {
    const NAME: &'static str = "searches";
    const PATH: &'static str = "/v1/feedback";
    const SUMMARY: &'static str = "List the latest recorded searches and the number of their judgements";
    const DESCRIPTION: &'static str = "As `tamis feedback --list --json`. For tokens that may read every namespace.";
    const NEEDS: &'static str = "recorded searches are those of all callers, and this token opens only some namespaces";
    type Parameters = ListParameters;
    type Answer = Vec<SearchSummary>;

    fn is_for(caller: &Caller) -> bool {
        caller.namespaces.is_none()
    }

    fn call(call: &Call<'_>, parameters: ListParameters) -> Result<Vec<SearchSummary>, Problem> {
        Ok(call.index.feedback().searches(parameters.limit)?)
    }
}
