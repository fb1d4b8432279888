//! Notes and past conversations.

use tamis::{Answer, Freshness, SearchRequest};

use crate::api::Verbs;
use crate::operation::{Argument, Call, Failure, Need, Operation, Route, Tool, field};
use crate::paging::PageArguments;
use crate::search_text::search_text;

pub(crate) struct Recall;

impl Operation for Recall {
    const NAME: &'static str = "recall";
    type Request = SearchRequest;
    type Answer = Answer;

    fn kept_count(answer: &Answer) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, request: SearchRequest) -> Result<Answer, Failure> {
        let around = request.output.context;
        let request = SearchRequest { memory: true, ..request.asker(call.asker()) };
        let mut answer = call.index.search_with(&request, &Freshness::default(), call.observer)?;
        if let Some(around) = around {
            call.index.notes().with_turns(&mut answer, around)?;
        }
        call.complete(&mut answer);
        Ok(answer)
    }
}

impl Route for Recall {
    const PATH: &'static str = "/v1/recall";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Search notes and conversations";
    const DESCRIPTION: &'static str =
        "As `tamis recall --json`, with the settings of `[memory]`. The cut `off` lists the first results.";
}

impl Tool for Recall {
    const TOOL_NAME: &'static str = "memory_search";
    const NEED: Need = Need::Notes;
    const TITLE: &'static str = "Search memories";
    const DESCRIPTION: &'static str = "Search notes and past conversations for decisions, preferences and events. If notes \
        contradict each other, trust the newer one. Use search for code and documents.";
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[
        field("query"),
        field("limit").most(100),
        field("all"),
        field("strict"),
        field("since"),
        field("until"),
        field("authors").renamed("author").single(),
        field("topics").renamed("topic").single(),
        field("namespace"),
    ]);
    type Options = PageArguments;

    fn text(call: &Call<'_>, answer: &Answer, page: &PageArguments) -> String {
        search_text(call, answer, page)
    }
}
