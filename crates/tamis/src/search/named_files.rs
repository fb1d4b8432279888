//! The files that a query names. One is among the results, whatever it holds. Otherwise the search takes the path as words, and says so
//! where the index has no such file: the user may have meant to search below it.

use std::collections::{BTreeMap, BTreeSet};

use tamis_rank::{ExactFind, says_failure};
use tamis_store::{Filter, Namespace, PassageId, StoreError};

use super::context::Context;
use super::plan::RetrieverQueries;
use super::query::Query;
use crate::Error;
use crate::handle::SourceState;
use crate::index::is_file;

/// The most words of a query that are looked up, and the most words of a query that somebody wrote, and did not paste.
const MOST_PATHS: usize = 3;
const MOST_WORDS: usize = 32;

/// The most files among which a path is looked for. In larger indexes nothing is said.
const MOST_FILES: u64 = 50_000;

/// The least likeness of two paths, and of their last parts, for one to be a slip of the other.
const LEAST_LIKENESS: f64 = 0.8;

/// The longest extension of a file name.
const LONGEST_EXTENSION: usize = 8;

/// The most files of one name that a query names. Of more, it names the one at the root.
const MOST_OF_NAME: usize = 3;

/// The passages of each retriever among which those of a named file are looked for.
const MOST_OF_FILES: usize = 64;

/// Files that most projects of a language have. A question that mentions one is hardly ever about its text.
const MANIFESTS: [&str; 10] = [
    "Cargo.toml", "Gemfile", "build.gradle", "composer.json", "go.mod", "package.json", "pom.xml", "pyproject.toml",
    "setup.py", "tsconfig.json",
];

/// A word that looks like a path.
#[derive(Debug, PartialEq, Eq)]
struct PathWord {
    /// The word as written, without punctuation around it.
    text: String,
    /// The path in the form of the index.
    path: String,
    /// True if it is a path by its form. `src/net` is one where `src` is a directory, and `and/or` is not.
    certain: bool,
}

/// Returns the best passage of each file that a question names, or the one with the line that it names, among the passages of a filter.
/// `queries` are those of its retrievers.
pub(crate) fn named_files(
    context: &Context<'_>,
    query: &Query,
    filter: &Filter,
    queries: &RetrieverQueries<'_>,
) -> Result<Vec<(PassageId, ExactFind)>, StoreError> {
    let mut found = Vec::new();
    // A caller who has chosen the files has no other in mind. A glob that only excludes, as that of commits does, chooses none.
    if filter.path_globs.iter().any(|glob| !glob.starts_with('!')) {
        return Ok(found);
    }
    for FileName { name, line } in file_names(&query.text) {
        let mut narrowed = filter.clone();
        narrowed.path_globs.push(format!("**/{name}"));
        let mut ids = Vec::new();
        if let Some(query) = &queries.lexical {
            ids.extend(
                context.index.store.lexical(query, &narrowed, MOST_OF_FILES)?.hits.iter().map(|hit| hit.passage),
            );
        }
        if let Some(query) = &queries.semantic {
            let nearest = context.index.store.nearest(query.model, query.vector, &narrowed, MOST_OF_FILES)?;
            ids.extend(nearest.hits.iter().map(|hit| hit.passage));
        }
        let passages = context.index.store.passages(&filter.namespaces, &ids)?;
        // The first of a file is its best one: by words, or else by meaning.
        let place = |id: PassageId| ids.iter().position(|&one| one == id);
        let mut best: BTreeMap<(&str, &str), PassageId> = BTreeMap::new();
        for passage in passages.iter().filter(|passage| is_path_of(&name, &passage.path)) {
            let best = best.entry((passage.namespace.as_str(), passage.path.as_str())).or_insert(passage.passage);
            if place(passage.passage) < place(*best) {
                *best = passage.passage;
            }
        }
        let at_root = |path: &str| path == name;
        if let Some(line) = line {
            let is_whole = best.keys().any(|(_, path)| at_root(path));
            let documents = best.keys().copied().filter(|(_, path)| !is_whole || at_root(path));
            let lines = with_line(context, documents, line)?;
            if (1..=MOST_OF_NAME).contains(&lines.len()) {
                found.extend(lines.into_iter().map(|passage| (passage, ExactFind::Line(line))));
                continue;
            }
        }
        let all = best.len() <= MOST_OF_NAME;
        let named = best.into_iter().filter(|((_, path), _)| all || at_root(path));
        found.extend(named.map(|(_, passage)| (passage, ExactFind::File)));
    }
    Ok(found)
}

