//! The relevant results, if any.

use tamis::{Answer, Freshness, SearchRequest};

use crate::api::Verbs;
use crate::operation::{Argument, Call, Failure, Operation, Route, Tool, field};
use crate::paging::PageArguments;
use crate::search_text::search_text;

pub(crate) struct Search;

impl Operation for Search {
    const NAME: &'static str = "search";
    type Request = SearchRequest;
    type Answer = Answer;

    fn kept_count(answer: &Answer) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, request: SearchRequest) -> Result<Answer, Failure> {
        let request = request.asker(call.asker());
        let mut answer = call.index.search_with(&request, &Freshness::default(), call.observer)?;
        call.complete(&mut answer);
        Ok(answer)
    }
}

impl Route for Search {
    const PATH: &'static str = "/v1/search";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Search by words and meaning, and end where relevance ends";
    const DESCRIPTION: &'static str = "As `tamis search --json`. `results` are relevant and can be none, `nearest` are the \
        next, less likely ones, and `summary` says so in a sentence. The model and `rank.recency` are those of the server's configuration.";
}

impl Tool for Search {
    const TITLE: &'static str = "Search";
    const DESCRIPTION: &'static str = "Search code, documents, issues and notes by words and meaning. Returns what is \
        relevant, then less likely results, a line each. Use grep for exact text.";
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[
        field("query"),
        field("limit").most(100),
        field("passages"),
        field("want"),
        field("all"),
        field("strict"),
        field("collections"),
        field("languages"),
        field("paths"),
        field("states").renamed("state").single(),
        field("since"),
        field("namespace"),
    ]);
    type Options = PageArguments;

    fn text(call: &Call<'_>, answer: &Answer, page: &PageArguments) -> String {
        search_text(call, answer, page)
    }
}
