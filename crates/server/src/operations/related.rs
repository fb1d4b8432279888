//! Similar passages, and definitions and uses of names.

use tamis::import::FileCommit;
use tamis::kind_in_words;
use tamis::related::{NameReference, Occurrences, RelatedPassage, RelatedRequest};

use crate::call_queue::Lane;
use crate::operation::{Argument, Call, Failure, Operation, Route, Tool, field};
use crate::paging::{Entry, List, PageArguments};
use crate::untrusted_text::{counted, name};

pub(crate) struct Related;

impl Operation for Related {
    const NAME: &'static str = "related";
    const LANE: Lane = Lane::Slow;
    type Request = RelatedRequest;
    type Answer = tamis::related::Related;

    fn call(call: &Call<'_>, request: RelatedRequest) -> Result<tamis::related::Related, Failure> {
        let request = RelatedRequest { asker: call.asker(), ..request };
        let found = call.index.related().find(&request, call.observer)?;
        call.note_opened(&found, "related");
        Ok(found)
    }
}

impl Route for Related {
    const PATH: &'static str = "/v1/related";
    const SUMMARY: &'static str = "Find passages like one, what it uses, and what uses it";
    const DESCRIPTION: &'static str = "As `tamis related --json`.";
}

impl Tool for Related {
    const TITLE: &'static str = "Related passages";
    const DESCRIPTION: &'static str = "Continue from a result: passages of similar meaning, the definitions that it uses, and the code \
        that uses it.";
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[field("id"), field("by"), field("limit")]);
    type Options = PageArguments;

    fn text(call: &Call<'_>, found: &tamis::related::Related, page: &PageArguments) -> String {
        let similar =
            found.similar.iter().map(|one| format!("similar, {:.2}: {}", one.similarity, passage(&one.passage)));
        let mut lines: Vec<String> = similar.collect();
        for names in found.uses_by_definition() {
            let mut numbers: Vec<u32> = names.iter().flat_map(|one| &one.lines).copied().collect();
            numbers.sort_unstable();
            numbers.dedup();
            let called: Vec<String> = names.iter().map(|one| name(&one.name)).collect();
            let NameReference { definitions, is_guess, .. } = names[0];
            let used = used(&numbers, definitions.len(), *is_guess);
            let called = called.join(", ");
            lines.extend(definitions.iter().map(|one| format!("uses {called}: {}{used}", passage(one))));
        }
        lines.extend(found.referenced_by.iter().map(|one| {
            format!("used by: {}{}", passage(&one.passage), used(&one.lines, one.definitions, one.is_guess))
        }));
        for (word, linked) in [("links to", &found.links), ("linked from", &found.linked_from)] {
            lines.extend(linked.iter().map(|one| format!("{word}: {}{}", name(&one.path), used(&one.lines, 1, false))));
        }
        lines.extend(found.commits.iter().map(|one| format!("commit: {}", commit(one))));
        let nothing = if lines.is_empty() { "Nothing is related to it. " } else { "" };
        let why = found.cut.as_ref().map(|cut| format!("{}.", name(&cut.reason).trim_end_matches('.')));
        let counts = found.occurrences.as_ref().map(|counts| {
            let (lines, files) = (counted(counts.lines as usize, "line"), counted(counts.files as usize, "file"));
            let Occurrences { own_lines, resolved_lines, unresolved_lines, .. } = counts;
            format!(
                "The name occurs on {lines} in {files}: {own_lines} in the passage itself, {resolved_lines} resolved, \
                 {unresolved_lines} not resolved. "
            )
        });
        let list = List {
            entries: lines.into_iter().map(Entry::line).collect(),
            shared: Some(format!("related to: {}\n", passage(&found.passage))),
            tail: format!("{nothing}{}{}\n", counts.unwrap_or_default(), why.unwrap_or_default()),
            warnings: call.warnings().into_iter().chain(found.notes.iter().cloned()).collect(),
        };
        list.page(page).0
    }
}

/// A passage by its place, identifier, name and kind.
fn passage(passage: &RelatedPassage) -> String {
    let RelatedPassage { start_line, end_line, id, .. } = passage;
    let called = passage.symbol.as_ref().or(passage.title.as_ref()).map(|called| format!(" {}", name(called)));
    let kind = kind_in_words(&passage.kind, passage.language.as_deref());
    format!("{}:{start_line}-{end_line} [{id}]{} ({kind})", name(&passage.path), called.unwrap_or_default())
}

/// A commit by its path, title, author and day.
fn commit(commit: &FileCommit) -> String {
    let author = commit.author.as_deref().map(|author| format!(" by {}", name(author))).unwrap_or_default();
    let day = commit.dated_at.as_deref().and_then(|date| date.get(..10)).unwrap_or_default();
    format!("{} {}{author}, {day}", commit.path, name(&commit.title))
}

/// Lines of one passage that the text names.
const MOST_LINES: usize = 50;

/// The lines that use a name, and how sure that is.
fn used(lines: &[u32], definitions: usize, is_guess: bool) -> String {
    let numbers = match lines {
        [] => String::new(),
        [one] => format!(", line {one}"),
        several => {
            let shown: Vec<String> = several.iter().take(MOST_LINES).map(u32::to_string).collect();
            format!(", lines {}{}", shown.join(", "), if several.len() > MOST_LINES { ", …" } else { "" })
        }
    };
    numbers
        + &match definitions {
            0 => " (not resolved)".to_owned(),
            1 if is_guess => " (possibly; only the name says so)".to_owned(),
            1 => String::new(),
            count => format!(" (possibly; {count} definitions)"),
        }
}