/// The innermost passage with a line, or the one before it, in each of some documents that have so many.
fn with_line<'d>(
    context: &Context<'_>,
    documents: impl Iterator<Item = (&'d str, &'d str)>,
    line: u32,
) -> Result<Vec<PassageId>, StoreError> {
    let mut found = Vec::new();
    for (namespace, path) in documents {
        let passages = context.index.store.document_passages(namespace, path)?;
        let has_it = passages.iter().any(|passage| passage.end_line >= line);
        let begun = passages.iter().filter(|passage| passage.start_line <= line && has_it);
        found.extend(begun.max_by_key(|passage| passage.start_line).map(|passage| passage.passage));
    }
    Ok(found)
}

/// Returns a warning for each word of a question that looks like a path and names nothing in the searched namespaces, with the
/// nearest path if there is one. The paths in a message are those of who ran the program.
pub(crate) fn missing_paths(context: &Context<'_>, query: &Query) -> Result<Vec<String>, Error> {
    if query.memory || query.message.is_some() || says_failure(&query.text) {
        return Ok(Vec::new());
    }
    let mut words = Vec::new();
    for word in path_words(&query.text) {
        if !has_file(context, &word.path, &query.scope.names)? {
            words.push(word);
        }
    }
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let searched = |known: &Namespace| query.scope.names.contains(&known.name);
    let known = context.index.store.namespaces()?;
    let files: u64 = known.iter().filter(|known| searched(known)).map(|known| known.documents).sum();
    if files > MOST_FILES {
        return Ok(Vec::new());
    }
    let mut paths = BTreeSet::new();
    for namespace in &query.scope.names {
        let files = context.index.store.documents(namespace)?.into_iter().filter(is_file);
        paths.extend(files.map(|document| document.path));
    }
    Ok(warnings(&words, &paths))
}

/// Returns a warning for each namespace of an answer whose directory is gone. In a database, it may be on another machine.
pub(crate) fn gone_sources(context: &Context<'_>, shown: BTreeSet<&str>) -> Vec<String> {
    if context.index.config.store.url.is_some() {
        return Vec::new();
    }
    let sources = context.index.registry.sources().filter(|source| shown.contains(source.namespace.as_str()));
    let remark = |namespace: &str| SourceState::Gone.remark(namespace).unwrap_or_default();
    let gone = sources.filter(|source| !source.root.is_dir());
    gone.map(|source| format!("the directory of {} is {}", source.namespace, remark(&source.namespace))).collect()
}

/// Whether a path is the whole one of a file, which costs less to know than a list of all.
fn has_file(context: &Context<'_>, path: &str, namespaces: &[String]) -> Result<bool, Error> {
    for namespace in namespaces {
        if context.index.store.document(namespace, path)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn warnings(words: &[PathWord], files: &BTreeSet<String>) -> Vec<String> {
    let mut warnings = Vec::new();
    for word in words {
        let top = word.path.split('/').next().unwrap_or_default();
        let is_path =
            word.certain || files.iter().any(|file| file.split_once('/').is_some_and(|(first, _)| first == top));
        if !is_path || files.iter().any(|file| is_at_or_below(file, &word.path)) {
            continue;
        }
        let nearest =
            nearest_path(&word.path, files).map(|path| format!("; the nearest is {path}")).unwrap_or_default();
        warnings.push(format!("{}: no such file in the index; searched as words{nearest}", word.text));
    }
    warnings
}

/// Whether a file is at a path or below it. Users write paths from where they are, so the path may begin inside.
fn is_at_or_below(file: &str, path: &str) -> bool {
    let whole_parts = |at: usize| {
        let (before, after) = (&file[..at], &file[at + path.len()..]);
        (before.is_empty() || before.ends_with('/')) && (after.is_empty() || after.starts_with('/'))
    };
    file.match_indices(path).any(|(at, _)| whole_parts(at))
}

/// The file or directory with the most similar path.
fn nearest_path<'a>(path: &str, files: &'a BTreeSet<String>) -> Option<&'a str> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let directories = files.iter().flat_map(|file| file.match_indices('/').map(|(at, _)| &file[..at]));
    // Others wrote the names, and a sentence would read like part of the message.
    let candidates = directories.chain(files.iter().map(String::as_str)).filter(|path| path.chars().all(is_of_path));
    let name = last(path);
    let likeness = |other: &str| {
        let of_names = strsim::jaro_winkler(&name, &last(other));
        let of_paths = strsim::jaro_winkler(path, other);
        // A file of the same name elsewhere has probably been moved.
        let is_near = of_names >= LEAST_LIKENESS && of_paths >= LEAST_LIKENESS || name == last(other);
        is_near.then_some(of_names + of_paths)
    };
    let likely = candidates.filter_map(|other| Some((likeness(other)?, other)));
    likely.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, path)| path)
}

