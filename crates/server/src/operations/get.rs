//! The full text of a result, of a document or of some of its lines.

use crate::call::{Call, MCP};
use crate::cursor::{CHANGED, fingerprint};
use crate::labels::note_opened;
use crate::operation::{Failure, Operation, Route, Tool};
use crate::page::{PageArguments, PageInfo, fitting, shorten_warnings, warning_lines};
use crate::reply::Reply;
use crate::sanitize::json_length;
use crate::text::{backticks, clean, fenced, first, name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::feedback::Opened;
use tamis::{Excerpt, GetRequest};

pub(crate) struct Get;
pub(crate) struct GetByPath;

impl Operation for Get {
    const NAME: &'static str = "document";
    type Request = GetRequest;
    type Answer = Excerpt;

    fn call(call: &Call<'_>, request: GetRequest) -> Result<Excerpt, Failure> {
        let excerpt = call.index.read(&GetRequest { allowed_namespaces: call.allowed(), ..request })?;
        // A tool shows a page, and notes what is on it.
        if call.entry_point != MCP {
            note_opened(call, &excerpt, "get");
        }
        Ok(excerpt)
    }
}

impl Route for Get {
    const PATH: &'static str = "/v1/documents/{id}";
    const SUMMARY: &'static str = "Read the full text of a result";
    const DESCRIPTION: &'static str = "As `tamis get --json`. A slash in the identifier is written %2F.";
    const TAGGED: bool = true;
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ByPath {
    /// PATH, PATH:LINE or PATH:FIRST-LAST; NAMESPACE: may precede it.
    #[schemars(length(min = 1, max = 4000))]
    path: String,
    /// Lines before and after it, 0 to 1000.
    #[schemars(range(min = 0, max = 1000))]
    #[serde(default)]
    context: u32,
}

impl Operation for GetByPath {
    const NAME: &'static str = "document_by_path";
    type Request = ByPath;
    type Answer = Excerpt;

    fn call(call: &Call<'_>, ByPath { path, context }: ByPath) -> Result<Excerpt, Failure> {
        Get::call(call, GetRequest { id: path, context, ..GetRequest::default() })
    }
}

impl Route for GetByPath {
    const PATH: &'static str = "/v1/documents";
    const SUMMARY: &'static str = "Read a document or some of its lines";
    const DESCRIPTION: &'static str = "As `tamis get --json`.";
    const TAGGED: bool = true;
}

/// Lines of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Lines {
    /// Repository or project of the document.
    namespace: String,
    /// Path of the document.
    path: String,
    /// First line in this answer, from 1.
    start_line: u32,
    /// Last line in this answer, included.
    end_line: u32,
    /// Last line of the whole excerpt.
    last_line: u32,
    /// Identifier of the passage, if the call named one.
    id: Option<String>,
    /// Qualified name of the passage's symbol, if any.
    symbol: Option<String>,
    /// The lines as indexed.
    text: String,
    /// `remaining` counts the lines after these.
    #[serde(flatten)]
    page: PageInfo,
}

impl Tool for Get {
    const TOOL_NAME: &'static str = "get";
    const TITLE: &'static str = "Get";
    const DESCRIPTION: &'static str =
        "Read the full text of a result by its id, or of a document or some of its lines by path.";
    type Options = PageArguments;
    type View = Lines;

    fn view(call: &Call<'_>, excerpt: Excerpt, page_arguments: PageArguments) -> Reply<Lines> {
        let whole = clean(&excerpt.text);
        let names = fingerprint([excerpt.namespace.as_str(), excerpt.path.as_str(), whole.as_str()].into_iter());
        let excerpt_path = excerpt.path;
        let mut page = PageInfo { warnings: call.warnings(), ..PageInfo::default() };
        if call.cursor.has_changed(&names) {
            page.warnings.insert(0, CHANGED.to_owned());
        }
        shorten_warnings(&mut page.warnings, page_arguments.max_chars / 4);
        let before = first(&whole, call.cursor.start);
        let rest = &whole[before.len()..];
        let start_line = excerpt.start_line + newlines(before);
        let mut lines = Lines {
            namespace: excerpt.namespace,
            path: clean(&excerpt_path),
            start_line,
            end_line: excerpt.end_line,
            last_line: excerpt.end_line,
            id: excerpt.id,
            symbol: excerpt.symbol.as_deref().map(name),
            text: String::new(),
            page,
        };
        // A fence is longer than the longest run of backticks inside.
        let several = !call.index.is_of_one_tree();
        let head = place(&lines, several);
        let around = head.chars().count()
            + warning_lines(&lines.page.warnings).chars().count()
            + CURSOR_CHARS
            + 2 * backticks(&whole).max(backticks(&head));
        let text_room = page_arguments.max_chars.saturating_sub(around).max(MIN_TEXT);
        let json_room = match call.cursor.with_data {
            true => page_arguments.max_chars.saturating_sub(json_length(&lines) + CURSOR_CHARS).max(MIN_TEXT),
            false => usize::MAX,
        };
        lines.text = beginning(rest, text_room, json_room).to_owned();
        let end = before.len() + lines.text.len();
        let mut tail = String::new();
        if end < whole.len() {
            lines.end_line = (start_line + newlines(lines.text.trim_end_matches('\n'))).min(lines.last_line);
            let cursor = call.cursor.next(whole[..end].chars().count(), &names);
            lines.page.remaining = whole[end..].lines().count();
            tail = format!(
                "{} more lines: call again with the same arguments and cursor = \"{cursor}\".\n",
                lines.page.remaining
            );
            lines.page.next_cursor = Some(cursor);
        }
        let read = Opened::Lines {
            namespace: &lines.namespace,
            path: &excerpt_path,
            first: lines.start_line,
            last: lines.end_line,
        };
        note_opened(call, lines.id.as_deref().map_or(read, Opened::Passage), "get");
        let text = fenced(&format!("{}\n{}", place(&lines, several), lines.text));
        let text = format!("{text}{tail}{}", warning_lines(&lines.page.warnings));
        Reply::new(lines, text)
    }
}

/// Characters reserved for a cursor, its line and the lines of a fence.
const CURSOR_CHARS: usize = 280;

/// Characters of text that always fit.
const MIN_TEXT: usize = 200;

/// The place of the lines, whose names were written by others.
fn place(lines: &Lines, shows_namespace: bool) -> String {
    let namespace = if shows_namespace { format!("{}:", name(&lines.namespace)) } else { String::new() };
    let symbol = lines.symbol.as_ref().map(|symbol| format!(" {symbol}")).unwrap_or_default();
    let Lines { start_line, end_line, .. } = lines;
    format!("{namespace}{}:{start_line}-{end_line}{symbol}", name(&lines.path))
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

/// The longest beginning that fits: whole lines if at least one fits.
fn beginning(text: &str, text_room: usize, json_room: usize) -> &str {
    let part = fitting(text, text_room, json_room);
    if part.len() == text.len() {
        return part;
    }
    part.rfind('\n').map_or(part, |end| &part[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_kept_if_one_fits() {
        assert_eq!(beginning("one\ntwo\nthree", 9, 99), "one\ntwo\n");
        assert_eq!(beginning("one\ntwo\nthree", 99, 99), "one\ntwo\nthree");
        assert_eq!(beginning("äääääää", 3, 99), "äää");
        let escaped = "\"".repeat(100);
        assert_eq!(beginning(&escaped, 99, 40).len(), 20);
        assert_eq!(beginning("", 10, 10), "");
    }
}
