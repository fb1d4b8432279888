//! Files of the index by name.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis::tree::{FileEntry, FilesAnswer, FilesRequest};

use crate::operation::{Argument, Call, Failure, Operation, Route, Tool, field};
use crate::paging::{Entry, List, PageArguments};
use crate::search_text::place;
use crate::untrusted_text::counted;

pub(crate) struct Files;

impl Operation for Files {
    const NAME: &'static str = "files";
    type Request = FilesRequest;
    type Answer = FilesAnswer;

    fn call(call: &Call<'_>, request: FilesRequest) -> Result<FilesAnswer, Failure> {
        Ok(call.index.tree().files(&FilesRequest { asker: call.asker(), ..request })?)
    }
}

impl Route for Files {
    const PATH: &'static str = "/v1/files";
    const SUMMARY: &'static str = "Find files by name";
    const DESCRIPTION: &'static str = "As `tamis files --json`.";
    const TAGGED: bool = true;
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Options {
    /// Show size, language and last change of each.
    #[serde(default)]
    details: bool,
    #[serde(flatten)]
    page: PageArguments,
}

/// The size in bytes from which it is shown: of a file that is better outlined than read.
const LARGE: u64 = 20_000;

impl Tool for Files {
    const TITLE: &'static str = "Files";
    const DESCRIPTION: &'static str =
        "Find indexed files by name, large ones with their size in bytes. Also lists a directory: src/";
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[field("pattern"), field("languages"), field("namespace")]);
    type Options = Options;

    fn text(call: &Call<'_>, found: &FilesAnswer, options: &Options) -> String {
        let fuzzy = found.matched == "fuzzy" && found.total > 0;
        let how = if fuzzy { " with these letters in order; none contains the text" } else { "" };
        let several = call.holds_several();
        let line = |file: &FileEntry| {
            let place = place(&file.namespace, &file.path, several);
            let language = file.language.as_deref().unwrap_or("-");
            let day = file.changed_at.as_deref().and_then(|date| date.get(..10)).unwrap_or("-");
            Entry::line(match file.bytes {
                bytes if options.details => format!("{place} {bytes} {language} {day}"),
                bytes if bytes >= LARGE => format!("{place} {bytes}"),
                _ => place,
            })
        };
        let notes = found.notes.iter().filter(|_| found.total == 0).cloned();
        let list = List {
            entries: found.results.iter().map(line).collect(),
            shared: Some(String::new()),
            tail: format!("{}{how}, {} bytes.\n", counted(found.total as usize, "file"), found.bytes),
            warnings: call.warnings().into_iter().chain(notes).collect(),
        };
        list.page(&options.page).0
    }
}
