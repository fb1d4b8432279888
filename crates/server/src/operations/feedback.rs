//! Judgements that later searches learn from, and the searches that can be judged.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis::feedback::{Judged, Label, ListedSearch};

use crate::api::Verbs;
use crate::caller::Caller;
use crate::operation::{Call, Effect, Failure, Operation, Route, Tool};
use crate::untrusted_text::{FIXED_MAX_CHARS, counted};

pub(crate) struct Feedback;
pub(crate) struct Searches;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Judging {
    /// The query_id of the answer.
    #[schemars(length(min = 1, max = 100))]
    query_id: String,
    /// The judged results, 1 to 100: their ids, or their ranks in that answer.
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 200)))]
    ids: Vec<String>,
    /// True if these results answer the query, false if not. Required unless take_back is true.
    relevant: Option<bool>,
    /// True to withdraw the judgements of these results.
    #[serde(default)]
    take_back: bool,
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

fn wrong(value: &str) -> Failure {
    let allowed = "true or false, or take_back instead of it".to_owned();
    tamis::Error::Argument { name: "relevant", value: value.to_owned(), allowed }.into()
}

impl Operation for Feedback {
    const NAME: &'static str = "feedback";
    type Request = Judging;
    type Answer = Vec<Judged>;

    fn is_for(caller: &Caller) -> bool {
        caller.may_judge
    }

    fn call(call: &Call<'_>, judging: Judging) -> Result<Vec<Judged>, Failure> {
        let label = match (judging.relevant, judging.take_back) {
            (Some(true), false) => Label::Relevant,
            (Some(false), false) => Label::NotRelevant,
            (None, true) => Label::Unjudged,
            (None, false) => return Err(wrong("missing")),
            (Some(_), true) => return Err(wrong("given with take_back")),
        };
        let ids: Vec<&str> = judging.ids.iter().map(String::as_str).collect();
        let allowed = call.caller.namespaces.as_deref();
        Ok(call.index.feedback().judge_allowed(&judging.query_id, &ids, label, allowed)?)
    }
}

impl Route for Feedback {
    const PATH: &'static str = "/v1/feedback";
    const VERBS: Verbs = Verbs::Post;
    const SUMMARY: &'static str = "Judge results of a search, which later searches learn from";
    const DESCRIPTION: &'static str = "As `tamis feedback --json`. A later judgement of a result replaces an earlier one, and \
         `take_back` instead of `relevant` takes it back for this question.";
    const NEEDS: &'static str = "judging is off: the server needs --allow-feedback, and a token feedback = true";
}

impl Tool for Feedback {
    const TITLE: &'static str = "Feedback";
    const DESCRIPTION: &'static str = "Record which results of a search answered it and which did not, so that later searches stop \
        at a better point. Call it after the answer has been used. A later judgement of a result replaces an earlier one, and take_back instead of \
        relevant takes it back.";
    const EFFECT: Effect = Effect::Sets;
    const MAX_CHARS: usize = FIXED_MAX_CHARS;
    // The answer names the search.
    type Options = Judging;

    fn text(call: &Call<'_>, judged: &Vec<Judged>, judging: &Judging) -> String {
        let (results, query) = (counted(judged.len(), "result"), &judging.query_id);
        let said = match judging.relevant {
            Some(true) => format!("Recorded: {results} of search {query} relevant.\n"),
            Some(false) => format!("Recorded: {results} of search {query} not relevant.\n"),
            None => format!("Taken back: what was said of {results} of search {query}.\n"),
        };
        match call.index.feedback().is_obeyed(query) {
            Ok(false) => {
                said + "Searches of this kind ignore judgements; only `search` with the same words obeys them.\n"
            }
            _ => said,
        }
    }
}

impl Operation for Searches {
    const NAME: &'static str = "searches";
    type Request = ListParameters;
    type Answer = Vec<ListedSearch>;

    fn is_for(caller: &Caller) -> bool {
        caller.namespaces.is_none()
    }

    fn call(call: &Call<'_>, parameters: ListParameters) -> Result<Vec<ListedSearch>, Failure> {
        Ok(call.index.feedback().searches(parameters.limit)?)
    }
}

impl Route for Searches {
    const PATH: &'static str = "/v1/feedback";
    const SUMMARY: &'static str = "List the latest recorded searches and their judgements";
    const DESCRIPTION: &'static str = "As `tamis feedback --list --json`. For tokens that may read every namespace.";
    const NEEDS: &'static str = "recorded searches are those of all callers, and this token opens only some namespaces";
}
