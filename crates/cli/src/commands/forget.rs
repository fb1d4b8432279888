//! `tamis forget`: which notes are meant, whether that is right, and then they are found no more.

use super::fresh;
use crate::args::{ForgetArguments, Global};
use crate::exit::Exit;
use crate::here::Here;
use crate::output::Output;
use crate::print::notes;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, bail};
use std::io::{self, BufRead, IsTerminal, Write};
use tamis::memory::{ForgetAction, Meant, NoteEntry};

/// Shows what is meant, asks, and marks it, or lists what is marked.
///
/// # Errors
/// There is no index or no such source, a file cannot be written, nobody is there to confirm, or words mean several entries
/// where nobody is asked.
pub fn run(arguments: &ForgetArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let Some((index, _)) = fresh::opened(session, config, true, output)? else { return Ok(Exit::Interrupted) };
    let here = Here::of(&index);
    let namespace = arguments.namespace.as_deref();
    if arguments.list {
        return list(&index.notes().forgotten(namespace)?, &here, arguments, output);
    }
    let action = arguments.action();
    let what = arguments.what.join(" ");
    let meant = index.notes().entries_meant(&here.meant(&what), namespace, action)?;
    if meant.entries.is_empty() {
        output.note(match action {
            ForgetAction::Undo => "nothing that is forgotten says that; `tamis forget --list` lists it",
            _ => "no note says that; name it by PATH:LINE as `tamis recall` prints it",
        });
        return Ok(Exit::Nothing);
    }
    let Some(chosen) = choose(&meant, &here, arguments, output)? else {
        output.note("nothing is changed");
        return Ok(Exit::Nothing);
    };
    let done = index.notes().forget(&chosen, action, None, &Progress::when_slow(output))?;
    if let Some(reason) = &done.not_indexed {
        output.warn(&format!("written, and in effect with the next search that can index it: {reason}"));
    }
    if arguments.json {
        output.json(&done)?;
    } else {
        let mut out = output.styled();
        notes::done(&mut out, &done, |entry| here.written(&entry.namespace, &entry.path))?;
        out.flush()?;
    }
    Ok(Exit::Found)
}

fn list(entries: &[NoteEntry], here: &Here, arguments: &ForgetArguments, output: &Output) -> Result<Exit> {
    if arguments.json {
        output.json(&entries)?;
    } else if entries.is_empty() {
        output.note("nothing is marked as forgotten");
    } else {
        let mut out = output.styled();
        notes::entries(&mut out, entries, |entry| here.written(&entry.namespace, &entry.path), false)?;
        out.flush()?;
    }
    Ok(Exit::found(!entries.is_empty()))
}

/// The entries that the user agrees to; `None`: none of them.
fn choose(meant: &Meant, here: &Here, arguments: &ForgetArguments, output: &Output) -> Result<Option<Vec<NoteEntry>>> {
    let Meant { entries, guessed, by_meaning } = meant;
    let several = entries.len() > 1;
    let doubtful = *by_meaning || (*guessed && several);
    if arguments.yes && !doubtful {
        return Ok(Some(entries.clone()));
    }
    // With --json, standard output is for what was done.
    let numbered = several && *guessed;
    let written = |entry: &NoteEntry| here.written(&entry.namespace, &entry.path);
    let mut shown = Vec::new();
    notes::entries(&mut shown, entries, written, numbered)?;
    output.show(&String::from_utf8_lossy(&shown));
    if arguments.yes {
        let found = if several { format!("{} entries", entries.len()) } else { "1 entry".to_owned() };
        let how =
            if *by_meaning { "like these words, holding less than half of them" } else { "that these words may mean" };
        bail!("{found} {how}; name the one by PATH:LINE, or leave --yes away to be asked");
    }
    if !io::stdin().is_terminal() {
        bail!("nobody is there to confirm; say --yes if this is what you mean");
    }
    let verb = match arguments.action() {
        ForgetAction::Mark => "Forget",
        ForgetAction::Delete => "Delete",
        ForgetAction::Undo => "Remember again",
    };
    let question = match (numbered, several) {
        (true, _) => format!("{verb} which? Numbers such as 1,3 or all; anything else: none. "),
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

/// The entries that an answer chooses; `None`: none.
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
    // A number that is none of them: a slip, after which nothing is to be changed.
    numbers.into_iter().map(|number| entries.get(number.checked_sub(1)?).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_changes_anything() {
        let entry = |line: u32| NoteEntry {
            namespace: "n".into(),
            path: "MEMORY.md".into(),
            start_line: line,
            end_line: line,
            text: format!("- entry {line}"),
            forgotten: false,
        };
        let entries = [entry(1), entry(2), entry(3)];
        let lines = |said: &str, numbered: bool| {
            chosen(&entries, said, numbered)
                .map(|chosen| chosen.iter().map(|entry| entry.start_line).collect::<Vec<_>>())
        };
        assert_eq!(lines("y\n", false), Some(vec![1, 2, 3]));
        assert_eq!(lines("YES", false), Some(vec![1, 2, 3]));
        assert_eq!(lines("3, 1 3\n", true), Some(vec![1, 3]));
        assert_eq!(lines("all", true), Some(vec![1, 2, 3]));
        for said in ["", "\n", "n", "no", "0", "4", "1,x", "y"] {
            assert_eq!(lines(said, true), None, "{said:?}");
        }
        for said in ["", "n", "1", "all", "yeah"] {
            assert_eq!(lines(said, false), None, "{said:?}");
        }
    }
}