/// Whether somebody pasted a query, and did not write it.
fn is_pasted(query: &str) -> bool {
    query.contains('\n') || query.split_whitespace().take(MOST_WORDS + 1).count() > MOST_WORDS
}

/// The path of a file, or the end of one, and a line in it.
#[derive(Debug, PartialEq, Eq)]
struct FileName {
    name: String,
    line: Option<u32>,
}

/// The words of a query that can be the path of a file, or the end of one.
fn file_names(query: &str) -> Vec<FileName> {
    let mut found: Vec<FileName> = Vec::new();
    for word in query.split_whitespace().filter(|_| !is_pasted(query)) {
        let text = word.trim_start_matches(['(', '[', '{', '<', '\'', '`', '"']);
        let (path, line) = split_line(text.trim_end_matches(|c| ")]}>'`\",;:!?.".contains(c)));
        let name = path.trim_start_matches("../").trim_start_matches("./");
        let file = name.rsplit('/').next().unwrap_or_default();
        let has_extension = file.rsplit_once('.').is_some_and(|(stem, extension)| match stem {
            "" => extension.len() > 1 && extension.chars().all(char::is_alphabetic),
            _ => is_extension(extension),
        });
        // Only files have lines, so a name before one needs no extension.
        let is_file = line.is_some() || has_extension && !MANIFESTS.contains(&name);
        let can_be = is_file && !name.is_empty() && name.chars().all(is_of_path) && !name.starts_with('/');
        if can_be && found.len() < MOST_PATHS && !found.iter().any(|known| known.name == name) {
            found.push(FileName { name: name.to_owned(), line });
        }
    }
    found
}

/// Whether a path is this one or ends with it.
fn is_path_of(name: &str, path: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Whether a text is the extension of a file's name, and not the rest of a number.
fn is_extension(text: &str) -> bool {
    text.len() <= LONGEST_EXTENSION && text.chars().all(char::is_alphanumeric) && text.starts_with(char::is_alphabetic)
}

/// The words of a query that look like paths under a root, outside quotation marks.
fn path_words(query: &str) -> Vec<PathWord> {
    let mut quoted = false;
    let mut found = Vec::new();
    for word in query.split_whitespace().filter(|_| !is_pasted(query)) {
        let marks = word.matches('"').count();
        found.extend(path_word(word).filter(|_| !quoted && marks == 0));
        quoted ^= marks % 2 == 1;
    }
    found.truncate(MOST_PATHS);
    found
}

fn path_word(word: &str) -> Option<PathWord> {
    let text = word.trim_start_matches(['(', '[', '{', '<', '\'', '`']);
    let text = text.trim_end_matches(|c| ")]}>'`,;:!?.".contains(c));
    let (path, _) = split_line(text);
    let under = path.trim_start_matches("../").trim_start_matches("./");
    let is_relative = under.len() < path.len();
    let (first, rest) = under.split_once('/')?;
    // `github.com/a/b` is an address, and `/etc/hosts` is of another tree.
    let is_address = first.contains('.') && !first.starts_with('.');
    let is_path = !first.is_empty() && !is_address && under.chars().all(is_of_path) && !under.contains("//");
    let is_directory = under.ends_with('/') && under.contains(char::is_alphabetic);
    let extension =
        rest.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, extension)| extension);
    let certain = is_relative || is_directory || is_extension(extension);
    is_path.then(|| PathWord { text: text.to_owned(), path: under.trim_end_matches('/').to_owned(), certain })
}

