//! `tamis search`: bring up to date, search, print.

use super::fresh;
use crate::args::{FormArguments, Global, MetadataArguments, SearchArguments, refused};
use crate::exit::Exit;
use crate::here::Here;
use crate::output::{Output, json_lines};
use crate::print::{answer, explain};
use crate::session::{FlagSetting, Session, setting};
use anyhow::{Result, bail};
use serde::Serialize;
use std::io::Write;
use tamis::{Answer, Freshness, Index, SearchRequest};

/// Answers a question.
///
/// # Errors
/// A flag or setting that is not allowed, no index to search, or an index or model that fails.
pub fn run(arguments: &SearchArguments, global: &Global, output: &Output) -> Result<Exit> {
    let mut request = request(arguments)?;
    // Before anything is indexed: a question that cannot be asked must not cost a run.
    request.check()?;
    let session = Session::start(global, flags(arguments))?;
    let config = session.config()?;
    request.asked(&config).map_err(|error| refused(error, "--cut"))?;
    let refresh = config.search.refresh;
    let Some((index, freshness)) = fresh::opened(session, config, refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let answer = ask(&index, &mut request, &freshness, &arguments.form, output)?;
    if answer.index.passages == 0 {
        explain_empty(&index, &request, &arguments.metadata, output)?;
    }
    print(&answer, &arguments.form, arguments.limit, &index, output)?;
    Ok(Exit::found(!answer.results.is_empty()))
}

/// Asks, with paths as they are written from here, and says what makes the answer worse than it could be.
///
/// # Errors
/// The index cannot be searched.
pub(super) fn ask(
    index: &Index,
    request: &mut SearchRequest,
    freshness: &Freshness,
    form: &FormArguments,
    output: &Output,
) -> Result<Answer> {
    let here = Here::of(index);
    for path in &mut request.paths {
        *path = here.glob(path);
    }
    if form.files {
        // The limit counts files, of which several passages can be relevant.
        request.limit = Some(1000);
    }
    let answer = index.search_with(request, freshness, &())?;
    warn(&answer, freshness, output);
    if let Some(problem) = index.feedback().recording_problem().filter(|_| output.verbose()) {
        output.note(&format!("not recorded, so it cannot be judged: {problem}"));
    }
    Ok(answer)
}

/// The flags that are configuration keys, so that one path checks them and decides what is stronger.
fn flags(arguments: &SearchArguments) -> Vec<FlagSetting> {
    let refresh = arguments.no_refresh.then_some("false");
    [
        setting("search.cut", "--cut", arguments.cut.as_deref()),
        setting("search.guarantee", "--guarantee", arguments.guarantee.as_deref()),
        setting("search.want", "--want", arguments.aim.want.as_deref()),
        setting("search.mode", "--mode", arguments.mode.as_deref()),
        setting("search.model", "--model", arguments.model.as_deref()),
        setting("rank.recency", "--recency", arguments.recency.as_deref()),
        setting("search.refresh", "--no-refresh", refresh),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn request(arguments: &SearchArguments) -> Result<SearchRequest> {
    let mut languages: Vec<String> =
        arguments.languages.iter().flat_map(|names| names.iter().map(ToString::to_string)).collect();
    languages.sort();
    languages.dedup();
    let variants = arguments.variants.iter().map(|variant| variant.parse());
    Ok(SearchRequest {
        variants: variants.collect::<Result<_, tamis::Error>>()?,
        limit: arguments.limit,
        languages,
        language_hint: arguments.prefer_lang.map(str::to_owned),
        caller_path: arguments.from.clone(),
        kinds: arguments.kinds.clone(),
        roles: arguments.roles.clone(),
        symbols: arguments.symbols.clone(),
        namespaces: arguments.scope.namespaces.clone(),
        sharing: arguments.scope.no_sharing.then_some(false),
        collections: arguments.collections.clone(),
        paths: arguments.scope.paths.clone(),
        metadata: arguments.metadata.filter(),
        explain: arguments.form.explain,
        aim: arguments.aim.aim(),
        entry_point: Some("cli".into()),
        snippet_lines: arguments.context.map(|around| 2 * around + 1),
        ..SearchRequest::new(arguments.query.join(" "))
    })
}

fn warn(answer: &Answer, freshness: &Freshness, output: &Output) {
    fresh::warn(freshness, output);
    if let Some(reason) = &answer.fallback_reason {
        output.warn(&format!("answered with {}: {reason}", answer.model.as_deref().unwrap_or("words alone")));
    }
    answer.warnings.iter().for_each(|warning| output.warn(warning));
}

/// Nothing passed the filters: says which of them can be at fault, and what there is.
fn explain_empty(index: &Index, request: &SearchRequest, metadata: &MetadataArguments, output: &Output) -> Result<()> {
    let summary = index.contents().summary()?;
    if summary.passages == 0 {
        output.note(&format!("{}: nothing to index here", index.location().root.display()));
        return Ok(());
    }
    let filters = filters(request, metadata);
    let mut empty = Vec::new();
    for (name, alone) in &filters {
        if index.passing(alone)? == 0 {
            empty.push(name.as_str());
        }
    }
    if empty.is_empty() {
        if filters.len() > 1 {
            let names: Vec<&str> = filters.iter().map(|(name, _)| name.as_str()).collect();
            output.note(&format!("each filter leaves something, all together nothing: {}", names.join(", ")));
        }
        return Ok(());
    }
    let is_empty = |flag: &str| empty.iter().any(|name| name.split(' ').any(|part| part == flag));
    // A path without wildcards names something that the user believes is there.
    let wildcard = |path: &&String| path.contains(['*', '?', '[', '{']) || path.starts_with('!');
    if let [path] = request.paths.as_slice()
        && !wildcard(&path)
        && is_empty("--path")
    {
        let root = index.location().root.display();
        if let Some(reason) = index.left_out(None, path.trim_start_matches('/'), None)? {
            bail!("--path {path}: left out of the index of {root}: {reason}");
        }
        bail!(
            "--path {path}: no such file or directory in the index of {root}; give a path or a glob under it, such as 'src/**/*.rs'"
        );
    }
    let names = |counts: &[tamis::store::Count]| {
        let names = counts.iter().map(|count| count.name.as_str()).filter(|name| !name.is_empty());
        names.collect::<Vec<_>>().join(", ")
    };
    if is_empty("--collection") {
        output.note(&format!("the collections here are {}", names(&summary.collections)));
    }
    if is_empty("--symbol") {
        output.note(
            "--symbol takes a name as it is written, whole (Store::open), its last part (open), or a prefix (op*)",
        );
    }
    if is_empty("--lang") {
        output.note(&format!("the languages here are {}", names(&summary.languages)));
    }
    let given = metadata.given();
    if given.iter().any(|flag| is_empty(flag)) {
        output.note(&format!("what says nothing of what is asked does not pass; given are {}", given.join(", ")));
    }
    Ok(())
}

/// The filters that are given, as they are written, each with a request that has no other.
fn filters(request: &SearchRequest, metadata: &MetadataArguments) -> Vec<(String, SearchRequest)> {
    let none = SearchRequest {
        namespace: request.namespace.clone(),
        namespaces: request.namespaces.clone(),
        sharing: request.sharing,
        ..SearchRequest::new(&request.query)
    };
    type Field = fn(&mut SearchRequest) -> &mut Vec<String>;
    let lists: [(&str, &[String], Field); 6] = [
        ("--path", &request.paths, |one| &mut one.paths),
        ("--lang", &request.languages, |one| &mut one.languages),
        ("--collection", &request.collections, |one| &mut one.collections),
        ("--kind", &request.kinds, |one| &mut one.kinds),
        ("--role", &request.roles, |one| &mut one.roles),
        ("--symbol", &request.symbols, |one| &mut one.symbols),
    ];
    let mut filters = Vec::new();
    for (flag, values, field) in lists.into_iter().filter(|(_, values, _)| !values.is_empty()) {
        let mut alone = none.clone();
        *field(&mut alone) = values.to_vec();
        filters.push((format!("{flag} {}", values.join(",")), alone));
    }
    if !request.metadata.is_empty() {
        let alone = SearchRequest { metadata: request.metadata.clone(), ..none };
        filters.push((metadata.given().join(" "), alone));
    }
    filters
}

/// Prints an answer; paths as they can be opened from here, except in JSON.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn print(
    answer: &Answer,
    form: &FormArguments,
    limit: Option<usize>,
    index: &Index,
    output: &Output,
) -> Result<()> {
    if form.json {
        return output.json(answer);
    }
    if form.jsonl {
        return lines(answer, output);
    }
    let here = Here::of(index);
    let mut answer = answer.clone();
    answer.results.iter_mut().for_each(|hit| hit.path = here.written(&hit.namespace, &hit.path));
    let pool = answer.pool.iter_mut().flatten();
    pool.for_each(|entry| entry.path = here.written(&entry.namespace, &entry.path));
    let summary = answer::summary(&answer);
    if form.files {
        let mut out = output.plain();
        answer::files(&mut out, &answer.results, limit.unwrap_or(index.config().search.top_k))?;
        out.flush()?;
        output.note(&summary);
        return Ok(());
    }
    let mut out = output.styled();
    answer::hits(&mut out, &answer)?;
    writeln!(out, "{summary}")?;
    if form.explain {
        explain::explanation(&mut out, &answer)?;
    }
    out.flush()?;
    Ok(())
}

/// Each result on a line, as `tamis cut` and other filters read them.
fn lines(answer: &Answer, output: &Output) -> Result<()> {
    let mut out = output.exact();
    for hit in &answer.results {
        hit.serialize(&mut json_lines(&mut out))?;
        writeln!(out)?;
    }
    out.flush()?;
    output.note(&answer::summary(answer));
    Ok(())
}
