//! `search`: what is relevant, which can be nothing.

use crate::reply::Reply;
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;
use tamis::{Answer, Error, Freshness, SearchRequest};

pub(crate) struct Search;

/// A question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What to look for, in words, names or a whole question.
    query: String,
    /// Most results, 1 to 1000. The cut decides how many are relevant; this only shortens them.
    limit: Option<usize>,
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search";
    const DESCRIPTION: &'static str = "Search code, documents, issues, notes and evidence by words and by meaning. Gives only \
        what is relevant, with the reason where it stops; an empty answer means that nothing is.";
    type Arguments = Arguments;
    type Answer = Answer;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Answer>, Error> {
        let request = SearchRequest {
            limit: arguments.limit,
            allowed_namespaces: call.caller.namespaces.clone(),
            entry_point: Some("mcp".to_owned()),
            ..SearchRequest::new(arguments.query)
        };
        let answer = call.index.search(&request, &Freshness::default())?;
        let mut text = String::new();
        for hit in &answer.results {
            let _ = writeln!(
                text,
                "{}. {}:{}-{} [{}]\n{}\n",
                hit.rank, hit.path, hit.start_line, hit.end_line, hit.id, hit.snippet
            );
        }
        let _ = write!(text, "{}", answer.cut.reason);
        Ok(Reply::new(answer, text))
    }
}
