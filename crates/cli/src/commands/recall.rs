//! `tamis recall`: a search of notes and conversations.

use super::fresh;
use super::search::{ask, print};
use crate::args::{Global, RecallArguments, refused};
use crate::exit::Exit;
use crate::output::Output;
use crate::session::{FlagSetting, Session, setting};
use anyhow::Result;
use std::io::Write;
use tamis::{Index, SearchRequest};

/// What there is to do where nothing is remembered.
const HOW_TO_ADD: &str = "`tamis remember \"…\"` adds a note, Markdown files such as MEMORY.md and memory/*.md are notes, and \
                          `tamis import conversations FILE` brings in what was said";

/// Answers a question from what was noted down and said.
///
/// # Errors
/// A flag or setting that is not allowed, no index to search, or an index or model that fails.
pub fn run(arguments: &RecallArguments, global: &Global, output: &Output) -> Result<Exit> {
    let mut request = request(arguments);
    request.check()?;
    let session = Session::start(global, flags(arguments))?;
    let config = session.config()?;
    request.asked(&config).map_err(|error| refused(error, "--cut"))?;
    let refresh = config.search.refresh;
    let Some((index, freshness)) = fresh::opened(session, config, refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let form = &arguments.form;
    let mut answer = ask(&index, &mut request, &freshness, form, output)?;
    if let Some(around) = arguments.context {
        index.notes().with_turns(&mut answer, around)?;
    }
    if answer.index.passages == 0
        && let Some(empty) = nothing_there(&index, arguments)?
    {
        if form.json || form.jsonl || form.files {
            output.note(&empty);
        } else {
            let mut out = output.plain();
            writeln!(out, "{empty}")?;
            out.flush()?;
            return Ok(Exit::Nothing);
        }
    }
    print(&answer, form, arguments.limit, &index, output)?;
    Ok(Exit::found(!answer.results.is_empty()))
}

/// Why no memory passes: there is none at all, or the filters leave none.
fn nothing_there(index: &Index, arguments: &RecallArguments) -> Result<Option<String>> {
    let wanted = match arguments.collections.is_empty() {
        true => &index.config().memory.collections,
        false => &arguments.collections,
    };
    let counts = index.contents().summary()?.collections;
    if counts.iter().any(|count| count.passages > 0 && wanted.contains(&count.name)) {
        return Ok(None);
    }
    let what = if arguments.collections.is_empty() { "notes".to_owned() } else { wanted.join(", ") };
    Ok(Some(format!("No {what} yet: {HOW_TO_ADD}.")))
}

/// The flags that are configuration keys, so that one path checks them and decides what is stronger.
fn flags(arguments: &RecallArguments) -> Vec<FlagSetting> {
    let refresh = arguments.no_refresh.then_some("false");
    [
        setting("memory.cut", "--cut", arguments.cut.as_deref()),
        setting("search.want", "--want", arguments.aim.want.as_deref()),
        setting("search.mode", "--mode", arguments.mode.as_deref()),
        setting("search.model", "--model", arguments.model.as_deref()),
        setting("search.refresh", "--no-refresh", refresh),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn request(arguments: &RecallArguments) -> SearchRequest {
    SearchRequest {
        limit: arguments.limit,
        namespaces: arguments.scope.namespaces.clone(),
        sharing: arguments.scope.no_sharing.then_some(false),
        collections: arguments.collections.clone(),
        paths: arguments.scope.paths.clone(),
        metadata: arguments.metadata.filter(),
        explain: arguments.form.explain,
        aim: arguments.aim.aim(),
        entry_point: Some("cli".into()),
        snippet_lines: arguments.context.map(|around| 2 * around + 1),
        ..SearchRequest::memory(arguments.query.join(" "))
    }
}
