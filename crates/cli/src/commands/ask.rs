//! One question to the index, for `tamis search` and `tamis recall`: the flags that both take, the words and the paths of the
//! question, the search itself, and the answer in the form that the user chose.

use super::cut::refused;
use super::refresh;
use crate::background_embedding;
use crate::command_line::Global;
use crate::output::{Output, json_lines};
use crate::print::{answer, explain};
use crate::session::{FlagSetting, Session, setting};
use crate::working_directory::WorkingDirectory;
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use tamis::search::{Asker, Reading, SearchCaller};
use tamis::{Answer, Freshness, Index, SearchRequest};

/// The words of a question, how it is searched, and the form of its answer.
#[derive(Debug, Args)]
pub struct QueryArguments {
    /// A question, or some words
    #[arg(required_unless_present_any = ["given", "after_dashes"], value_name = "QUERY", hide_short_help = true)]
    pub words: Vec<String>,
    /// Words that are never options or paths
    #[arg(last = true, value_name = "WORDS", hide_short_help = true)]
    pub after_dashes: Vec<String>,
    /// Ask this; all other arguments are paths
    #[arg(
        short = 'e',
        long = "query",
        value_name = "QUERY",
        id = "given",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub given: Option<String>,

    /// Compare meaning with this model: auto, static, minilm, or one that a configuration file defines
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub model: Option<String>,
    /// Search the index as it is, without looking for changed files
    #[arg(long, hide_short_help = true)]
    pub no_refresh: bool,

    #[command(flatten)]
    pub output: OutputArguments,
}

/// The form of an answer.
#[derive(Debug, Args)]
pub struct OutputArguments {
    /// Explain the cut: candidates, curve, figures and timings
    #[arg(long, conflicts_with = "files", help_heading = "Output")]
    pub explain: bool,
    /// Print the answer as one JSON object
    #[arg(long, group = "form", help_heading = "Output")]
    pub json: bool,
    /// Print each result as one line of JSON
    #[arg(long, group = "form", help_heading = "Output", hide_short_help = true)]
    pub jsonl: bool,
    /// Print each result as PATH:LINE:COLUMN:TEXT, for editors
    #[arg(long, group = "form", conflicts_with = "explain", help_heading = "Output", hide_short_help = true)]
    pub vimgrep: bool,
    /// Print only the paths, best first
    #[arg(long, group = "form", help_heading = "Output")]
    pub files: bool,
}

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
pub fn asked(request: &SearchRequest, arguments: &QueryArguments) -> SearchRequest {
    let mut request = request.clone().asker(Asker::at("cli").called_by(SearchCaller::command_line()));
    request.query = words(arguments);
    request.output.explain = arguments.output.explain;
    // This flag is a setting: see `settings`.
    request.cut.method = None;
    request
}

