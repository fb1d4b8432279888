//! The relevant results as one text.

use crate::api::verbs::Verbs;
use crate::call::Call;
use crate::operation::{Argument, Failure, Nothing, Operation, Route, Tool, field};
use crate::reply::Reply;
use crate::text::{clean, fenced, line};
use schemars::JsonSchema;
use serde::Serialize;
use tamis::pack::PackRequest;

pub(crate) struct Pack;

impl Operation for Pack {
    const NAME: &'static str = "pack";
    type Request = PackRequest;
    type Answer = tamis::pack::Pack;

    fn kept(answer: &tamis::pack::Pack) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, request: PackRequest) -> Result<tamis::pack::Pack, Failure> {
        let mut pack = call.index.pack(&PackRequest {
            allowed_namespaces: call.allowed(),
            entry_point: Some(call.entry_point.to_owned()),
            caller: Some(call.session),
            ..request
        })?;
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

/// One text of relevant passages.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Packed {
    /// The text, each section under its place.
    text: String,
    /// Estimated tokens of the text.
    tokens: usize,
    /// Places of relevant passages that did not fit, or only in part.
    left_out: Vec<String>,
    /// Identifier of the search.
    query_id: Option<String>,
    /// Warnings about the answer.
    warnings: Vec<String>,
}

impl Tool for Pack {
    const TITLE: &'static str = "Pack";
    const DESCRIPTION: &'static str = "Read everything relevant to a question at once: the results of a search in full, in \
        reading order, within a budget of tokens. The last line names what did not fit.";
    const MAX_CHARS: usize = 120_000;
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[
        field("query"),
        field("budget_tokens").default(2000).most(20_000),
        field("paths"),
        field("languages"),
        field("namespace"),
    ]);
    type Options = Nothing;
    type View = Packed;

    fn view(_: &Call<'_>, found: tamis::pack::Pack, _: Nothing) -> Reply<Packed> {
        let warnings: Vec<String> = found.warnings.iter().map(|one| line(one)).collect();
        let text = clean(&found.text);
        let notes: String = warnings.iter().map(|warning| format!("Note: {warning}\n")).collect();
        let query = found.query_id.as_ref().map(|id| format!("[query {id}]\n")).unwrap_or_default();
        let shown = format!("{}{notes}{query}", fenced(&text));
        let left_out = found.left_out.iter().map(|place| clean(place)).collect();
        Reply::new(Packed { text, tokens: found.tokens, left_out, query_id: found.query_id, warnings }, shown)
    }
}
