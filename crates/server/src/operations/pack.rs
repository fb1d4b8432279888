//! The relevant results as one text.

use tamis::pack::PackRequest;

use crate::api::Verbs;
use crate::operation::{Argument, Call, Failure, Nothing, Operation, Route, Tool, field};
use crate::paging::warning_lines;
use crate::untrusted_text::{clean, fenced, name};

pub(crate) struct Pack;

impl Operation for Pack {
    const NAME: &'static str = "pack";
    type Request = PackRequest;
    type Answer = tamis::pack::Pack;

    fn kept_count(answer: &tamis::pack::Pack) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, request: PackRequest) -> Result<tamis::pack::Pack, Failure> {
        let mut pack = call.index.pack(&PackRequest { asker: call.asker(), ..request })?;
        pack.warnings.splice(0..0, call.warnings());
        Ok(pack)
    }
}

impl Route for Pack {
    const PATH: &'static str = "/v1/pack";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Pack everything relevant into one text within a budget of tokens";
    const DESCRIPTION: &'static str = "As `tamis pack --json`.";
}

impl Tool for Pack {
    const TITLE: &'static str = "Pack";
    const DESCRIPTION: &'static str = "Read everything relevant to a question at once: the results of a search in full, in \
        reading order, within a budget of tokens.";
    const MAX_CHARS: usize = 120_000;
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[
        field("query"),
        field("budget_tokens").default(2000).most(20_000),
        field("paths"),
        field("languages"),
        field("namespace"),
    ]);
    type Options = Nothing;

    fn text(_: &Call<'_>, pack: &tamis::pack::Pack, _: &Nothing) -> String {
        let query = pack.query_id.as_ref().map(|id| format!("[query {id}]\n")).unwrap_or_default();
        // A pack without sections is a sentence of the search.
        let text =
            if pack.sections.is_empty() { name(pack.text.trim_end()) + "\n" } else { fenced(&clean(&pack.text)) };
        text + &warning_lines(&pack.warnings, Self::MAX_CHARS / 4) + &query
    }
}
