//! Entries of notes.

use super::text::{label, visible};
use crate::page::Page;
use owo_colors::OwoColorize;
use std::io;
use tamis::memory::{ForgetAction, Forgotten, NoteEntry};

/// Writes each entry with its place, and with `numbered` a number to choose it by.
pub fn entries(
    out: &mut dyn Page,
    entries: &[NoteEntry],
    path: impl Fn(&NoteEntry) -> String,
    numbered: bool,
) -> io::Result<()> {
    for (number, entry) in (1..).zip(entries) {
        if numbered {
            write!(out, "{} ", format_args!("{number}.").bold())?;
        }
        writeln!(out, "{}", place(entry, &path(entry)))?;
        for line in entry.text.lines() {
            writeln!(out, "   {}", visible(line))?;
        }
    }
    Ok(())
}

/// Writes the change to each entry.
pub fn done(out: &mut dyn Page, done: &Forgotten, path: impl Fn(&NoteEntry) -> String) -> io::Result<()> {
    let what = match done.action {
        ForgetAction::Mark => "hidden",
        ForgetAction::Delete => "deleted",
        ForgetAction::Undo => "shown again",
    };
    for entry in &done.entries {
        writeln!(out, "{}  {what}", place(entry, &path(entry)))?;
    }
    Ok(())
}

fn place(entry: &NoteEntry, path: &str) -> String {
    let lines = match entry.end_line == entry.start_line {
        true => entry.start_line.to_string(),
        false => format!("{}-{}", entry.start_line, entry.end_line),
    };
    format!("{}:{}", label(path).purple(), lines.green())
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;

    fn sample() -> Vec<NoteEntry> {
        let entry = |start_line, end_line, text: &str| NoteEntry {
            namespace: "project".into(),
            path: "memory/2026-11-22.md".into(),
            start_line,
            end_line,
            text: text.into(),
            forgotten: false,
        };
        vec![entry(3, 3, "- 14:05 lunch"), entry(7, 8, "- 15:10 backups\u{1b}[31m\n  at night")]
    }

    #[test]
    fn entries_are_shown_with_their_places() {
        let shown = |numbered| plain(|out| entries(out, &sample(), |entry| entry.path.clone(), numbered));
        insta::assert_snapshot!(shown(true), @r"
        1. memory/2026-11-22.md:3
           - 14:05 lunch
        2. memory/2026-11-22.md:7-8
           - 15:10 backups␛[31m
             at night
        ");
        assert!(shown(false).starts_with("memory/2026-11-22.md:3\n"));
    }

    #[test]
    fn each_entry_has_its_outcome() {
        let forgotten = Forgotten { action: ForgetAction::Mark, entries: sample(), not_indexed: None };
        insta::assert_snapshot!(plain(|out| done(out, &forgotten, |entry| entry.path.clone())), @r"
        memory/2026-11-22.md:3  hidden
        memory/2026-11-22.md:7-8  hidden
        ");
    }
}
