//! `tamis troubleshoot` and `tamis duplicates`: what the issues of the index say of a new one.

use super::refresh;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::layout::{Page, wrapped};
use crate::output::Output;
use crate::print::text::{counted, label, visible};
use crate::session::{Session, setting};
use crate::working_directory::WorkingDirectory;
use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args};
use owo_colors::OwoColorize;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tamis::duplicates::{Duplicates, DuplicatesRequest};
use tamis::troubleshoot::{SolvedIssue, Thread, TroubleshootRequest, Troubleshooting, WikiFound, WikiPage};

/// Flags of `tamis troubleshoot`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("trouble").required(true).args(["title", "issue"]))]
#[command(after_help = "\
Examples:
  tamis troubleshoot --title \"Login fails after the update\" --body-file report.md
  git log -1 --format=%B | tamis troubleshoot --title \"Build fails\" --body-file -
  tamis troubleshoot --issue 123 --markdown > context.md
  tamis troubleshoot --title \"Crash at start\" --json | jq '.sources'

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct TroubleshootArguments {
    #[command(flatten)]
    pub request: TroubleshootRequest,
    /// Read the full description from a file; - is standard input
    #[arg(long, value_name = "FILE", requires = "title")]
    pub body_file: Option<PathBuf>,
    /// Keep solved issues by cut (the gate and cut of every search, above a low --threshold) or by floor (--threshold alone)
    /// [default: triage.troubleshooting.keep_by, cut]
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(tamis::config::KeepBy::NAMES), hide_possible_values = true)]
    pub keep_by: Option<String>,
    /// Print the answer as one JSON object
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print the answer in Markdown, for a prompt or a comment
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Flags of `tamis duplicates`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("asked").required(true).args(["number", "title"]))]
#[command(after_help = "\
Examples:
  tamis duplicates 123                       list duplicates of an issue in the index
  tamis duplicates --title \"Login fails\" --body-file report.md
  tamis duplicates 123 --state open --json | jq '.duplicates[].number'

Exit status: 0 found a duplicate, 1 found none, 2 an error.")]
pub struct DuplicatesArguments {
    #[command(flatten)]
    pub request: DuplicatesRequest,
    /// Read the issue's body from a file; - is standard input
    #[arg(long, value_name = "FILE", requires = "title")]
    pub body_file: Option<PathBuf>,
    /// Answer with nothing if the nearest issue is less like it than this, 0 to 1 [default: triage.duplicates.min_likeness]
    #[arg(long, value_name = "LIKENESS", allow_negative_numbers = true)]
    pub threshold: Option<String>,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Prints the solved problems, or that there are none.
///
/// # Errors
/// A value out of range, an unreadable body, no index, or no issue of that number in it.
pub fn troubleshoot(arguments: &TroubleshootArguments, global: &Global, output: &Output) -> Result<Exit> {
    let body = read_body(arguments.request.body.as_deref(), arguments.body_file.as_deref())?;
    let request = TroubleshootRequest { body, ..arguments.request.clone() };
    let keep_by = setting("triage.troubleshooting.keep_by", "--keep-by", arguments.keep_by.as_deref());
    let session = Session::start(global, keep_by.into_iter().collect())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let mut found = index.troubleshooting().answer(&request, &())?;
    if let Some(reason) = &found.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.model.as_deref().unwrap_or("words alone")));
    }
    found.warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&found)?;
    } else if arguments.markdown {
        let mut out = output.exact();
        out.write_all(found.markdown().as_bytes())?;
        out.flush()?;
        if found.is_empty() {
            output.note(&found.reason);
        }
    } else {
        let directory = WorkingDirectory::from_index(&index);
        for page in &mut found.wiki {
            page.path = directory.display_path(&page.namespace, &page.path);
        }
        let mut out = output.paged().linked(&index);
        print_troubleshooting(&mut out, &found)?;
        out.flush()?;
    }
    Ok(Exit::found(!found.is_empty()))
}

/// Prints the likely duplicates, or that there are none.
///
/// # Errors
/// A value out of range, an unreadable body, no index, or no issue of that number in it.
pub fn duplicates(arguments: &DuplicatesArguments, global: &Global, output: &Output) -> Result<Exit> {
    let body = read_body(arguments.request.body.as_deref(), arguments.body_file.as_deref())?;
    let request = DuplicatesRequest { body, ..arguments.request.clone() };
    let floor = setting("triage.duplicates.min_likeness", "--threshold", arguments.threshold.as_deref());
    let session = Session::start(global, floor.into_iter().collect())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let found = index.duplicates().find(&request, &())?;
    if let Some(reason) = &found.compared_by.fallback_reason {
        output
            .warn(&format!("compared with {}: {reason}", found.compared_by.model.as_deref().unwrap_or("words alone")));
    }
    output.answer(arguments.json, &found, output.paged(), |out| print_duplicates(out, &found))?;
    Ok(Exit::found(!found.duplicates.is_empty()))
}

