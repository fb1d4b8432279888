//! One question to the index, for `tamis search` and `tamis recall`: the request from the shared flags, the search itself,
//! and the answer in the form that the user chose.

use super::{query_paths, refresh};
use crate::args::{Global, OutputArguments, QueryArguments, refused};
use crate::background;
use crate::output::{Output, json_lines};
use crate::print::{answer, explain};
use crate::session::{FlagSetting, Session, setting};
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use tamis::config::Config;
use tamis::search::{QueryParameters, SearchCaller};
use tamis::{Answer, Error, Freshness, Index, SearchRequest};

/// An index, with a request to it and the answer.
pub struct Answered {
    /// The index.
    pub index: Index,
    /// The request, with paths in the index's form.
    pub request: SearchRequest,
    /// The answer.
    pub answer: Answer,
}

/// The flags, with the words of the query and what only the command knows.
pub fn asked(parameters: &QueryParameters, arguments: &QueryArguments) -> QueryParameters {
    QueryParameters {
        query: words(arguments),
        // This flag is a setting: see `settings`.
        cut: None,
        explain: arguments.output.explain,
        entry_point: Some("cli".into()),
        caller: Some(SearchCaller::command_line()),
        ..parameters.clone()
    }
}

/// The words of the query, if none of its arguments is a path.
pub fn words(arguments: &QueryArguments) -> String {
    let words = arguments.given.iter().chain(&arguments.words).chain(&arguments.after_dashes);
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The shared flags that are configuration keys: one path checks them and decides which origin is stronger. `cut_key` is the
/// key of `--cut`.
pub fn settings(parameters: &QueryParameters, arguments: &QueryArguments, cut_key: &str) -> Vec<FlagSetting> {
    let refresh = arguments.no_refresh.then_some("false");
    [
        setting(cut_key, "--cut", parameters.cut.as_deref()),
        setting("search.model", "--model", arguments.model.as_deref()),
        setting("search.refresh", "--no-refresh", refresh),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Brings the index up to date and asks it, about the files and directories at `paths` if there are any. `None`: the user stopped it.
///
/// # Errors
/// A path outside the index, a flag or setting that is not allowed, no
/// index to search, or an index or model that fails.
pub fn ask(
    request: impl FnOnce(&Config) -> Result<SearchRequest, Error>,
    paths: &[String],
    settings: Vec<FlagSetting>,
    form: &OutputArguments,
    global: &Global,
    output: &Output,
) -> Result<Option<Answered>> {
    let session = Session::start(global, settings)?;
    let config = session.config()?;
    // Both checks come before indexing: a question that cannot be asked must not cost a run.
    let mut request = request(&config)?;
    request.tuned_rule(&config).map_err(|error| refused(error, "--cut"))?;
    let wants_refresh = config.search.refresh;
    let Some((index, freshness)) = refresh::open(session, config, wants_refresh, output)? else { return Ok(None) };
    let directory = WorkingDirectory::of(&index);
    for path in &mut request.paths {
        *path = directory.index_glob(path);
    }
    request.paths.extend(query_paths::globs(paths, &directory, index.root())?);
    if form.files {
        // The limit counts files here, and several results can be of one file.
        request.limit = Some(1000);
    }
    let mut answer = index.search_with(&request, &freshness, &())?;
    answer.warnings.extend(refresh::outdated(&freshness));
    warn(&answer, &freshness, output);
    background::start(&index, freshness.report.as_ref(), output);
    if let Some(problem) = index.feedback().recording_problem().filter(|_| output.verbose()) {
        output.note(&format!("the search could not be recorded, so it cannot be judged: {problem}"));
    }
    Ok(Some(Answered { index, request, answer }))
}

fn warn(answer: &Answer, freshness: &Freshness, output: &Output) {
    refresh::warn_of_use(freshness, output);
    if let Some(reason) = &answer.fallback_reason {
        output.warn(&format!("answered with {}: {reason}", answer.model.as_deref().unwrap_or("words alone")));
    }
    answer.warnings.iter().for_each(|warning| output.warn(warning));
}

/// Prints an answer. Paths can be opened from the working directory, except in JSON.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(answered: &Answered, form: &OutputArguments, limit: Option<usize>, output: &Output) -> Result<()> {
    let Answered { index, answer, .. } = answered;
    if form.json {
        return output.json(answer);
    }
    if form.jsonl {
        return print_lines(answer, output);
    }
    let directory = WorkingDirectory::of(index);
    let mut answer = answer.clone();
    for hit in &mut answer.results {
        hit.path = directory.display_path(&hit.namespace, &hit.path);
        hit.copies.iter_mut().for_each(|copy| copy.path = directory.display_path(&copy.namespace, &copy.path));
    }
    let pool = answer.pool.iter_mut().flatten();
    pool.for_each(|entry| entry.path = directory.display_path(&entry.namespace, &entry.path));
    for nearest in &mut answer.nearest {
        nearest.path = directory.display_path(&nearest.namespace, &nearest.path);
    }
    if form.files {
        let mut out = output.plain();
        answer::files(&mut out, &answer.results, limit.unwrap_or(index.config().search.top_k))?;
        out.flush()?;
        output.note(&answer::summary(&answer));
        return Ok(());
    }
    if form.vimgrep {
        let mut out = output.plain();
        answer::vimgrep(&mut out, &answer.results)?;
        out.flush()?;
        output.note(&answer::summary(&answer));
        return Ok(());
    }
    let mut out = output.paged();
    answer::whole(&mut out, &answer)?;
    if form.explain {
        explain::explanation(&mut out, &answer)?;
    }
    out.flush()?;
    Ok(())
}

/// Prints each result on one line, for `tamis cut` and other filters.
fn print_lines(answer: &Answer, output: &Output) -> Result<()> {
    let mut out = output.exact();
    for hit in &answer.results {
        hit.serialize(&mut json_lines(&mut out))?;
        writeln!(out)?;
    }
    out.flush()?;
    output.note(&answer::summary(answer));
    Ok(())
}
