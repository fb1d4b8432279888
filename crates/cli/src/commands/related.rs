//! `tamis related`: shows passages like a result, what it uses, and what uses it.

use super::refresh;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::text::{counted, label, line_range, origin_of};
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use clap::Args;
use owo_colors::OwoColorize;
use std::io::{self, Write};
use tamis::import::FileCommit;
use tamis::kind_in_words;
use tamis::related::{LinkedDocument, NameReference, Occurrences, Referrer, Related, RelatedPassage, RelatedRequest};
use tamis::search::SearchCaller;

/// Flags of `tamis related`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis related 3f9a1c                       related to a passage, by its id or the beginning of it
  tamis related src/lock.rs:40               related to the passage of that line
  tamis related docs/locks.md                a page's links, the pages that link to it, and its commits
  tamis related src/lock.rs:40 --by reference -n 50
  tamis related issue:12:1 --state resolved  solved issues like an issue

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct RelatedArguments {
    #[command(flatten)]
    pub request: RelatedRequest,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Prints everything related to one passage.
///
/// # Errors
/// There is no index, or nothing of that name in it.
pub fn run(arguments: &RelatedArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let directory = WorkingDirectory::from_index(&index);
    let id = directory.index_path(&arguments.request.id);
    let mut found = index.related().find(&RelatedRequest { id, ..arguments.request.clone() }, &())?;
    index.feedback().opened(&found, &SearchCaller::command_line(), "cli related");
    let exit = Exit::found(!found.is_empty());
    if arguments.json {
        output.json(&found)?;
        return Ok(exit);
    }
    let places = std::iter::once(&mut found.passage)
        .chain(found.similar.iter_mut().map(|one| &mut one.passage))
        .chain(found.references.iter_mut().flat_map(|one| &mut one.definitions))
        .chain(found.referenced_by.iter_mut().map(|one| &mut one.passage));
    for place in places {
        place.path = directory.display_path(&place.namespace, &place.path);
    }
    for page in found.links.iter_mut().chain(&mut found.linked_from) {
        page.path = directory.display_path(&page.namespace, &page.path);
    }
    let mut out = output.paged().linked(&index);
    print(&mut out, &found)?;
    out.flush()?;
    for note in &found.notes {
        output.note(note);
    }
    Ok(exit)
}

/// Writes the passage, then each list that has entries under its heading.
fn print(out: &mut dyn Page, found: &Related) -> io::Result<()> {
    place(out, &found.passage)?;
    writeln!(out)?;
    if found.is_empty() {
        return writeln!(out, "\nNothing is related to it.");
    }
    if !found.similar.is_empty() {
        writeln!(out, "\n{}", "Similar".bold())?;
        for one in &found.similar {
            write!(out, "  {}  ", format_args!("{:.2}", one.similarity).dimmed())?;
            place(out, &one.passage)?;
            writeln!(out)?;
        }
    }
    if !found.references.is_empty() {
        writeln!(out, "\n{}", "Uses".bold())?;
        found.uses_by_definition().iter().try_for_each(|references| uses(out, references))?;
    }
    if !found.referenced_by.is_empty() {
        writeln!(out, "\n{}", "Used by".bold())?;
        found.referenced_by.iter().try_for_each(|referrer| used_by(out, referrer))?;
    }
    for (heading, linked) in [("Links to", &found.links), ("Linked from", &found.linked_from)] {
        if !linked.is_empty() {
            writeln!(out, "\n{}", heading.bold())?;
        }
        for LinkedDocument { namespace, path, title, lines: at } in linked {
            let title = title.as_deref().map(|title| format!("  {}", label(title).bold())).unwrap_or_default();
            let place = out.link(namespace, path, (1, 1), label(path).purple().to_string());
            writeln!(out, "  {place}{title}  {}", lines(at).dimmed())?;
        }
    }
    if !found.commits.is_empty() {
        writeln!(out, "\n{}", "Commits".bold())?;
        found.commits.iter().try_for_each(|one| commit(out, one))?;
    }
    if let Some(counts) = &found.occurrences {
        let names = counts.names.iter().map(|name| label(name)).collect::<Vec<_>>().join(", ");
        let occur = if counts.names.len() == 1 { "occurs" } else { "occur" };
        let (lines, files) = (counted(counts.lines, "line"), counted(counts.files, "file"));
        let Occurrences { own_lines, resolved_lines, unresolved_lines, .. } = counts;
        writeln!(
            out,
            "\n{names} {occur} on {lines} in {files}: {own_lines} in the passage itself, {resolved_lines} resolved, {unresolved_lines} not resolved"
        )?;
    }
    Ok(())
}

/// Writes names of which one definition or several are meant. Those of one and the same passage stand together.
fn uses(out: &mut dyn Page, references: &[&NameReference]) -> io::Result<()> {
    let [first, ..] = references else { return Ok(()) };
    let mut all: Vec<u32> = references.iter().flat_map(|one| &one.lines).copied().collect();
    all.sort_unstable();
    all.dedup();
    let place_of = lines(&all);
    match first.definitions.as_slice() {
        [only] => {
            write!(out, "  ")?;
            place(out, only)?;
            write!(out, "  {}", place_of.dimmed())?;
            writeln!(out, "{}", if first.is_guess { GUESS.yellow().to_string() } else { String::new() })
        }
        several => {
            writeln!(out, "  {}: one of {}  {}", label(&first.name), several.len(), place_of.dimmed())?;
            for one in several {
                write!(out, "    ")?;
                place(out, one)?;
                writeln!(out)?;
            }
            Ok(())
        }
    }
}

/// What stands after a use that only its name speaks for.
const GUESS: &str = "  (perhaps: only the name says so)";

fn used_by(out: &mut dyn Page, referrer: &Referrer) -> io::Result<()> {
    write!(out, "  ")?;
    place(out, &referrer.passage)?;
    write!(out, "  {}", lines(&referrer.lines).dimmed())?;
    match referrer.definitions {
        _ if !referrer.resolved => writeln!(out, "  {}", "(not resolved)".yellow()),
        0 | 1 if referrer.is_guess => writeln!(out, "{}", GUESS.yellow()),
        0 | 1 => writeln!(out),
        several => {
            let name = label(&referrer.name);
            writeln!(
                out,
                "  {}",
                format_args!("(perhaps: {} called {name})", counted(several as u64, "definition")).yellow()
            )
        }
    }
}

fn place(out: &mut dyn Page, passage: &RelatedPassage) -> io::Result<()> {
    let RelatedPassage { path, start_line, end_line, symbol, title, kind, language, .. } = passage;
    let place = format!("{}:{}", label(path).purple(), line_range(*start_line, *end_line).green());
    let place = out.link(&passage.namespace, path, (*start_line, 1), place);
    write!(out, "{place}")?;
    if let Some(name) = symbol.as_ref().or(title.as_ref()) {
        write!(out, "  {}", label(name).bold())?;
    }
    write!(out, "  {}", format_args!("({})", kind_in_words(kind, language.as_deref())).dimmed())
}

fn commit(out: &mut dyn Page, commit: &FileCommit) -> io::Result<()> {
    let FileCommit { path, title, author, dated_at } = commit;
    let origin = origin_of("commit".to_owned(), author.as_deref(), dated_at.as_deref());
    out.line(&format!("  {}  {}  {}", path.purple(), label(title).bold(), format_args!("({origin})").dimmed()), 4)
}

/// `line 3` or `lines 3, 8, 11, …`.
fn lines(lines: &[u32]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = lines.iter().take(SHOWN).map(u32::to_string).collect();
    let more = if lines.len() > SHOWN { ", …" } else { "" };
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    format!("{noun} {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;
    use tamis::related::SimilarPassage;

    fn passage(path: &str, symbol: &str) -> RelatedPassage {
        RelatedPassage {
            id: "3f9a1c2b4d5e".into(),
            namespace: "n".into(),
            path: path.into(),
            start_line: 3,
            end_line: 9,
            symbol: Some(symbol.into()),
            title: None,
            kind: "function".into(),
            language: Some("rust".into()),
        }
    }

    fn nothing() -> Related {
        Related {
            passage: passage("src/door.rs", "open"),
            model: None,
            similar: Vec::new(),
            cut: None,
            references: Vec::new(),
            referenced_by: Vec::new(),
            links: Vec::new(),
            linked_from: Vec::new(),
            commits: Vec::new(),
            occurrences: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn each_list_has_its_heading_and_doubt_shows() {
        let reference = |name: &str, definitions| {
            let (name, kind) = (name.into(), "call".into());
            NameReference { name, kind, lines: vec![4, 6], definitions, is_guess: false }
        };
        let referrer = |definitions| {
            let (passage, name) = (passage("src/house.rs", "enter"), "open".into());
            Referrer { passage, name, lines: vec![5], definitions, is_guess: false, resolved: true }
        };
        let found = Related {
            similar: vec![SimilarPassage { passage: passage("src/gate.rs", "swing"), similarity: 0.734 }],
            references: vec![
                reference("key", vec![passage("src/key.rs", "key")]),
                reference("turn", vec![passage("src/key.rs", "Key::turn"), passage("src/lock.rs", "Lock::turn")]),
            ],
            referenced_by: vec![referrer(1), referrer(2)],
            ..nothing()
        };
        insta::assert_snapshot!(plain(|out| print(out, &found)), @r"
        src/door.rs:3-9  open  (function)

        Similar
          0.73  src/gate.rs:3-9  swing  (function)

        Uses
          src/key.rs:3-9  key  (function)  lines 4, 6
          turn: one of 2  lines 4, 6
            src/key.rs:3-9  Key::turn  (function)
            src/lock.rs:3-9  Lock::turn  (function)

        Used by
          src/house.rs:3-9  enter  (function)  line 5
          src/house.rs:3-9  enter  (function)  line 5  (perhaps: 2 definitions called open)
        ");
    }

    #[test]
    fn many_lines_are_shortened() {
        assert_eq!([lines(&[7]), lines(&[1, 2, 3, 4, 5, 6])], ["line 7", "lines 1, 2, 3, 4, 5, …"]);
    }
}