/// Reads the body; `None` where none is given. Bytes that are not UTF-8 become U+FFFD.
fn read_body(text: Option<&str>, file: Option<&Path>) -> Result<Option<String>> {
    let bytes = match (text, file) {
        (Some(text), _) => return Ok(Some(text.to_owned())),
        (None, None) => return Ok(None),
        (None, Some(file)) if file == Path::new("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).context("standard input: cannot be read")?;
            bytes
        }
        (None, Some(file)) => std::fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?,
    };
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Writes every match with its similarity and its thread, then the reason for the selection.
fn print_troubleshooting(out: &mut dyn Page, found: &Troubleshooting) -> io::Result<()> {
    for issue in &found.matches {
        solved(out, issue)?;
    }
    for page in &found.wiki {
        wiki(out, page)?;
    }
    let reason = found.reason.trim_end_matches('.');
    match (&found.query_id, found.is_empty()) {
        (_, true) => writeln!(out, "Nothing similar was solved: {}.", visible(reason)),
        (Some(id), false) => writeln!(out, "{}. [query {id}]", visible(&capital(reason))),
        (None, false) => writeln!(out, "{}.", visible(&capital(reason))),
    }
}

fn solved(out: &mut dyn Page, issue: &SolvedIssue) -> io::Result<()> {
    write!(out, "{}  {:.2}", label(&issue.source).purple(), issue.scores.similarity.green())?;
    write!(out, "  {}", label(&issue.title).bold())?;
    let kind = issue.kind.replace('_', " ");
    writeln!(out, "  {}", format_args!("({kind}, {})", label(&issue.state)).dimmed())?;
    if let Some(url) = &issue.url {
        writeln!(out, "  {}", label(url).dimmed())?;
    }
    text(out, &issue.thread.text)?;
    writeln!(out, "  {}\n", comments(&issue.thread).dimmed())
}

fn wiki(out: &mut dyn Page, page: &WikiPage) -> io::Result<()> {
    write!(out, "{}", label(&page.source).purple())?;
    if let Some(similarity) = page.similarity {
        write!(out, "  {:.2}", similarity.green())?;
    }
    let found_by = match page.found_by {
        WikiFound::Text => "by its text",
        WikiFound::Keywords => "by its keywords",
        WikiFound::Both => "by its text and by its keywords",
    };
    let path = out.link(&page.namespace, &page.path, (1, 1), label(&page.path).bold().to_string());
    writeln!(out, "  {path}  {}", format_args!("(found {found_by})").dimmed())?;
    text(out, &page.text)?;
    writeln!(out)
}

/// Writes a text behind a bar, wrapped on a terminal.
fn text(out: &mut dyn Page, text: &str) -> io::Result<()> {
    let columns = out.columns_after(4, usize::MAX);
    for line in text.lines() {
        for row in wrapped(&visible(line).replace('\t', "    "), columns, 0).split('\n') {
            writeln!(out, "  {} {row}", "│".dimmed())?;
        }
    }
    Ok(())
}

fn comments(thread: &Thread) -> String {
    let selected = thread.comments.iter().filter(|comment| comment.selected).count();
    let of = match thread.comments.len() {
        0 => "no comments".to_owned(),
        all => format!("{selected} of {}", counted(all as u64, "comment")),
    };
    format!("{of}, {} of {} characters", thread.characters, thread.budget)
}

/// A sentence begins with a capital.
fn capital(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Writes each with its likeness, and the reason the list ends there.
fn print_duplicates(out: &mut dyn Page, found: &Duplicates) -> io::Result<()> {
    let width = found.duplicates.iter().map(|one| one.number.to_string().len()).max().unwrap_or_default();
    for one in &found.duplicates {
        let number = format!("#{:<width$}", one.number);
        write!(out, "{}  {:.2}  {}", number.purple(), one.likeness.green(), label(&one.title).bold())?;
        writeln!(out, "  {}", format_args!("({})", label(&one.state)).dimmed())?;
        if let Some(url) = &one.url {
            writeln!(out, "  {}", label(url).dimmed())?;
        }
    }
    let reason = visible(found.reason.trim_end_matches('.')).into_owned();
    // Those below the floor are there so that a person has a few to compare.
    let likely = found.duplicates.iter().filter(|one| one.likeness >= found.min_likeness).count();
    let likely = match (found.cut.keep, found.duplicates.len()) {
        (all, shown) if all > shown => format!("{all} likely, the first {shown} shown"),
        (_, shown) if shown > likely => format!("{likely} likely, and {} to compare", shown - likely),
        _ => format!("{likely} likely"),
    };
    match (found.duplicates.is_empty(), &found.query_id) {
        (true, _) => writeln!(out, "No likely duplicate: {reason}."),
        (false, Some(id)) => writeln!(out, "\n{likely}: {reason}. [query {id}]"),
        (false, None) => writeln!(out, "\n{likely}: {reason}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::{plain, plain_in};

    #[test]
    fn a_thread_is_whole_and_wrapped_on_a_terminal() {
        let line = "The lease of the spooler ends. ".repeat(10) + "Set lease_renew.";
        assert_eq!(plain(|out| text(out, &line)), format!("  │ {line}\n"));
        let rows = plain_in(30, |out| text(out, &line));
        assert!(rows.lines().all(|row| row.starts_with("  │ ") && row.chars().count() <= 30), "{rows}");
        assert!(rows.ends_with("lease_renew.\n"), "{rows}");
    }
}
