//! What was solved before, for people.

use super::text::{counted, label, visible};
use owo_colors::OwoColorize;
use std::io::{self, Write};
use tamis::troubleshoot::{SolvedIssue, Thread, Troubleshooting, WikiFound, WikiPage};

/// Lines of a thread that are shown; `--markdown` and `--json` give it all.
const LINES: usize = 12;

/// Longer lines are shortened.
const LONGEST_LINE: usize = 160;

/// Every match with its similarity and the beginning of its thread, then why there is what there is.
///
/// # Errors
/// `out` cannot be written.
pub fn troubleshooting(out: &mut dyn Write, found: &Troubleshooting) -> io::Result<()> {
    for issue in &found.matches {
        solved(out, issue)?;
    }
    for page in &found.wiki {
        wiki(out, page)?;
    }
    let reason = found.reason.trim_end_matches('.');
    match (&found.query_id, found.is_empty()) {
        (_, true) => writeln!(out, "Nothing known: {}.", visible(reason)),
        (Some(id), false) => writeln!(out, "{}. [query {id}]", visible(&capital(reason))),
        (None, false) => writeln!(out, "{}.", visible(&capital(reason))),
    }
}

fn solved(out: &mut dyn Write, issue: &SolvedIssue) -> io::Result<()> {
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

fn wiki(out: &mut dyn Write, page: &WikiPage) -> io::Result<()> {
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

/// The first lines, behind a bar.
fn text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let lines = text.lines().count();
    for line in text.lines().take(LINES) {
        let shortened: String = line.chars().take(LONGEST_LINE).collect();
        let more = if shortened.len() < line.len() { "…" } else { "" };
        writeln!(out, "  {} {}{more}", "│".dimmed(), visible(&shortened))?;
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
