//! Similar problems that were already solved.

use super::text::{counted, label, visible};
use crate::page::{Page, shortened};
use owo_colors::OwoColorize;
use std::io;
use tamis::troubleshoot::{SolvedIssue, Thread, Troubleshooting, WikiFound, WikiPage};

/// The most lines of a thread; `--markdown` and `--json` print all.
const LINES: usize = 12;

/// The most characters of a line if the terminal sets no limit.
const LONGEST_LINE: usize = 160;

/// Writes every match with its similarity and the beginning of its thread, then the reason for the selection.
///
/// # Errors
/// `out` cannot be written.
pub fn troubleshooting(out: &mut dyn Page, found: &Troubleshooting) -> io::Result<()> {
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
    write!(out, "{}  {:.2}", label(&issue.source).purple(), issue.similarity.green())?;
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
    writeln!(out, "  {}  {}", label(&page.path).bold(), format_args!("(found {found_by})").dimmed())?;
    text(out, &page.text)?;
    writeln!(out)
}

/// Writes the first lines behind a bar.
fn text(out: &mut dyn Page, text: &str) -> io::Result<()> {
    let lines = text.lines().count();
    for line in text.lines().take(LINES) {
        let line = visible(line).replace('\t', "    ");
        let columns = out.columns_after(4, LONGEST_LINE);
        writeln!(out, "  {} {}", "│".dimmed(), shortened(&line, columns))?;
    }
    if lines > LINES {
        writeln!(
            out,
            "  {} {}",
            "│".dimmed(),
            format_args!("… {} more", counted((lines - LINES) as u64, "line")).dimmed()
        )?;
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
