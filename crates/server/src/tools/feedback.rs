//! `feedback`: what was relevant, for later searches to learn from.

use crate::caller::Caller;
use crate::reply::{Refused, Reply};
use crate::text::{clean, counted};
use crate::tool::{Call, Effect, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::feedback::Label;

pub(crate) struct Feedback;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The query_id of an answer.
    #[schemars(length(min = 1, max = 100))]
    query_id: String,
    /// The results that are judged: their ids, or their ranks in that answer. 1 to 100.
    #[schemars(length(min = 1, max = 100))]
    ids: Vec<String>,
    /// Whether they answer the query.
    relevant: bool,
}

/// What was taken down.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Judgements {
    /// The search.
    query_id: String,
    /// The passages, each with its place.
    judged: Vec<Judgement>,
}

/// A passage that was judged.
#[derive(Debug, Serialize, JsonSchema)]
struct Judgement {
    /// Its identifier.
    id: String,
    /// Path of its document; absent where the index does not hold it any more.
    path: Option<String>,
    /// Its rank among the candidates of that search, from 1; absent where it was none.
    rank: Option<usize>,
    /// What was said.
    relevant: bool,
}

impl Tool for Feedback {
    const NAME: &'static str = "feedback";
    const TITLE: &'static str = "Feedback";
    const DESCRIPTION: &'static str = "Say which results of a search answered it and which did not, so that later searches stop \
        at a better place. Take it when the answer has been used, not before; the last word on a result counts.";
    const EFFECT: Effect = Effect::Sets;
    type Arguments = Arguments;
    type Answer = Judgements;

    fn is_for(caller: &Caller) -> bool {
        caller.may_judge
    }

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Judgements>, Refused> {
        let Arguments { query_id, ids, relevant } = arguments;
        let label = if relevant { Label::Relevant } else { Label::NotRelevant };
        let passages: Vec<&str> = ids.iter().map(String::as_str).collect();
        let allowed = call.caller.namespaces.as_deref();
        let judged = call.index.feedback().judge_allowed(&query_id, &passages, label, allowed)?;
        let judged: Vec<Judgement> = judged
            .into_iter()
            .map(|one| Judgement {
                id: one.passage,
                path: one.place.map(|(path, _)| clean(&path)),
                rank: one.rank,
                relevant,
            })
            .collect();
        let what = if relevant { "relevant" } else { "not relevant" };
        let text = format!("Taken down: {} of search {query_id} {what}.\n", counted(judged.len(), "result"));
        Ok(Reply::new(Judgements { query_id, judged }, text))
    }
}
