//! `pack`: the relevant results as one text.

use crate::reply::{Refused, Reply};
use crate::shared_arguments::languages;
use crate::text::{clean, fenced, line};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::SearchRequest;
use tamis::pack::PackRequest;

pub(crate) struct Pack;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Question or words.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Most tokens of the text.
    #[schemars(range(min = 50, max = 20_000))]
    #[serde(default = "budget")]
    budget_tokens: usize,
    /// Globs; `!` excludes (default: all paths).
    #[schemars(length(max = 50))]
    #[serde(default)]
    paths: Vec<String>,
    /// Languages (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    languages: Vec<String>,
    /// Repository (default: this one, or all).
    namespace: Option<String>,
}

fn budget() -> usize {
    2000
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
    const NAME: &'static str = "pack";
    const TITLE: &'static str = "Pack";
    const DESCRIPTION: &'static str = "Read everything relevant to a question at once: the results of a search in full and in \
        reading order, within a budget of tokens. The last line names what did not fit.";
    const MAX_CHARS: usize = 120_000;
    type Arguments = Arguments;
    type Answer = Packed;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Packed>, Refused> {
        let search = SearchRequest {
            paths: arguments.paths,
            languages: languages(&arguments.languages)?,
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some("mcp".to_owned()),
            caller: Some(call.session),
            ..SearchRequest::new(arguments.query)
        };
        search.check()?;
        let found = call.index.pack(&PackRequest { search, budget_tokens: arguments.budget_tokens })?;
        let warnings: Vec<String> = call.warnings().into_iter().chain(found.warnings).map(|one| line(&one)).collect();
        let text = clean(&found.text);
        let notes: String = warnings.iter().map(|warning| format!("Note: {warning}\n")).collect();
        let query = found.query_id.as_ref().map(|id| format!("[query {id}]\n")).unwrap_or_default();
        let shown = format!("{}{notes}{query}", fenced(&text));
        let left_out = found.left_out.iter().map(|place| clean(place)).collect();
        Ok(Reply::new(Packed { text, tokens: found.tokens, left_out, query_id: found.query_id, warnings }, shown))
    }
}
