//! `tamis grep`, `tamis files` and `tamis outline`: exact matches, files and symbols of the tree.

use super::refresh;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::text::{bytes, count, counted, highlighted, label, visible};
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use clap::Args;
use owo_colors::OwoColorize;
use std::io::{self, IsTerminal, Write};
use tamis::tree::{
    FilesAnswer, FilesRequest, GrepAnswer, GrepLine, GrepRequest, OutlineAnswer, OutlineRequest, TreeScope,
};
use tamis::{Error, Index};

/// Flags of `tamis grep`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis grep 'fn \\w+_timeout' src          a regular expression, below src
  tamis grep -F 'a[0]' --lang rust -A 3    these characters, with three lines after each
  tamis grep -lw unsafe                    the files that have the word
  tamis grep TODO -g '!vendor' --json

The files are those of the index, read as they are now. -C N shows context, as in ripgrep.

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct GrepArguments {
    #[command(flatten)]
    pub request: GrepRequest,
    /// Search only these files and directories
    #[arg(value_name = "PATH")]
    pub files: Vec<String>,
    /// Print only the paths of files with a match
    #[arg(short = 'l', long, group = "grep_form")]
    pub files_with_matches: bool,
    /// Print the number of matching lines of each file
    #[arg(short = 'c', long, group = "grep_form")]
    pub count: bool,
    /// Print each match as PATH:LINE:COLUMN:TEXT, for editors
    #[arg(long, group = "grep_form")]
    pub vimgrep: bool,
    /// Print the answer as one JSON object
    #[arg(long, group = "grep_form")]
    pub json: bool,
    /// Use the index as it is, without looking for new files
    #[arg(long)]
    pub no_refresh: bool,
    /// Show line numbers, as always; for those used to typing it
    #[arg(short = 'n', long, hide = true)]
    pub line_number: bool,
}

