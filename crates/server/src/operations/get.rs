//! The full text of a result, of a document or of some of its lines.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis::feedback::Opened;
use tamis::{Excerpt, GetRequest};

use crate::operation::{Call, Failure, MCP, Operation, Route, Tool};
use crate::paging::{NEXT_CHARS, PageArguments, warning_lines};
use crate::search_text::place;
use crate::untrusted_text::{backticks, clean, counted, fenced, first, name};

pub(crate) struct Get;
pub(crate) struct GetByPath;

impl Operation for Get {
    const NAME: &'static str = "document";
    type Request = GetRequest;
    type Answer = Excerpt;

    fn call(call: &Call<'_>, request: GetRequest) -> Result<Excerpt, Failure> {
        let excerpt = call.index.read(&GetRequest { asker: call.asker(), ..request })?;
        // A tool shows a page, and notes what is on it.
        if call.entry_point != MCP {
            call.note_opened(&excerpt, "get");
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

impl Tool for Get {
    const TOOL_NAME: &'static str = "get";
    const TITLE: &'static str = "Get";
    const DESCRIPTION: &'static str =
        "Read the full text of a result by its id, or of a document or some of its lines by path.";
    type Options = PageArguments;

    fn text(call: &Call<'_>, excerpt: &Excerpt, page: &PageArguments) -> String {
        let warnings = warning_lines(&call.warnings(), page.max_chars / 4);
        let whole = clean(&excerpt.text);
        let before = first(&whole, page.offset);
        let first_line = excerpt.start_line + newlines(before);
        let symbol = excerpt.symbol.as_ref().map(|symbol| format!(" {}", name(symbol))).unwrap_or_default();
        let place = place(&excerpt.namespace, &excerpt.path, !call.index.is_of_one_tree());
        // A fence is longer than the longest run of backticks inside.
        let fences = 2 * (backticks(&whole).max(backticks(&place)) + "```\n".len());
        let around = place.chars().count() + symbol.chars().count() + LINE_CHARS + warnings.chars().count() + fences;
        let room = page.max_chars.saturating_sub(around + NEXT_CHARS).max(MIN_TEXT);
        let text = beginning(&whole[before.len()..], room);
        let end = before.len() + text.len();
        let mut last_line = excerpt.end_line;
        let mut next = String::new();
        if end < whole.len() {
            last_line = (first_line + newlines(text.trim_end_matches('\n'))).min(last_line);
            let (more, offset) = (whole[end..].lines().count(), whole[..end].chars().count());
            next = format!("{}: call again with offset = {offset}.\n", counted(more, "more line"));
        }
        let Excerpt { namespace, path, .. } = excerpt;
        let lines = Opened::Lines { namespace, path, first: first_line, last: last_line };
        call.note_opened(excerpt.id.as_deref().map_or(lines, Opened::Passage), "get");
        fenced(&format!("{place}:{first_line}-{last_line}{symbol}\n{text}")) + &warnings + &next
    }
}

/// Characters reserved for the numbers of lines.
const LINE_CHARS: usize = 24;

/// Characters of text that always fit.
const MIN_TEXT: usize = 200;

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

/// The longest beginning that fits: whole lines if at least one fits.
fn beginning(text: &str, room: usize) -> &str {
    let part = first(text, room);
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
        assert_eq!(beginning("one\ntwo\nthree", 9), "one\ntwo\n");
        assert_eq!([beginning("one\ntwo\nthree", 99), beginning("äääääää", 3)], ["one\ntwo\nthree", "äää"]);
        assert_eq!(beginning("", 10), "");
    }
}
