//! `memory_search`: what was noted down and said before.

use crate::hits::Found;
use crate::page::{MAX_CHARS, fitted, max_chars};
use crate::reply::{Refused, Reply};
use crate::tool::{Call, Tool};
use crate::values::moment;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::SearchRequest;
use tamis::search::MetadataFilter;

pub(crate) struct MemorySearch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What to remember, in words or a whole question.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Most results, 1 to 100 (default: as configured, usually 10). It only shortens what is relevant.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// Only what was written or said since, such as 2026-01-31, 7d or yesterday (default: any time).
    since: Option<String>,
    /// Only what was written or said before, in the same forms (default: any time).
    until: Option<String>,
    /// Only what this one wrote or said (default: anyone).
    author: Option<String>,
    /// Only notes on this topic, the heading that they stand under (default: all).
    topic: Option<String>,
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

impl Tool for MemorySearch {
    const NAME: &'static str = "memory_search";
    const TITLE: &'static str = "Search memories";
    const DESCRIPTION: &'static str = "Search what was noted down and what was said in earlier sessions: decisions, preferences, \
        what happened when. Newer memories come first where they are as good. Take search for what code and documents say \
        now.";
    const MOST_CHARS: usize = MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Found;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Found>, Refused> {
        let at = |name: &str, text: &Option<String>| text.as_deref().map(|text| moment(name, text)).transpose();
        let request = SearchRequest {
            limit: arguments.limit,
            metadata: MetadataFilter {
                authors: arguments.author.into_iter().collect(),
                topics: arguments.topic.into_iter().collect(),
                since: at("since", &arguments.since)?,
                until: at("until", &arguments.until)?,
                ..MetadataFilter::default()
            },
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some("mcp".to_owned()),
            ..SearchRequest::memory(arguments.query)
        };
        request.check()?;
        let found = Found::of(call.index.search(&request)?, call.warnings());
        let (tail, names) = (found.tail(), found.names());
        Ok(fitted(found, &tail, &call.place, &names, arguments.max_chars))
    }
}
