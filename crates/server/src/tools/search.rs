//! `search`: the relevant results, if any.

use crate::hits::Found;
use crate::labels::note_shown;
use crate::page::{DEFAULT_MAX_CHARS, PageArguments};
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
    /// Question, words, names or an error message.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Most results (default: 10, or as configured).
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// List each relevant passage by itself.
    #[serde(default)]
    passages: bool,
    /// Results to aim for (default: chosen for the query).
    want: Option<Want>,
    /// List the first `limit`, relevant or not.
    #[serde(default)]
    all: bool,
    /// Leave out the less likely ones.
    #[serde(default)]
    strict: bool,
    /// Of code, docs, wiki, issues, notes, sessions, evidence (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    collections: Vec<String>,
    /// Languages, such as rust (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    languages: Vec<String>,
    /// Globs; `!` excludes (default: all paths).
    #[schemars(length(max = 50))]
    #[serde(default)]
    paths: Vec<String>,
    /// Only issues in this state (default: any text).
    state: Option<State>,
    /// Only text since then: 2026-01-31, 7d (default: any time).
    since: Option<String>,
    /// Repository (default: this one, or all).
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
    const DESCRIPTION: &'static str = "Search code, documents, issues and notes by words and meaning. Returns only relevant \
        results, each a file, issue or session with its best passages, and below them the next, less likely ones in a line each: \
        without results, nothing is clearly relevant. Use grep for exact text.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Found;

    fn kept(answer: &Found) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Found>, Refused> {
        let request = SearchRequest {
            limit: arguments.limit,
            passages: arguments.passages,
            want: arguments.want.map(Want::meant),
            all: arguments.all,
            strict: arguments.strict,
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
        let all = found.results.len();
        let reply = found.reply(&call.cursor, arguments.page.max_chars);
        note_shown(call, &reply, all);
        Ok(reply)
    }
}
