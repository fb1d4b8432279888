//! `search`: the relevant results, if any.

use crate::hits::Found;
use crate::labels::note_shown;
use crate::page::{DEFAULT_MAX_CHARS, PageArguments, paginated};
use crate::reply::{Refused, Reply};
use crate::shared_arguments::{Want, languages, moment};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::SearchRequest;
use tamis::search::MetadataFilter;

pub(crate) struct Search;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Search text: words, names, an error message or a whole question.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Most results, 1 to 100 (default: as configured, usually 10). A limit only shortens the list of relevant results.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// True to list every relevant passage by itself, not under its file, issue or session. The limit still counts these.
    #[serde(default)]
    passages: bool,
    /// Results to aim for: the one answer, some good ones, or all on the topic (default: chosen for the query).
    want: Option<Want>,
    /// Return the nearest results even when none seems to be on topic.
    #[serde(default)]
    no_gate: bool,
    /// Kinds of text to search: code, docs, wiki, issues, notes, sessions, evidence (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    collections: Vec<String>,
    /// Programming languages to search, such as rust or python (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    languages: Vec<String>,
    /// Globs that paths must match, such as src/**/*.rs; a leading `!` excludes (default: all paths).
    #[schemars(length(max = 50))]
    #[serde(default)]
    paths: Vec<String>,
    /// Only issues and pull requests in this state (default: all text, including other kinds).
    state: Option<State>,
    /// Only text written since then, such as 2026-01-31, 7d or last week (default: any time).
    since: Option<String>,
    /// Repository or project to search, by name (default: this one, or all).
    namespace: Option<String>,
    #[serde(flatten)]
    page: PageArguments,
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
    const DESCRIPTION: &'static str = "Search code, documents, issues, notes and evidence by words and by meaning. Returns only \
        relevant results (a file, an issue or a session each, with its best passages), and the reason why there are no more. An empty answer means that nothing is relevant; a higher limit \
        will not find more. Use troubleshoot for an error that may have been solved before, memory_search for notes and past \
        conversations, and related to continue from a result.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Found;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Found>, Refused> {
        let request = SearchRequest {
            limit: arguments.limit,
            passages: arguments.passages,
            want: arguments.want.map(Want::meant),
            gate: arguments.no_gate.then_some(false),
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
            caller: Some(call.session),
            ..SearchRequest::new(arguments.query)
        };
        request.check()?;
        let found = Found::of(call.index.search(&request)?, call.warnings());
        let (tail, names, all) = (found.tail(), found.names(), found.results.len());
        let reply = paginated(found, &tail, &call.cursor, &names, arguments.page.max_chars);
        note_shown(call, &reply, all);
        Ok(reply)
    }
}
