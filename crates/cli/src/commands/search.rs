//! `tamis search`: asks the index, and explains filters that leave nothing.

use super::ask::{self, Answered, ask};
use super::query_paths;
use crate::args::{Global, MetadataArguments, SearchArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::session::{FlagSetting, setting};
use anyhow::{Result, bail};
use tamis::{Index, SearchRequest};

/// Answers a question.
///
/// # Errors
/// A flag or setting that is not allowed, no index to search, or an index or model that fails.
pub fn run(arguments: &SearchArguments, global: &Global, output: &Output) -> Result<Exit> {
    let common = &arguments.common;
    let divided = query_paths::divided(&common.query, &common.after_dashes, common.given.as_deref());
    let request = SearchRequest { query: divided.query, ..request(arguments)? };
    let Some(answered) = ask(request, &divided.paths, settings(arguments), &common.output, global, output)? else {
        return Ok(Exit::Interrupted);
    };
    if let [word] = divided.either.as_slice() {
        output.note(&format!(
            "searched for the word {word}, which is a path here too: -e QUERY {word} searches below it"
        ));
    }
    let Answered { index, request, answer } = &answered;
    if answer.index.passages == 0 {
        explain_empty(index, request, &common.metadata, output)?;
    }
    ask::print(&answered, &common.output, common.limit, output)?;
    Ok(Exit::found(!answer.results.is_empty()))
}

fn settings(arguments: &SearchArguments) -> Vec<FlagSetting> {
    let own = [
        setting("search.guarantee", "--guarantee", arguments.guarantee.as_deref()),
        setting("rank.recency", "--recency", arguments.recency.as_deref()),
    ];
    ask::settings(&arguments.common, "search.cut").into_iter().chain(own.into_iter().flatten()).collect()
}

fn request(arguments: &SearchArguments) -> Result<SearchRequest> {
    let mut languages: Vec<String> =
        arguments.languages.iter().flat_map(|names| names.iter().map(ToString::to_string)).collect();
    languages.sort();
    languages.dedup();
    let variants = arguments.variants.iter().map(|variant| variant.parse());
    Ok(SearchRequest {
        variants: variants.collect::<Result<_, tamis::Error>>()?,
        languages,
        language_hint: arguments.prefer_lang.map(str::to_owned),
        caller_path: arguments.from.clone(),
        kinds: arguments.kinds.clone(),
        roles: arguments.roles.clone(),
        symbols: arguments.symbols.clone(),
        passages: arguments.passages,
        ..ask::request(&arguments.common, SearchRequest::new)
    })
}

/// Names the filters that leave nothing, and the values in the index.
fn explain_empty(index: &Index, request: &SearchRequest, metadata: &MetadataArguments, output: &Output) -> Result<()> {
    let summary = index.contents().summary()?;
    if summary.passages == 0 {
        output.note(&format!("{}: there is nothing to index here", index.root().display()));
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
            let names = names.join(", ");
            output.note(&format!("each filter matches something, but nothing matches all of them: {names}"));
        }
        return Ok(());
    }
    let is_empty = |flag: &str| empty.iter().any(|name| name.split(' ').any(|part| part == flag));
    // A path without wildcards names one thing, which the user expects to exist.
    let wildcard = |path: &&String| path.contains(['*', '?', '[', '{']) || path.starts_with('!');
    if let [path] = request.paths.as_slice()
        && !wildcard(&path)
        && is_empty("--path")
    {
        let root = index.root().display();
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
        output.note("--symbol takes a whole name (Store::open), its last part (open), or a prefix (op*)");
    }
    if is_empty("--lang") {
        output.note(&format!("the languages here are {}", names(&summary.languages)));
    }
    let given = metadata.given();
    if given.iter().any(|flag| is_empty(flag)) {
        let given = given.join(", ");
        output.note(&format!("{given}: nothing matches; passages without such a field are left out too"));
    }
    Ok(())
}

/// The filters in use, as the user writes them, each with a request that has no other.
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
