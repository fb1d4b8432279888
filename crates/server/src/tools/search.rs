//! `search`: what is relevant, which can be nothing.

use crate::hits::Found;
use crate::page::{MAX_CHARS, fitted, max_chars};
use crate::reply::{Refused, Reply};
use crate::tool::{Call, Tool};
use crate::values::{Want, languages, moment};
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::SearchRequest;
use tamis::search::MetadataFilter;

pub(crate) struct Search;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What to look for: words, names, an error message or a whole question.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Most results, 1 to 100 (default: as configured, usually 10). It only shortens what is relevant.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// How much is wanted: the one answer, the good ones, or all on the topic (default: decided by the evidence).
    want: Option<Want>,
    /// Only these kinds of text: code, docs, wiki, issues, notes, sessions, evidence (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    collections: Vec<String>,
    /// Only code in these languages, such as rust or python (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    languages: Vec<String>,
    /// Only paths that match one of these globs, such as src/**/*.rs; `!` in front leaves out (default: all).
    #[schemars(length(max = 50))]
    #[serde(default)]
    paths: Vec<String>,
    /// Only issues and pull requests in this state (default: everything, also what is no issue).
    state: Option<State>,
    /// Only what was written since, such as 2026-01-31, 7d or last week (default: any time).
    since: Option<String>,
    /// The repository or project to search, by name (default: the one here, or all).
    namespace: Option<String>,
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
    /// Where to go on: next_cursor of the last answer to the same arguments (default: from the beginning).
    #[allow(dead_code)]
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Closed,
    Merged,
    Unmerged,
    Resolved,
}

impl State {
    fn name(self) -> &'static str {
        MetadataFilter::STATES[self as usize]
    }
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search";
    const DESCRIPTION: &'static str = "Search code, documents, issues, notes and evidence by words and by meaning. Gives only \
        what is relevant, with the reason why it stops; an empty answer means that nothing is, and asking for more will not \
        find it. Take troubleshoot for an error that may have been solved before, memory_search for what was noted down or \
        said, related to go on from a result.";
    const MOST_CHARS: usize = MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Found;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Found>, Refused> {
        let request = SearchRequest {
            limit: arguments.limit,
            want: arguments.want.map(Want::meant),
            collections: arguments.collections,
            languages: languages(&arguments.languages)?,
            paths: arguments.paths,
            metadata: MetadataFilter {
                states: arguments.state.map(|state| state.name().to_owned()).into_iter().collect(),
                since: arguments.since.as_deref().map(|since| moment("since", since)).transpose()?,
                ..MetadataFilter::default()
            },
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some("mcp".to_owned()),
            ..SearchRequest::new(arguments.query)
        };
        request.check()?;
        let found = Found::of(call.index.search(&request)?, call.warnings());
        let (tail, names) = (found.tail(), found.names());
        Ok(fitted(found, &tail, &call.place, &names, arguments.max_chars))
    }
}
