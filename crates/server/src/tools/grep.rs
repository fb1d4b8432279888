//! `grep`: exact text in the files of the index.

use crate::lanes::Lane;
use crate::lines::{FileLines, LinesFound};
use crate::page::{DEFAULT_MAX_CHARS, PageArguments, paginated};
use crate::reply::{Refused, Reply};
use crate::shared_arguments::languages;
use crate::text::{clean, counted};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tamis::tree::{GrepAnswer, GrepFile, GrepLine, GrepRequest, LetterCase, Pattern, TreeScope};

pub(crate) struct Grep;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Regular expression, within one line.
    #[schemars(length(min = 1, max = 10_000))]
    pattern: String,
    /// Take the pattern as it is.
    #[serde(default)]
    literal: bool,
    /// Ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Whole words only.
    #[serde(default)]
    word: bool,
    /// Files, directories or globs; `!` excludes (default: all).
    #[schemars(length(max = 50))]
    #[serde(default)]
    paths: Vec<String>,
    /// Languages (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    languages: Vec<String>,
    /// Lines around each match.
    #[schemars(range(min = 0, max = 100))]
    #[serde(default)]
    context: usize,
    /// What to list.
    #[serde(default)]
    list: List,
    /// Repository (default: this one, or all).
    namespace: Option<String>,
    #[serde(flatten)]
    page: PageArguments,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum List {
    #[default]
    Lines,
    Files,
}

/// Matching lines of which a call collects the text.
const LISTED: usize = 10_000;

/// The time after which the totals are those of the files read so far.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Most characters shown of a line.
const LINE_CHARS: usize = 300;

impl Tool for Grep {
    const NAME: &'static str = "grep";
    const TITLE: &'static str = "Grep";
    const DESCRIPTION: &'static str = "Find exact text or a regular expression in the indexed files, read from disk, with \
        exact totals. For every use of a name, a constant, a message. Use search for meaning.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    const LANE: Lane = Lane::Slow;
    type Arguments = Arguments;
    type Answer = LinesFound;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<LinesFound>, Refused> {
        let by_file = arguments.list == List::Files;
        let found = call.index.tree().grep(
            &GrepRequest {
                pattern: Pattern {
                    text: arguments.pattern,
                    literal: arguments.literal,
                    case: if arguments.ignore_case { LetterCase::Insensitive } else { LetterCase::Sensitive },
                    word: arguments.word,
                },
                scope: TreeScope {
                    paths: arguments.paths,
                    languages: languages(&arguments.languages)?,
                    namespace: arguments.namespace,
                    allowed_namespaces: call.allowed(),
                },
                before: arguments.context,
                after: arguments.context,
                limit: if by_file { 0 } else { LISTED },
                line_chars: LINE_CHARS,
                time_limit: Some(TIME_LIMIT),
            },
            call.observer,
        )?;
        let mut summary = summary(&found, by_file);
        for note in &found.notes {
            summary = format!("{} ({note}).\n", summary.trim_end().trim_end_matches('.'));
        }
        let warnings = call.warnings();
        let several = call.index.sources().len() > 1 || call.index.elsewhere().is_some();
        let results: Vec<FileLines> = found
            .results
            .into_iter()
            .flat_map(|file| if by_file { vec![counts(file, several)] } else { entries(file, several) })
            .collect();
        let answer = LinesFound::new(summary.clone(), results, call.cursor.start, warnings);
        let names = answer.names();
        Ok(paginated(answer, &summary, &call.cursor, &names, arguments.page.max_chars))
    }
}

/// The totals in one line.
fn summary(found: &GrepAnswer, by_file: bool) -> String {
    let least = if found.complete { "" } else { "At least " };
    if found.files == 0 {
        return format!("No match in {}.\n", counted(found.searched as usize, "file"));
    }
    let lines = counted(found.lines as usize, "line");
    let matches = counted_matches(found.matches);
    let files = counted(found.files as usize, "file");
    let totals = if found.matches == found.lines { matches } else { format!("{matches} in {lines}") };
    let unlisted = match found.unlisted {
        more if more > 0 && !by_file => format!("; only the first {} lines can be listed", found.lines - more),
        _ => String::new(),
    };
    format!("{least}{totals} of {files}{unlisted}; {} searched.\n", found.searched)
}

fn counted_matches(number: u64) -> String {
    if number == 1 { "1 match".to_owned() } else { format!("{number} matches") }
}

/// A file with its number of matching lines.
fn counts(file: GrepFile, several: bool) -> FileLines {
    FileLines {
        namespace: several.then_some(file.namespace),
        text: format!("{}: {}", crate::text::name(&file.path), file.lines),
        path: clean(&file.path),
        start_line: 1,
        end_line: 1,
        heads: false,
        about: String::new(),
    }
}

/// The matches of a file, each with the lines around it. Those that touch form one entry.
fn entries(file: GrepFile, several: bool) -> Vec<FileLines> {
    let mut entries: Vec<FileLines> = Vec::new();
    let has_context = file.hits.iter().any(|hit| hit.column.is_none());
    for hit in file.hits {
        let line = shown(&hit);
        match entries.last_mut().filter(|last| has_context && last.end_line + 1 == hit.line) {
            Some(last) => {
                last.text.push('\n');
                last.text.push_str(&line);
                last.end_line = hit.line;
            }
            None => entries.push(FileLines {
                namespace: several.then(|| file.namespace.clone()),
                path: clean(&file.path),
                start_line: hit.line,
                end_line: hit.line,
                text: if has_context && !entries.is_empty() { format!("--\n{line}") } else { line },
                heads: false,
                about: String::new(),
            }),
        }
    }
    entries
}

fn shown(hit: &GrepLine) -> String {
    let sign = if hit.column.is_some() { ':' } else { '-' };
    let rest = if hit.shortened { " […]" } else { "" };
    format!("{}{sign}{}{rest}", hit.line, clean(&hit.text).replace('\n', " "))
}
