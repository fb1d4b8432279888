//! `tamis search`: asks the index, and explains filters that leave nothing.

use super::ask::{self, Answered, QueryArguments, ask};
use super::cut::method_names;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::session::{FlagSetting, setting};
use anyhow::{Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::search::SearchFilters;
use tamis::{Index, SearchRequest};

const SEARCH_EXAMPLES: &str = "\
Examples:
  tamis search \"where are retries handled\"";

const MORE_SEARCH_EXAMPLES: &str = "  tamis search parse config --lang rust,python --path '!*_test*' --explain
  tamis search '\"connection reset\" path:src/** -test'
  tamis search timeout --cut kneedle:sensitivity=2 --explain
  tamis search \"which model is the default\" --want one
  tamis search billing --cut auto --target-recall 0.9 --budget-tokens 4000
  tamis search retry policy lang:rust --kind function --variant 'code:fn retry('
  tamis search crash on startup --state resolved --label bug --since 'last year'
  tamis search timeout --json | jq '.results[].path'
  tamis search retry --passages --limit 3

In a query, path:GLOB, symbol:NAME and kind:KIND are filters and lang:NAME is a preference; -word and \
-\"some phrase\" exclude passages that contain it; a \"phrase\" in quotes keeps only passages that contain \
it, if there are any. Anything else is a word to search for, as is an option that occurs in the index, such \
as -jar in java -jar.

A setting comes from, strongest first: a flag, the environment (TAMIS_SEARCH_CUT, …), the project's \
.tamis/config.toml, your own config.toml, the default. `tamis config` shows them all.";

/// Flags of `tamis search`.
#[derive(Debug, Args)]
#[command(
    after_help = SEARCH_EXAMPLES,
    after_long_help = format!("{SEARCH_EXAMPLES}\n{MORE_SEARCH_EXAMPLES}\n\n{}", method_names())
)]
pub struct SearchArguments {
    #[command(flatten)]
    pub query: QueryArguments,
    #[command(flatten)]
    pub request: SearchRequest,

    /// Rank older passages lower: auto, on or off [default: rank.recency, auto: with the cut max_gap]
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(["auto", "on", "off"]), hide_possible_values = true, help_heading = "Ranking", hide_short_help = true)]
    pub recency: Option<String>,
}

/// Answers a question.
///
/// # Errors
/// A flag or setting that is not allowed, no index to search, or an index or model that fails.
pub fn run(arguments: &SearchArguments, global: &Global, output: &Output) -> Result<Exit> {
    let SearchArguments { query, request, .. } = arguments;
    let divided = ask::divided(&query.words, &query.after_dashes, query.given.as_deref());
    let mut asked = SearchRequest { query: divided.query, ..ask::asked(request, query) };
    // This flag is a setting too.
    asked.cut.guarantee = None;
    let Some(answered) = ask(asked, &divided.paths, settings(arguments), &query.output, global, output)? else {
        return Ok(Exit::Interrupted);
    };
    if let [word] = divided.either.as_slice() {
        output.note(&format!(
            "searched for the word {word}, which is a path here too: -e QUERY {word} searches below it"
        ));
    }
    let Answered { index, request, answer } = &answered;
    if answer.index.passages == 0 {
        explain_empty(index, request, output)?;
    }
    ask::print(&answered, &query.output, arguments.request.limit, output)?;
    Ok(Exit::found(!answer.results.is_empty()))
}

fn settings(arguments: &SearchArguments) -> Vec<FlagSetting> {
    let SearchArguments { query, request, .. } = arguments;
    let own = [
        setting("search.guarantee", "--guarantee", request.cut.guarantee.as_deref()),
        setting("rank.recency", "--recency", arguments.recency.as_deref()),
    ];
    ask::settings(request, query, "search.cut").into_iter().chain(own.into_iter().flatten()).collect()
}

/// Refuses a path that is not in the index, and says so where there is nothing to index.
///
/// # Errors
/// A path that is not in the index, or the index cannot be read.
pub fn explain_empty(index: &Index, request: &SearchRequest, output: &Output) -> Result<()> {
    let root = index.root().display();
    if index.contents().summary()?.passages == 0 {
        output.note(&format!("{root}: there is nothing to index here"));
        return Ok(());
    }
    // A path without wildcards names one thing, which the user expects to exist.
    let wildcard = |path: &&String| path.contains(['*', '?', '[', '{']) || path.starts_with('!');
    let mut alone = SearchRequest { memory: request.memory, ..SearchRequest::new(&request.query) };
    alone.filters = SearchFilters {
        paths: request.filters.paths.clone(),
        namespace: request.filters.namespace.clone(),
        namespaces: request.filters.namespaces.clone(),
        ..SearchFilters::default()
    };
    if let [path] = request.filters.paths.as_slice()
        && !wildcard(&path)
        && index.passing(&alone)? == 0
    {
        if let Some(reason) = index.left_out(None, path.trim_start_matches('/'), None)? {
            bail!("--path {path}: left out of the index of {root}: {reason}");
        }
        bail!(
            "--path {path}: no such file or directory in the index of {root}; give a path or a glob under it, such as 'src/**/*.rs'"
        );
    }
    Ok(())
}
