//! `memory_search`: notes and past conversations.

use crate::hits::Found;
use crate::labels::note_shown;
use crate::page::{DEFAULT_MAX_CHARS, PageArguments};
use crate::reply::{Refused, Reply};
use crate::shared_arguments::moment;
use crate::tool::{Call, Need, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::SearchRequest;
use tamis::search::MetadataFilter;

pub(crate) struct MemorySearch;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The subject to recall, in words or as a whole question.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Most results, 1 to 100 (default: as configured, usually 10). A limit only shortens the list of relevant results.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// List the first `limit` memories, relevant or not.
    #[serde(default)]
    all: bool,
    /// Leave out the less likely ones, which come in a line each.
    #[serde(default)]
    strict: bool,
    /// Only memories since then, such as 2026-01-31, 7d or yesterday (default: any time).
    since: Option<String>,
    /// Only memories before then, in the same forms (default: any time).
    until: Option<String>,
    /// Only memories by this author or speaker (default: anyone).
    author: Option<String>,
    /// Only notes on this topic, which is the heading above them (default: all).
    topic: Option<String>,
    /// Repository (default: this one, or all).
    namespace: Option<String>,
    #[serde(flatten)]
    page: PageArguments,
}

impl Tool for MemorySearch {
    const NAME: &'static str = "memory_search";
    const NEED: Need = Need::Notes;
    const TITLE: &'static str = "Search memories";
    const DESCRIPTION: &'static str = "Search notes and past conversations for decisions, preferences and events. Of equally good \
        memories, newer ones come first. Use search for the current code and documents.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Found;

    fn kept(answer: &Found) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Found>, Refused> {
        let at = |name: &str, text: &Option<String>| text.as_deref().map(|text| moment(name, text)).transpose();
        let request = SearchRequest {
            limit: arguments.limit,
            all: arguments.all,
            strict: arguments.strict,
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
            caller: Some(call.session),
            ..SearchRequest::memory(arguments.query)
        };
        request.check()?;
        let found = Found::of(call.index.search(&request)?, call.warnings());
        let all = found.results.len();
        let reply = found.reply(&call.cursor, arguments.page.max_chars);
        note_shown(call, &reply, all);
        Ok(reply)
    }
}
