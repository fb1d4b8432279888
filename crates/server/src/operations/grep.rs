//! Exact text in the files of the index.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tamis::tree::{GrepAnswer, GrepFile, GrepLine, GrepRequest, TreeScope};

use crate::api::Verbs;
use crate::call_queue::Lane;
use crate::operation::{Argument, Call, Failure, Operation, Route, Tool, field};
use crate::paging;
use crate::paging::{Entry, PageArguments};
use crate::search_text::place;
use crate::untrusted_text::{clean, counted};

pub(crate) struct Grep;

/// The time after which the totals are those of the files read so far.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Most characters shown of a line, and matching lines listed by default.
const LINE_CHARS: usize = 4000;
const LIMIT: usize = 1000;

impl Operation for Grep {
    const NAME: &'static str = "grep";
    const LANE: Lane = Lane::Slow;
    type Request = GrepRequest;
    type Answer = GrepAnswer;

    fn call(call: &Call<'_>, request: GrepRequest) -> Result<GrepAnswer, Failure> {
        let request = GrepRequest {
            scope: TreeScope { asker: call.asker(), ..request.scope },
            limit: request.limit.or(Some(LIMIT)),
            line_chars: request.line_chars.or(Some(LINE_CHARS)),
            time_limit: Some(TIME_LIMIT),
            ..request
        };
        Ok(call.index.tree().grep(&request, call.observer)?)
    }
}

impl Route for Grep {
    const PATH: &'static str = "/v1/grep";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Find exact text or a regular expression, with exact totals";
    const DESCRIPTION: &'static str = "As `tamis grep --json`. The files are read from the disk.";
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Options {
    /// What to list.
    #[serde(default)]
    list: List,
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

/// Matching lines of which a tool collects the text, and characters that it shows of each.
const LISTED: usize = 10_000;
const SHOWN_CHARS: usize = 300;

impl Tool for Grep {
    const TITLE: &'static str = "Grep";
    const DESCRIPTION: &'static str = "Find exact text or a regular expression in the indexed files, read from disk, with \
        exact totals. For every use of a name, a constant, a message. Use search for meaning.";
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[
        field("pattern"),
        field("fixed_strings").renamed("literal"),
        field("ignore_case"),
        field("word_regexp").renamed("word"),
        field("paths"),
        field("languages"),
        field("context"),
        field("namespace"),
    ]);
    type Options = Options;

    fn adapt(_: &Call<'_>, request: &mut GrepRequest, options: &Options) {
        request.limit = Some(if options.list == List::Files { 0 } else { LISTED });
        request.line_chars = Some(SHOWN_CHARS);
    }

    fn text(call: &Call<'_>, found: &GrepAnswer, options: &Options) -> String {
        let by_file = options.list == List::Files;
        let mut tail = summary(found, by_file);
        for note in &found.notes {
            tail = format!("{} ({note}).\n", tail.trim_end().trim_end_matches('.'));
        }
        let several = call.holds_several();
        let entries = found.results.iter().flat_map(|file| {
            let place = place(&file.namespace, &file.path, several);
            if by_file { vec![Entry::line(format!("{place}: {}", file.lines))] } else { entries(file, &place) }
        });
        let list =
            paging::List { entries: entries.collect(), shared: Some(String::new()), tail, warnings: call.warnings() };
        list.page(&options.page).0
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
    let totals = if found.matches == found.lines { matches } else { format!("{matches} on {lines}") };
    let unlisted = match found.unlisted {
        more if more > 0 && !by_file => format!("; only the first {} lines can be listed", found.lines - more),
        _ => String::new(),
    };
    format!("{least}{totals} in {files}{unlisted}; {} searched.\n", found.searched)
}

fn counted_matches(number: u64) -> String {
    if number == 1 { "1 match".to_owned() } else { format!("{number} matches") }
}

/// The matches of a file, each with the lines around it. Those that touch form one entry.
fn entries(file: &GrepFile, place: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut last_line = 0;
    let has_context = file.hits.iter().any(|hit| hit.column.is_none());
    for hit in &file.hits {
        let line = shown(hit, has_context) + "\n";
        let separator = if has_context && last_line > 0 { "--\n" } else { "" };
        match entries.last_mut().filter(|_| has_context && last_line + 1 == hit.line) {
            Some(last) => last.body.push_str(&line),
            None => entries.push(Entry {
                heading: format!("{place}\n"),
                body: format!("{separator}{line}"),
                ..Entry::default()
            }),
        }
        last_line = hit.line;
    }
    entries
}

/// A line with its number; alone, without its indentation.
fn shown(hit: &GrepLine, has_context: bool) -> String {
    let sign = if hit.column.is_some() { ':' } else { '-' };
    let rest = if hit.shortened { " […]" } else { "" };
    let text = clean(&hit.text).replace('\n', " ");
    format!("{}{sign}{}{rest}", hit.line, if has_context { &text } else { text.trim_start() })
}
