//! `feedback`: judgements that later searches learn from.

use crate::caller::Caller;
use crate::reply::{Refused, Reply};
use crate::text::{clean, counted};
use crate::tool::{Call, Effect, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::feedback::Label;

pub(crate) struct Feedback;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The query_id of the answer.
    #[schemars(length(min = 1, max = 100))]
    query_id: String,
    /// The judged results, 1 to 100: their ids, or their ranks in that answer.
    #[schemars(length(min = 1, max = 100))]
    ids: Vec<String>,
    /// True if these results answer the query.
    relevant: bool,
}

/// The recorded judgements.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Judgements {
    /// Identifier of the search.
    query_id: String,
    /// The judged passages.
    judged: Vec<Judgement>,
}

/// A judged passage.
#[derive(Debug, Serialize, JsonSchema)]
struct Judgement {
    /// Identifier of the passage.
    id: String,
    /// Path of its document; absent when the passage has left the index.
    path: Option<String>,
    /// Rank among the candidates of that search, from 1; absent when it was not a candidate.
    rank: Option<usize>,
    /// The judgement.
    relevant: bool,
}

impl Tool for Feedback {
    const NAME: &'static str = "feedback";
    const TITLE: &'static str = "Feedback";
    const DESCRIPTION: &'static str = "Record which results of a search answered it and which did not, so that later searches stop \
        at a better point. Call it after the answer has been used. A later judgement of a result replaces an earlier one.";
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
        let text = format!("Recorded: {} of search {query_id} {what}.\n", counted(judged.len(), "result"));
        Ok(Reply::new(Judgements { query_id, judged }, text))
    }
}
