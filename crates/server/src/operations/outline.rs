//! The symbols of a file or directory.

use tamis::tree::{FileOutline, OutlineAnswer, OutlineRequest};

use crate::operation::{Argument, Call, Failure, Operation, Route, Tool, field};
use crate::paging::{Entry, List, PageArguments};
use crate::search_text::place;
use crate::untrusted_text::{counted, name};

pub(crate) struct Outline;

impl Operation for Outline {
    const NAME: &'static str = "outline";
    type Request = OutlineRequest;
    type Answer = OutlineAnswer;

    fn call(call: &Call<'_>, request: OutlineRequest) -> Result<OutlineAnswer, Failure> {
        Ok(call.index.tree().outline(&OutlineRequest { asker: call.asker(), ..request })?)
    }
}

impl Route for Outline {
    const PATH: &'static str = "/v1/outline";
    const SUMMARY: &'static str = "List the symbols of a file, or the outermost of a directory's files";
    const DESCRIPTION: &'static str = "As `tamis outline --json`.";
    const TAGGED: bool = true;
}

impl Tool for Outline {
    const TITLE: &'static str = "Outline";
    const DESCRIPTION: &'static str = "List the symbols of a file with lines and signatures, a document's headings, or a \
        directory's outermost symbols. Use it before reading a large file.";
    const ARGUMENTS: Option<&'static [Argument]> =
        Some(&[field("path"), field("tests"), field("limit"), field("namespace")]);
    type Options = PageArguments;

    fn text(call: &Call<'_>, found: &OutlineAnswer, page: &PageArguments) -> String {
        let files = counted(found.files.len(), "file");
        let notes = found.notes.iter().map(|note| format!("; {note}")).collect::<String>();
        let several = call.holds_several();
        let list = List {
            entries: found.files.iter().flat_map(|file| entries(file, several)).collect(),
            shared: Some(String::new()),
            tail: format!("{} in {files}{notes}.\n", counted(found.symbols as usize, "symbol")),
            warnings: call.warnings(),
        };
        list.page(page).0
    }
}

/// The symbols of a file, one an entry, and how many are not listed.
fn entries(file: &FileOutline, several: bool) -> Vec<Entry> {
    let place = place(&file.namespace, &file.path, several);
    let heading = format!("{place} ({})\n", counted(file.lines as usize, "line"));
    let mut lines: Vec<String> = Vec::with_capacity(file.entries.len() + 1);
    for entry in &file.entries {
        let numbers = match entry.start_line == entry.end_line {
            true => entry.start_line.to_string(),
            false => format!("{}-{}", entry.start_line, entry.end_line),
        };
        lines.push(format!("{}{numbers} {}", " ".repeat(entry.depth), name(&entry.signature)));
    }
    if file.unlisted > 0 {
        lines.push(format!("and {} more", file.unlisted));
    }
    lines.into_iter().map(|line| Entry { heading: heading.clone(), ..Entry::line(line) }).collect()
}