/// A path and the first of the lines that stand after it: `src/main.rs:40-80`, `src/main.rs:40:7`, `src/main.rs#L40`, `src/main.ts(40,7)`.
fn split_line(text: &str) -> (&str, Option<u32>) {
    let split = |mark: &str| {
        let (path, lines) = text.split_once(mark)?;
        let end = lines.find(|c: char| !c.is_ascii_digit()).unwrap_or(lines.len());
        let is_rest = lines[end..].chars().all(|c| c.is_ascii_digit() || ":-,LC".contains(c));
        lines[..end].parse().ok().filter(|_| is_rest).map(|line| (path, line))
    };
    let found = [":", "#L", "("].into_iter().find_map(split);
    found.map_or((text, None), |(path, line)| (path, Some(line)))
}

fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || "/._-+@".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Vec<String> {
        let files =
            ["src/network/client.rs", "src/network/server.rs", "src/main.rs", "docs/and/or.md", "a/say this/client.rs"];
        warnings(&path_words(query), &files.map(str::to_owned).into())
    }

    #[test]
    fn a_path_without_a_file_gets_a_warning_with_the_nearest_and_a_word_with_an_extension_can_name_a_file() {
        for (query, path, nearest) in [
            ("retry src/netwrk/client.rs", "src/netwrk/client.rs", Some("src/network/client.rs")),
            ("retry in `src/netwrk/client.rs:4`, as before", "src/netwrk/client.rs:4", Some("src/network/client.rs")),
            ("retry src/netwrk/", "src/netwrk/", Some("src/network")),
            ("retry src/netwrk", "src/netwrk", Some("src/network")),
            ("retry ../net/client.rs", "../net/client.rs", Some("src/network/client.rs")),
            ("retry lib/zebra.py", "lib/zebra.py", None),
        ] {
            let nearest = nearest.map(|nearest| format!("; the nearest is {nearest}")).unwrap_or_default();
            let told = format!("{path}: no such file in the index; searched as words{nearest}");
            assert_eq!(of(query), [told], "{query}");
        }
        for (query, names) in [
            ("update `api.mdx`", &[("api.mdx", None)][..]),
            ("what does ./src/retry.rs:40-80 do?", &[("src/retry.rs", Some(40))]),
            (
                "(src/a.rs:7:3), a.ts(12,5): b.vue#L9-L12",
                &[("src/a.rs", Some(7)), ("a.ts", Some(12)), ("b.vue", Some(9))],
            ),
            ("AGENTS.md, .cursorrules and \"de.po\"", &[("AGENTS.md", None), (".cursorrules", None), ("de.po", None)]),
            ("version 1.2 of package.json in /etc/a.conf", &[]),
            ("retry src/network", &[]),
            ("a log\nat src/retry.rs", &[]),
        ] {
            let found = file_names(query);
            let found: Vec<_> = found.iter().map(|file| (file.name.as_str(), file.line)).collect();
            assert_eq!(found, names, "{query}");
        }
        assert!(is_path_of("a/b.rs", "src/a/b.rs") && is_path_of("b.rs", "b.rs") && !is_path_of("b.rs", "src/ab.rs"));
    }

    #[test]
    fn what_exists_and_what_is_no_path_gets_none() {
        for query in [
            "retry src/network/client.rs",
            "retry network/client.rs:7",
            "retry ./src/network/ src/network",
            "and/or TCP/IP 24/7 I/O read/write client/server km/h HTTP/1.1 N/A 1/2",
            "see https://example.org/a/b.html or github.com/a/b.git",
            "cannot open /tmp/x.toml or ~/x/y.toml",
            "path src/**/x.rs and a\\b/c.rs",
            "the text \"in src/netwrk/client.rs here\" is quoted",
            "a log\nat src/netwrk/client.rs",
            "",
        ] {
            assert!(of(query).is_empty(), "{query}: {:?}", of(query));
        }
        let many = "x/a.rs ".repeat(9);
        assert_eq!(of(&many).len(), MOST_PATHS);
    }
}
