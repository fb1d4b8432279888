//! `files`: files of the index by name.

use crate::lines::{FileLines, LinesFound};
use crate::page::{DEFAULT_MAX_CHARS, PageArguments, paginated};
use crate::reply::{Refused, Reply};
use crate::shared_arguments::languages;
use crate::text::{clean, counted, name};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::tree::{FileEntry, FilesRequest, TreeScope};

pub(crate) struct Files;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Glob, part of a path, or some of its letters in order; `!GLOB` leaves paths out (default: all files).
    #[schemars(length(max = 1000))]
    pattern: Option<String>,
    /// Languages (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    languages: Vec<String>,
    /// Show size, language and last change of each.
    #[serde(default)]
    details: bool,
    /// Repository (default: this one, or all).
    namespace: Option<String>,
    #[serde(flatten)]
    page: PageArguments,
}

/// The size in bytes from which it is shown: of a file that is better outlined than read.
const LARGE: u64 = 20_000;

impl Tool for Files {
    const NAME: &'static str = "files";
    const TITLE: &'static str = "Files";
    const DESCRIPTION: &'static str =
        "Find indexed files by name, large ones with their size in bytes. Also lists a directory: src/";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    type Arguments = Arguments;
    type Answer = LinesFound;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<LinesFound>, Refused> {
        let found = call.index.tree().files(&FilesRequest {
            pattern: arguments.pattern,
            scope: TreeScope {
                paths: Vec::new(),
                languages: languages(&arguments.languages)?,
                namespace: arguments.namespace,
                allowed_namespaces: call.allowed(),
            },
            limit: None,
        })?;
        let fuzzy = found.matched == "fuzzy" && found.total > 0;
        let how = if fuzzy { " with these letters in order; none contains the text" } else { "" };
        let summary = format!("{}{how}, {} bytes.\n", counted(found.total as usize, "file"), found.bytes);
        let nothing = found.total == 0;
        let warnings = call.warnings().into_iter().chain(found.notes.into_iter().filter(|_| nothing)).collect();
        let several = call.index.sources().len() > 1 || call.index.elsewhere().is_some();
        let entry = |file: FileEntry| {
            let namespace = if several { format!("{}:", name(&file.namespace)) } else { String::new() };
            let language = file.language.as_deref().unwrap_or("-");
            let day = file.changed_at.as_deref().and_then(|date| date.get(..10)).unwrap_or("-");
            FileLines {
                text: match file.bytes {
                    bytes if arguments.details => format!("{namespace}{} {bytes} {language} {day}", name(&file.path)),
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
        Ok(paginated(answer, &summary, &call.cursor, &names, arguments.page.max_chars))
    }
}
