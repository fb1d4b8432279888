//! `outline`: the symbols of a file or directory.

use crate::lines::{FileLines, LinesFound};
use crate::page::{DEFAULT_MAX_CHARS, PageArguments, paginated};
use crate::reply::{Refused, Reply};
use crate::text::{clean, counted, name};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::tree::{FileOutline, OutlineRequest};

pub(crate) struct Outline;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// File, directory or glob.
    #[schemars(length(min = 1, max = 4000))]
    path: String,
    /// Include symbols compiled for tests only.
    #[serde(default)]
    tests: bool,
    /// Most symbols of a file, 1 to 10000 (default: all; 20 in a directory).
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<usize>,
    /// Repository (default: this one, or all).
    namespace: Option<String>,
    #[serde(flatten)]
    page: PageArguments,
}

impl Tool for Outline {
    const NAME: &'static str = "outline";
    const TITLE: &'static str = "Outline";
    const DESCRIPTION: &'static str = "List the symbols of a file with their lines and signatures, the headings of a document, \
        or the outermost symbols of a directory's files. Use it before reading a large file.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    type Arguments = Arguments;
    type Answer = LinesFound;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<LinesFound>, Refused> {
        let found = call.index.tree().outline(&OutlineRequest {
            path: arguments.path,
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            tests: arguments.tests,
            limit: arguments.limit,
        })?;
        let files = counted(found.files.len(), "file");
        let notes = found.notes.iter().map(|note| format!("; {note}")).collect::<String>();
        let summary = format!("{} in {files}{notes}.\n", counted(found.symbols as usize, "symbol"));
        let several = call.index.sources().len() > 1 || call.index.elsewhere().is_some();
        let results = found.files.into_iter().flat_map(|file| entries(file, several)).collect();
        let answer = LinesFound::new(summary.clone(), results, call.cursor.start, call.warnings());
        let names = answer.names();
        Ok(paginated(answer, &summary, &call.cursor, &names, arguments.page.max_chars))
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
