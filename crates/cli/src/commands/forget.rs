//! `tamis forget`: finds the notes that the user names, asks, and hides them from search.

use super::refresh;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::text::{counted, label, line_range, visible};
use crate::progress::Progress;
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::{Result, bail};
use clap::Args;
use owo_colors::OwoColorize;
use std::io::{self, BufRead, IsTerminal, Write};
use tamis::memory::{ForgetAction, Forgotten, Meant, NoteEntry};

/// Flags of `tamis forget`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis forget memory/2026-11-22.md:7        hide the entry on that line
  tamis forget \"the old staging password\"    hide what these words find, after asking
  tamis forget --list                        list the hidden entries
  tamis forget --undo memory/2026-11-22.md:7 show it again

Nothing is deleted: a comment at the end of the entry hides it from every search. --delete removes its lines.
Exit status: 0 done, 1 no such entry or not confirmed, 2 an error, or no terminal to ask on without --yes.")]
pub struct ForgetArguments {
    /// Id of a result, PATH:LINE or PATH:FIRST-LAST, or words that find the entry
    #[arg(required_unless_present = "list", value_name = "WHAT")]
    pub what: Vec<String>,
    /// Do not ask; words must then match a single entry
    #[arg(short, long)]
    pub yes: bool,
    /// Remove the lines from the file
    #[arg(long)]
    pub delete: bool,
    /// Remove the mark, so that searches find the entry again
    #[arg(long, conflicts_with = "delete")]
    pub undo: bool,
    /// List the hidden entries
    #[arg(long, conflicts_with_all = ["what", "yes", "delete", "undo"])]
    pub list: bool,
    /// Hide notes of this namespace, in an index of several
    #[arg(long = "namespace", value_name = "NAME")]
    pub namespace: Option<String>,
    /// Print what was done, or the list, as JSON
    #[arg(long)]
    pub json: bool,
}

impl ForgetArguments {
    /// The action that the flags name.
    pub fn action(&self) -> ForgetAction {
        match (self.delete, self.undo) {
            (true, _) => ForgetAction::Delete,
            (_, true) => ForgetAction::Undo,
            _ => ForgetAction::Mark,
        }
    }
}

/// Shows the entries, asks, and marks them; or lists the marked ones.
///
/// # Errors
/// There is no index or no such source, a file cannot be written, there is no terminal to ask on, or words match several
/// entries with `--yes`.
pub fn run(arguments: &ForgetArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let Some((index, _)) = refresh::open(session, config, true, &[], output)? else { return Ok(Exit::Interrupted) };
    let directory = WorkingDirectory::from_index(&index);
    let namespace = arguments.namespace.as_deref();
    if arguments.list {
        let entries = index.notes().forgotten(namespace)?;
        if entries.is_empty() && !arguments.json {
            output.note("no entry is hidden");
        } else {
            output.answer(arguments.json, &entries, output.paged().linked(&index), |out| {
                print_entries(out, &entries, |entry| directory.display_path(&entry.namespace, &entry.path), false)
            })?;
        }
        return Ok(Exit::found(!entries.is_empty()));
    }
    let action = arguments.action();
    let what = arguments.what.join(" ");
    let meant = index.notes().entries_meant(&directory.index_path(&what), namespace, action)?;
    if meant.entries.is_empty() {
        let is_hidden = || {
            let hidden = index.notes().entries_meant(&directory.index_path(&what), namespace, ForgetAction::Undo);
            hidden.is_ok_and(|hidden| !hidden.entries.is_empty())
        };
        output.note(match action {
            ForgetAction::Undo => "no hidden entry matches; `tamis forget --list` lists them",
            _ if is_hidden() => "it is hidden already; `tamis forget --undo` brings it back",
            _ => "no note matches; name one by PATH:LINE as `tamis recall` prints it",
        });
        return Ok(Exit::Nothing);
    }
    let Some(chosen) = choose(&meant, &directory, arguments, output)? else {
        output.note("nothing was changed");
        return Ok(Exit::Nothing);
    };
    let done = index.notes().forget(&chosen, action, None, &Progress::when_slow(output))?;
    if let Some(reason) = &done.not_indexed {
        output.warn(&format!("written, but it takes effect only with the next search that can index it: {reason}"));
    }
    output.answer(arguments.json, &done, output.styled().linked(&index), |out| {
        print_done(out, &done, |entry| directory.display_path(&entry.namespace, &entry.path))
    })?;
    Ok(Exit::Found)
}

