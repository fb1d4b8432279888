//! `/v1/recall`: notes and past conversations.

use super::filters::QueryParameters;
use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::Problem;
use crate::tool::Call;
use tamis::{Answer, Freshness, SearchRequest};

pub(crate) struct Recall;

impl Endpoint for Recall {
    const NAME: &'static str = "recall";
    const PATH: &'static str = "/v1/recall";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Search notes and conversations";
    const DESCRIPTION: &'static str = "As `tamis recall --json`, with the settings of `[memory]`. The cut `off` lists the first results.";
    type Parameters = QueryParameters;
    type Answer = Answer;

    fn kept(answer: &Answer) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, parameters: QueryParameters) -> Result<Answer, Problem> {
        let around = parameters.context;
        let request = parameters.request(call, SearchRequest::memory)?;
        request.check()?;
        let mut answer = call.index.search_with(&request, &Freshness::default(), call.observer)?;
        if let Some(around) = around {
            call.index.notes().with_turns(&mut answer, around)?;
        }
        answer.warnings.splice(0..0, call.warnings());
        Ok(answer)
    }
}
