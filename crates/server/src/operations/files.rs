//! Files of the index by name.

use crate::call::Call;
use crate::lines::{FileLines, LinesFound};
use crate::operation::{Argument, Failure, Operation, Route, Tool, field};
use crate::page::{PageArguments, paginated};
use crate::reply::Reply;
use crate::text::{clean, counted, name};
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::tree::{FileEntry, FilesAnswer, FilesRequest};

pub(crate) struct Files;

impl Operation for Files {
    const NAME: &'static str = "files";
    type Request = FilesRequest;
    type Answer = FilesAnswer;

    fn call(call: &Call<'_>, request: FilesRequest) -> Result<FilesAnswer, Failure> {
        Ok(call.index.tree().files(&FilesRequest { allowed_namespaces: call.allowed(), ..request })?)
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
    type View = LinesFound;

    fn view(call: &Call<'_>, found: FilesAnswer, options: Options) -> Reply<LinesFound> {
        let fuzzy = found.matched == "fuzzy" && found.total > 0;
        let how = if fuzzy { " with these letters in order; none contains the text" } else { "" };
        let summary = format!("{}{how}, {} bytes.\n", counted(found.total as usize, "file"), found.bytes);
        let nothing = found.total == 0;
        let warnings = call.warnings().into_iter().chain(found.notes.into_iter().filter(|_| nothing)).collect();
        let several = call.holds_several();
        let entry = |file: FileEntry| {
            let namespace = if several { format!("{}:", name(&file.namespace)) } else { String::new() };
            let language = file.language.as_deref().unwrap_or("-");
            let day = file.changed_at.as_deref().and_then(|date| date.get(..10)).unwrap_or("-");
            FileLines {
                text: match file.bytes {
                    bytes if options.details => format!("{namespace}{} {bytes} {language} {day}", name(&file.path)),
                    bytes if bytes >= LARGE => format!("{namespace}{} {bytes}", name(&file.path)),
                    _ => format!("{namespace}{}", name(&file.path)),
                },
                namespace: several.then_some(file.namespace),
                path: clean(&file.path),
                start_line: 1,
                end_line: 1,
                heads: false,
                about: String::new(),
            }
        };
        let mut answer = LinesFound::new(summary.clone(), found.results.into_iter().map(entry).collect(), 0, warnings);
        answer.results.iter_mut().for_each(|one| one.heads = false);
        let names = answer.names();
        paginated(answer, &summary, &call.cursor, &names, options.page.max_chars)
    }
}