/// The entries that the user agrees to; `None` where the user agrees to none.
fn choose(
    meant: &Meant,
    directory: &WorkingDirectory,
    arguments: &ForgetArguments,
    output: &Output,
) -> Result<Option<Vec<NoteEntry>>> {
    let Meant { entries, guessed, by_meaning } = meant;
    let several = entries.len() > 1;
    let doubtful = *by_meaning || (*guessed && several);
    if arguments.yes && !doubtful {
        return Ok(Some(entries.clone()));
    }
    // Standard output is for the outcome, which --json needs alone.
    let numbered = several && *guessed;
    let written = |entry: &NoteEntry| directory.display_path(&entry.namespace, &entry.path);
    let mut shown = Vec::new();
    print_entries(&mut shown, entries, written, numbered)?;
    output.show(&String::from_utf8_lossy(&shown));
    if arguments.yes {
        let found = counted(entries.len() as u64, "entry");
        let how =
            if *by_meaning { "resemble these words, with less than half of them" } else { "may match these words" };
        let verb = if several { how.to_owned() } else { how.replacen("resemble", "resembles", 1) };
        bail!("{found} {verb}; name one by PATH:LINE, or leave out --yes to be asked");
    }
    if !io::stdin().is_terminal() {
        bail!("there is no terminal to ask on; add --yes to confirm");
    }
    let verb = match arguments.action() {
        ForgetAction::Mark => "Hide",
        ForgetAction::Delete => "Delete",
        ForgetAction::Undo => "Restore",
    };
    let question = match (numbered, several) {
        (true, _) => format!("{verb} which? Type numbers such as 1,3 or all; anything else means none. "),
        (false, true) => format!("{verb} all of these? [y/N] "),
        (false, false) => format!("{verb} this? [y/N] "),
    };
    let mut terminal = io::stderr().lock();
    write!(terminal, "{question}")?;
    terminal.flush()?;
    drop(terminal);
    let mut said = String::new();
    io::stdin().lock().read_line(&mut said)?;
    Ok(chosen(entries, &said, numbered))
}

/// The entries that the user's answer chooses; `None` where it chooses none.
fn chosen(entries: &[NoteEntry], said: &str, numbered: bool) -> Option<Vec<NoteEntry>> {
    let said = said.trim().to_lowercase();
    if !numbered {
        return matches!(said.as_str(), "y" | "yes").then(|| entries.to_vec());
    }
    if said == "all" {
        return Some(entries.to_vec());
    }
    let parts = said.split([',', ' ']).filter(|part| !part.is_empty());
    let numbers: Option<Vec<usize>> = parts.map(|part| part.parse().ok()).collect();
    let mut numbers = numbers.filter(|numbers| !numbers.is_empty())?;
    numbers.sort_unstable();
    numbers.dedup();
    // A number out of range is a slip, and then nothing may change.
    numbers.into_iter().map(|number| entries.get(number.checked_sub(1)?).cloned()).collect()
}

/// Writes each entry with its place, and with `numbered` a number to choose it by.
fn print_entries(
    out: &mut dyn Page,
    entries: &[NoteEntry],
    path: impl Fn(&NoteEntry) -> String,
    numbered: bool,
) -> io::Result<()> {
    for (number, entry) in (1..).zip(entries) {
        if numbered {
            write!(out, "{} ", format_args!("{number}.").bold())?;
        }
        let place = place(out, entry, &path(entry));
        writeln!(out, "{place}")?;
        for line in entry.text.lines() {
            writeln!(out, "   {}", visible(line))?;
        }
    }
    Ok(())
}

/// Writes the change to each entry.
fn print_done(out: &mut dyn Page, done: &Forgotten, path: impl Fn(&NoteEntry) -> String) -> io::Result<()> {
    let what = match done.action {
        ForgetAction::Mark => "hidden",
        ForgetAction::Delete => "deleted",
        ForgetAction::Undo => "restored",
    };
    for entry in &done.entries {
        let text = entry.text.lines().next().unwrap_or_default();
        let place = place(out, entry, &path(entry));
        writeln!(out, "{place}  {what}  {}", visible(text).dimmed())?;
    }
    Ok(())
}

fn place(out: &mut dyn Page, entry: &NoteEntry, path: &str) -> String {
    let place = format!("{}:{}", label(path).purple(), line_range(entry.start_line, entry.end_line).green());
    out.link(&entry.namespace, path, (entry.start_line, 1), place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_changes_anything() {
        let entry = |line: u32| {
            let (namespace, path, text) = ("n".into(), "MEMORY.md".into(), format!("- entry {line}"));
            NoteEntry { namespace, path, start_line: line, end_line: line, text, forgotten: false }
        };
        let entries = [entry(1), entry(2), entry(3)];
        let lines = |said: &str, numbered: bool| {
            chosen(&entries, said, numbered)
                .map(|chosen| chosen.iter().map(|entry| entry.start_line).collect::<Vec<_>>())
        };
        assert_eq!([lines("y\n", false), lines("YES", false)], [Some(vec![1, 2, 3]), Some(vec![1, 2, 3])]);
        assert_eq!([lines("3, 1 3\n", true), lines("all", true)], [Some(vec![1, 3]), Some(vec![1, 2, 3])]);
        for said in ["", "\n", "n", "no", "0", "4", "1,x", "y"] {
            assert_eq!(lines(said, true), None, "{said:?}");
        }
        for said in ["", "n", "1", "all", "yeah"] {
            assert_eq!(lines(said, false), None, "{said:?}");
        }
    }
}