/// The words of the query, if none of its arguments is a path.
fn words(arguments: &QueryArguments) -> String {
    let words = arguments.given.iter().chain(&arguments.words).chain(&arguments.after_dashes);
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The shared flags that are configuration keys: one path checks them and decides which origin is stronger. `cut_key` is the
/// key of `--cut`.
pub fn settings(request: &SearchRequest, arguments: &QueryArguments, cut_key: &str) -> Vec<FlagSetting> {
    let refresh = arguments.no_refresh.then_some("false");
    [
        setting(cut_key, "--cut", request.cut.method.as_deref()),
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
    mut request: SearchRequest,
    paths: &[String],
    settings: Vec<FlagSetting>,
    form: &OutputArguments,
    global: &Global,
    output: &Output,
) -> Result<Option<Answered>> {
    let session = Session::start(global, settings)?;
    let config = session.config()?;
    // Both checks come before indexing: a question that cannot be asked must not cost a run.
    request.check()?;
    request.tuned_rule(&config).map_err(|error| refused(error, "--cut"))?;
    let wants_refresh = config.search.refresh;
    let namespaces = request.filters.named_namespaces();
    let Some((index, freshness)) = refresh::open(session, config, wants_refresh, &namespaces, output)? else {
        return Ok(None);
    };
    let directory = WorkingDirectory::from_index(&index);
    for path in &mut request.filters.paths {
        *path = directory.index_glob(path);
    }
    request.filters.paths.extend(globs(paths, &directory, index.root())?);
    if form.files {
        // The limit counts files here, and several results can be of one file.
        request.limit = Some(1000);
    }
    let mut answer = index.search_with(&request, &freshness, &())?;
    answer.warnings.extend(refresh::outdated(&freshness));
    warn(&answer, &freshness, output);
    background_embedding::start(&index, freshness.report.as_ref(), output);
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
    let directory = WorkingDirectory::from_index(index);
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
        let shown = answer::files(&mut out, &answer.results, limit.unwrap_or(index.config().search.top_k))?;
        out.flush()?;
        if shown < answer.results.len() {
            answer.summary = Reading::explain(answer.cut.sentence(shown, &answer.missing_words), &answer.readings);
        }
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
    let mut out = output.paged().linked(index);
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

/// The words of a query, and the paths to search.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WordsAndPaths {
    /// The query.
    pub query: String,
    /// Files and directories as typed.
    pub paths: Vec<String>,
    /// Words at the end that name a file or directory here too.
    pub either: Vec<String>,
}

/// Divides arguments. Everything is a path where `--query` gives the query. Otherwise the last arguments that name something here
/// are paths: all of them after a query in quotes, and those with a slash after a query without. What follows `--` are words.
pub fn divided(arguments: &[String], after_dashes: &[String], given: Option<&str>) -> WordsAndPaths {
    if let Some(query) = given {
        let query = std::iter::once(query).chain(after_dashes.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        return WordsAndPaths { query, paths: arguments.to_vec(), ..WordsAndPaths::default() };
    }
    let quoted = arguments.first().is_some_and(|first| first.trim().contains(char::is_whitespace));
    let exists = |text: &&String| !text.is_empty() && Path::new(text.as_str()).exists();
    let is_path = |text: &&String| exists(text) && (quoted || has_slash(text));
    // The first argument is a word, unless words follow the dashes.
    let first = usize::from(after_dashes.is_empty());
    let later = arguments.get(first..).unwrap_or_default();
    let paths = later.iter().rev().take_while(is_path).count();
    let (words, paths) = arguments.split_at(arguments.len() - paths);
    let either = match paths.is_empty() && after_dashes.is_empty() {
        true => words.iter().skip(1).rev().take_while(exists).cloned().collect(),
        false => Vec::new(),
    };
    let query = words.iter().chain(after_dashes).map(String::as_str).collect::<Vec<_>>().join(" ");
    WordsAndPaths { query, paths: paths.to_vec(), either }
}

fn has_slash(text: &str) -> bool {
    text.contains('/') || [".", ".."].contains(&text) || cfg!(windows) && text.contains('\\')
}

/// The globs of an index for paths from the working directory. A directory stands for everything in it; the root for everything.
///
/// # Errors
/// A path names nothing, or something outside the index.
fn globs(paths: &[String], directory: &WorkingDirectory, root: &Path) -> Result<Vec<String>> {
    let mut globs = Vec::with_capacity(paths.len());
    for path in paths {
        if !Path::new(path).exists() {
            bail!("{path}: no such file or directory; after --query, only paths follow");
        }
        match directory.inside(Path::new(path)) {
            Some(inside) if inside.is_empty() => globs.push("/**".to_owned()),
            Some(inside) => globs.push(format!("/{}", escaped(&inside))),
            None => {
                bail!("{path}: outside the index of {}; words that name a path by chance go after --", root.display())
            }
        }
    }
    Ok(globs)
}

/// A path as a glob that matches it alone, behind a slash: there, a `!` excludes nothing.
fn escaped(path: &str) -> String {
    let escape = |c: char| if "*?[]{}\\".contains(c) { format!("[{c}]") } else { c.to_string() };
    path.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn of(words: &[&str]) -> (String, Vec<String>) {
        let WordsAndPaths { query, paths, .. } = divided(&owned(words), &[], None);
        (query, paths)
    }

    // The tests run in the directory of this crate.
    #[test]
    fn paths_follow_a_query_in_quotes_and_words_without_quotes_are_words_unless_they_have_a_slash() {
        assert_eq!(of(&["retry limit", "src", "Cargo.toml"]), ("retry limit".into(), owned(&["src", "Cargo.toml"])));
        assert_eq!(of(&["retry limit", "nowhere"]), ("retry limit nowhere".into(), Vec::new()));
        assert_eq!(of(&["retry limit", "src", "nowhere"]), ("retry limit src nowhere".into(), Vec::new()));
        assert_eq!(of(&["retry limit"]), ("retry limit".into(), Vec::new()));
        assert_eq!(of(&["where", "is", "src"]), ("where is src".into(), Vec::new()));
        assert_eq!(of(&["retry", "src/"]), ("retry".into(), owned(&["src/"])));
        assert_eq!(of(&["retry", "limit", "src/main.rs"]), ("retry limit".into(), owned(&["src/main.rs"])));
        assert_eq!(of(&["src/main.rs"]), ("src/main.rs".into(), Vec::new()), "a query is never empty");
        assert_eq!(divided(&owned(&["retry", "src"]), &[], None).either, ["src"]);
        assert!(divided(&owned(&["retry", "policy"]), &[], None).either.is_empty());
    }

    #[test]
    fn dashes_and_the_flag_decide_and_a_path_matches_itself() {
        let words = divided(&owned(&["retry"]), &owned(&["src/main.rs"]), None);
        assert_eq!((words.query.as_str(), words.paths.len()), ("retry src/main.rs", 0));
        let flag = divided(&owned(&["src", "nowhere"]), &[], Some("retry"));
        assert_eq!((flag.query.as_str(), flag.paths), ("retry", owned(&["src", "nowhere"])));
        let dashes = divided(&[], &owned(&["-x"]), None);
        assert_eq!(dashes.query, "-x");
        assert_eq!(escaped("app/[id]/{a}.tsx"), "app/[[]id[]]/[{]a[}].tsx");
    }
}