/// Flags of `tamis files`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis files                    all files of the index
  tamis files 'src/**/*_test.rs'  a glob
  tamis files '!tests'           all but these; '/!name' is a name with an exclamation mark
  tamis files retry              paths that contain it, best first
  tamis files srvmain            no path contains it, so its letters in order: server/main.rs

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct FilesArguments {
    #[command(flatten)]
    pub request: FilesRequest,
    /// Show size, language and last change
    #[arg(short = 'l', long, conflicts_with = "json")]
    pub long: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Use the index as it is, without looking for new files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Flags of `tamis outline`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis outline src/walk.rs      every symbol, with its lines and signature
  tamis outline src              the outermost symbols of each file
  tamis outline docs/guide.md    the headings of a document

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct OutlineArguments {
    #[command(flatten)]
    pub request: OutlineRequest,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Use the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Opens the index, up to date, and the place of the working directory in it. `None`: the user stopped it.
fn opened(
    no_refresh: bool,
    namespaces: &[String],
    global: &Global,
    output: &Output,
) -> Result<Option<(Index, WorkingDirectory)>> {
    let index = refresh::open_or_make(Session::start(global, Vec::new())?, no_refresh, namespaces, output)?;
    Ok(index.map(|index| {
        let directory = WorkingDirectory::from_index(&index);
        (index, directory)
    }))
}

/// Prints the lines that match.
///
/// # Errors
/// There is no index, a named file is missing, or the pattern is not allowed.
pub fn grep(arguments: &GrepArguments, global: &Global, output: &Output) -> Result<Exit> {
    let namespace = arguments.request.scope.namespace.as_slice();
    let Some((index, directory)) = opened(arguments.no_refresh, namespace, global, output)? else {
        return Ok(Exit::Interrupted);
    };
    let asked = &arguments.request;
    let listed = !(arguments.files_with_matches || arguments.count);
    let request = GrepRequest {
        scope: TreeScope { paths: scope(&directory, &arguments.files, &asked.scope.paths), ..asked.scope.clone() },
        limit: if listed { asked.limit } else { Some(0) },
        line_chars: Some(4000),
        ..asked.clone()
    };
    let mut found = index.tree().grep(&request, &()).map_err(|error| as_typed(error, &directory, &arguments.files))?;
    let exit = Exit::found(found.files > 0);
    if arguments.json {
        output.json(&found)?;
        return Ok(exit);
    }
    for file in &mut found.results {
        file.path = directory.display_path(&file.namespace, &file.path);
    }
    let mut out = output.paged().linked(&index).verbatim();
    if arguments.files_with_matches {
        print_paths(&mut out, &found)?;
    } else if arguments.count {
        print_counts(&mut out, &found)?;
    } else if arguments.vimgrep {
        print_vimgrep(&mut out, &found)?;
    } else {
        print_matches(&mut out, &found, std::io::stdout().is_terminal())?;
    }
    out.flush()?;
    output.note(&total_matches(&found));
    found.notes.iter().for_each(|note| output.note(note));
    Ok(exit)
}

/// The paths and globs of a scope. A path counts from the working directory and means itself.
fn scope(directory: &WorkingDirectory, paths: &[String], globs: &[String]) -> Vec<String> {
    paths.iter().map(|path| tied(directory, path)).chain(globs.iter().cloned()).collect()
}

/// A path from the working directory as one that begins at the root.
fn tied(directory: &WorkingDirectory, path: &str) -> String {
    match directory.index_glob(path) {
        root if [".", "", "/"].contains(&root.as_str()) => "/*".to_owned(),
        path => format!("/{}", path.trim_start_matches('/')),
    }
}

/// An error about a path, which it names as the user typed it.
fn as_typed(mut error: Error, directory: &WorkingDirectory, paths: &[String]) -> Error {
    if let Error::NotFound { wanted, .. } | Error::LeftOut { wanted, .. } = &mut error
        && let Some(typed) = paths.iter().find(|path| tied(directory, path) == *wanted)
    {
        typed.clone_into(wanted);
    }
    error
}

/// Prints the paths of the files that a pattern names.
///
/// # Errors
/// There is no index, or a glob is invalid.
pub fn files(arguments: &FilesArguments, global: &Global, output: &Output) -> Result<Exit> {
    let namespace = arguments.request.namespace.as_slice();
    let Some((index, directory)) = opened(arguments.no_refresh, namespace, global, output)? else {
        return Ok(Exit::Interrupted);
    };
    let mut request = arguments.request.clone();
    // A pattern is a part of a path, unless it is written as a path from here.
    let is_from_here = |typed: &&mut String| [".", ".."].contains(&typed.split('/').next().unwrap_or_default());
    if let Some(pattern) = request.pattern.as_mut().filter(is_from_here) {
        *pattern = tied(&directory, pattern);
    }
    let mut found = index.tree().files(&request)?;
    let exit = Exit::found(found.total > 0);
    if arguments.json {
        output.json(&found)?;
        return Ok(exit);
    }
    for file in &mut found.results {
        file.path = directory.display_path(&file.namespace, &file.path);
    }
    let mut out = output.paged().linked(&index).verbatim();
    print_files(&mut out, &found, arguments.long)?;
    out.flush()?;
    output.note(&total_files(&found));
    found.notes.iter().filter(|_| found.total == 0 || output.verbose()).for_each(|note| output.note(note));
    Ok(exit)
}

/// Prints the symbols with their lines.
///
/// # Errors
/// There is no index, or nothing of that name in it.
pub fn outline(arguments: &OutlineArguments, global: &Global, output: &Output) -> Result<Exit> {
    let namespace = arguments.request.namespace.as_slice();
    let Some((index, directory)) = opened(arguments.no_refresh, namespace, global, output)? else {
        return Ok(Exit::Interrupted);
    };
    let path = directory.index_glob(&arguments.request.path);
    let mut found = index.tree().outline(&OutlineRequest { path, ..arguments.request.clone() })?;
    let exit = Exit::found(found.symbols > 0);
    if arguments.json {
        output.json(&found)?;
        return Ok(exit);
    }
    for file in &mut found.files {
        file.path = directory.display_path(&file.namespace, &file.path);
    }
    let mut out = output.paged().linked(&index);
    print_outline(&mut out, &found)?;
    out.flush()?;
    found.notes.iter().for_each(|note| output.note(note));
    Ok(exit)
}

/// Writes the matching lines, under the path of each file or after it.
fn print_matches(out: &mut dyn Page, found: &GrepAnswer, headings: bool) -> io::Result<()> {
    let has_context = found.results.iter().any(|file| file.hits.iter().any(|hit| hit.column.is_none()));
    for (at, file) in found.results.iter().filter(|file| !file.hits.is_empty()).enumerate() {
        let path = label(&file.path);
        if headings {
            let first = file.hits.iter().find_map(|hit| Some((hit.line, hit.column?))).unwrap_or((1, 1));
            let path = out.link(&file.namespace, &file.path, first, path.purple().to_string());
            writeln!(out, "{}{path}", if at > 0 { "\n" } else { "" })?;
        } else if has_context && at > 0 {
            writeln!(out, "--")?;
        }
        let mut last: Option<u32> = None;
        for hit in &file.hits {
            if has_context && last.is_some_and(|last| hit.line > last + 1) {
                writeln!(out, "--")?;
            }
            last = Some(hit.line);
            let sign = if hit.column.is_some() { ':' } else { '-' };
            if !headings {
                write!(out, "{}{sign}", path.purple())?;
            }
            let at = (hit.line, hit.column.unwrap_or(1));
            let line = out.link(&file.namespace, &file.path, at, hit.line.green().to_string());
            writeln!(out, "{line}{sign}{}", text(hit))?;
        }
    }
    Ok(())
}

fn text(hit: &GrepLine) -> String {
    let text = highlighted(&hit.text, 0..hit.text.len(), &hit.spans);
    if hit.shortened { format!("{text} […]") } else { text }
}

/// Writes `PATH:LINE:COLUMN:TEXT` for each matching line.
fn print_vimgrep(out: &mut dyn Write, found: &GrepAnswer) -> io::Result<()> {
    for file in &found.results {
        for hit in &file.hits {
            let Some(column) = hit.column else { continue };
            writeln!(out, "{}:{}:{column}:{}", label(&file.path), hit.line, visible(&hit.text))?;
        }
    }
    Ok(())
}

/// Writes the path of each file with a match.
fn print_paths(out: &mut dyn Page, found: &GrepAnswer) -> io::Result<()> {
    found.results.iter().try_for_each(|file| {
        let path = path_of(out, &file.namespace, &file.path);
        writeln!(out, "{path}")
    })
}

/// Writes the number of matching lines of each file.
fn print_counts(out: &mut dyn Page, found: &GrepAnswer) -> io::Result<()> {
    found.results.iter().try_for_each(|file| {
        let path = path_of(out, &file.namespace, &file.path);
        writeln!(out, "{path}:{}", file.lines)
    })
}

/// The totals in one line.
fn total_matches(found: &GrepAnswer) -> String {
    let searched = format!("{} searched", counted(found.searched, "file"));
    if found.files == 0 {
        return format!("no match; {searched}");
    }
    let least = if found.complete { "" } else { "at least " };
    let listed = found.lines - found.unlisted;
    let listed =
        if found.unlisted > 0 && listed > 0 { format!("; the first {listed} lines are listed") } else { String::new() };
    let matches =
        if found.matches == found.lines { String::new() } else { format!("{} on ", counted_matches(found.matches)) };
    let lines = if matches.is_empty() { counted_matches(found.lines) } else { counted(found.lines, "line") };
    format!("{least}{matches}{lines} in {}{listed}; {searched}", counted(found.files, "file"))
}

fn counted_matches(number: u64) -> String {
    if number == 1 { "1 match".to_owned() } else { format!("{} matches", count(number)) }
}

/// Writes the path of each file, with its size, language and last change if asked.
fn print_files(out: &mut dyn Page, found: &FilesAnswer, long: bool) -> io::Result<()> {
    for file in &found.results {
        let path = path_of(out, &file.namespace, &file.path);
        if long {
            let day = file.changed_at.as_deref().and_then(|date| date.get(..10)).unwrap_or("-");
            let language = file.language.as_deref().unwrap_or("-");
            writeln!(out, "{:>9}  {day:<10}  {language:<12}  {path}", bytes(file.bytes))?;
        } else {
            writeln!(out, "{path}")?;
        }
    }
    Ok(())
}

/// The path of a file, which opens it.
fn path_of(out: &mut dyn Page, namespace: &str, path: &str) -> String {
    out.link(namespace, path, (1, 1), label(path).purple().to_string())
}

/// The totals of the files in one line.
fn total_files(found: &FilesAnswer) -> String {
    let shown = found.results.len() as u64;
    let first = if shown < found.total { format!("; the first {} are listed", count(shown)) } else { String::new() };
    let how = if found.matched == "fuzzy" && found.total > 0 {
        ", by letters in order, since no path contains it"
    } else {
        ""
    };
    format!("{}, {}{how}{first}", counted(found.total, "file"), bytes(found.bytes))
}

/// Writes the symbols under the path of each file.
fn print_outline(out: &mut dyn Page, found: &OutlineAnswer) -> io::Result<()> {
    for (at, file) in found.files.iter().enumerate() {
        let language = file.language.as_deref().unwrap_or("text");
        let about =
            format!("({language}, {}, {})", counted(file.lines.into(), "line"), counted(file.symbols, "symbol"));
        let path = path_of(out, &file.namespace, &file.path);
        writeln!(out, "{}{path}  {}", if at > 0 { "\n" } else { "" }, about.dimmed())?;
        let width = file.lines.to_string().len();
        for entry in &file.entries {
            let indent = "  ".repeat(entry.depth);
            let end = if entry.end_line > entry.start_line { format!("-{}", entry.end_line) } else { String::new() };
            let lines = format!("{:>width$}{end:<rest$}", entry.start_line, rest = width + 1);
            let at = (entry.start_line, 1);
            let lines = out.link(&file.namespace, &file.path, at, lines.green().to_string());
            out.line(&format!("{lines}  {indent}{}", label(&entry.signature)), 2 * width + 5)?;
        }
        if file.unlisted > 0 {
            writeln!(out, "{}", format_args!("and {} more", count(file.unlisted)).dimmed())?;
        }
    }
    Ok(())
}
