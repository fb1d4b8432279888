//! The symbols of a file or directory.

use crate::call::Call;
use crate::lines::{FileLines, LinesFound};
use crate::operation::{Argument, Failure, Operation, Route, Tool, field};
use crate::page::{PageArguments, paginated};
use crate::reply::Reply;
use crate::text::{clean, counted, name};
use tamis::tree::{FileOutline, OutlineAnswer, OutlineRequest};

pub(crate) struct Outline;

impl Operation for Outline {
    const NAME: &'static str = "outline";
    type Request = OutlineRequest;
    type Answer = OutlineAnswer;

    fn call(call: &Call<'_>, request: OutlineRequest) -> Result<OutlineAnswer, Failure> {
        Ok(call.index.tree().outline(&OutlineRequest { allowed_namespaces: call.allowed(), ..request })?)
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
    type View = LinesFound;

    fn view(call: &Call<'_>, found: OutlineAnswer, page: PageArguments) -> Reply<LinesFound> {
        let files = counted(found.files.len(), "file");
        let notes = found.notes.iter().map(|note| format!("; {note}")).collect::<String>();
        let summary = format!("{} in {files}{notes}.\n", counted(found.symbols as usize, "symbol"));
        let several = call.holds_several();
        let results = found.files.into_iter().flat_map(|file| entries(file, several)).collect();
        let answer = LinesFound::new(summary.clone(), results, call.cursor.start, call.warnings());
        let names = answer.names();
        paginated(answer, &summary, &call.cursor, &names, page.max_chars)
    }
}

/// The symbols of a file, one an entry, and how many are not listed.
fn entries(file: FileOutline, several: bool) -> Vec<FileLines> {
    let line = |start_line: u32, end_line: u32, text: String| FileLines {
        namespace: several.then(|| file.namespace.clone()),
        path: clean(&file.path),
        start_line,
        end_line,
        text,
        heads: false,
        about: format!(" ({})", counted(file.lines as usize, "line")),
    };
    let mut entries: Vec<FileLines> = file
        .entries
        .iter()
        .map(|entry| {
            let lines = if entry.start_line == entry.end_line {
                entry.start_line.to_string()
            } else {
                format!("{}-{}", entry.start_line, entry.end_line)
            };
            let text = format!("{}{lines} {}", " ".repeat(entry.depth), name(&entry.signature));
            line(entry.start_line, entry.end_line, text)
        })
        .collect();
    if file.unlisted > 0 {
        entries.push(line(file.lines, file.lines, format!("and {} more", file.unlisted)));
    }
    entries
}
