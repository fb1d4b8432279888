//! `get`: the full text of a result.

use crate::cursor::{CHANGED, listed};
use crate::page::{MAX_CHARS, More, fitting, json_length, keep_short, max_chars, notes};
use crate::reply::{Refused, Reply};
use crate::text::{backticks, clean, fenced, first, name};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) struct Get;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The id of a result, or PATH, PATH:LINE or PATH:FIRST-LAST; NAMESPACE: may stand in front.
    #[schemars(length(min = 1, max = 4000))]
    id: String,
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
    /// Where to go on: next_cursor of the last answer to the same arguments (default: from the beginning).
    #[allow(dead_code)]
    cursor: Option<String>,
}

/// Lines of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Lines {
    /// The repository or project it belongs to.
    namespace: String,
    /// Path of the document.
    path: String,
    /// First line given, from 1.
    start_line: u32,
    /// Last line given, included.
    end_line: u32,
    /// Last line of what was asked for.
    last_line: u32,
    /// Identifier of the passage, where one was asked for.
    id: Option<String>,
    /// Qualified name of the symbol, where a passage was asked for that has one.
    symbol: Option<String>,
    /// The lines as they are indexed.
    text: String,
    /// Lines that come after these are counted; `cursor` gives them.
    #[serde(flatten)]
    more: More,
}

impl Tool for Get {
    const NAME: &'static str = "get";
    const TITLE: &'static str = "Get";
    const DESCRIPTION: &'static str = "The full text of a result of another tool, by its id, or of a document or some of its \
        lines, by path. Take it when a snippet is not enough; take search when the path is not known.";
    const MOST_CHARS: usize = MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Lines;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Lines>, Refused> {
        let excerpt = call.index.get_allowed(&arguments.id, call.caller.namespaces.as_deref())?;
        let whole = clean(&excerpt.text);
        let names = listed([excerpt.namespace.as_str(), excerpt.path.as_str(), whole.as_str()].into_iter());
        let mut more = More { warnings: call.warnings(), ..More::default() };
        if call.place.has_changed(&names) {
            more.warnings.insert(0, CHANGED.to_owned());
        }
        keep_short(&mut more.warnings, arguments.max_chars / 4);
        let before = first(&whole, call.place.start);
        let rest = &whole[before.len()..];
        let start_line = excerpt.start_line + newlines(before);
        let mut lines = Lines {
            namespace: excerpt.namespace,
            path: clean(&excerpt.path),
            start_line,
            end_line: excerpt.end_line,
            last_line: excerpt.end_line,
            id: excerpt.id,
            symbol: excerpt.symbol.as_deref().map(name),
            text: String::new(),
            more,
        };
        // A fence is as long as the longest run of backticks, which are at most the text itself.
        let around =
            head(&lines).chars().count() + notes(&lines.more.warnings).chars().count() + CURSOR + 2 * backticks(&whole);
        let text_room = arguments.max_chars.saturating_sub(around).max(LEAST);
        let json_room = arguments.max_chars.saturating_sub(json_length(&lines) + CURSOR).max(LEAST);
        lines.text = beginning(rest, text_room, json_room).to_owned();
        let end = before.len() + lines.text.len();
        let mut tail = String::new();
        if end < whole.len() {
            lines.end_line = (start_line + newlines(lines.text.trim_end_matches('\n'))).min(lines.last_line);
            let cursor = call.place.next(whole[..end].chars().count(), &names);
            lines.more.remaining = whole[end..].lines().count();
            tail = format!(
                "{} more lines: the same arguments with cursor = \"{cursor}\" give them.\n",
                lines.more.remaining
            );
            lines.more.next_cursor = Some(cursor);
        }
        let text = format!("{}{}{tail}{}", head(&lines), fenced(&lines.text), notes(&lines.more.warnings));
        Ok(Reply::new(lines, text))
    }
}

/// Characters that a cursor, its line and the lines of a fence take.
const CURSOR: usize = 280;

/// Characters of text in any case.
const LEAST: usize = 200;

/// What is given: its identifier and lines, and between fences what others called it.
fn head(lines: &Lines) -> String {
    let id = lines.id.as_ref().map(|id| format!("[{id}] ")).unwrap_or_default();
    let symbol = lines.symbol.as_ref().map(|symbol| format!(" {symbol}")).unwrap_or_default();
    let Lines { start_line, end_line, .. } = lines;
    let place = format!("{}:{}:{start_line}-{end_line}{symbol}", name(&lines.namespace), name(&lines.path));
    format!("{id}Lines {start_line} to {end_line} of {} from\n{}", lines.last_line, fenced(&place))
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

/// As much of the beginning as fits, whole lines where one fits.
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
    fn whole_lines_where_one_fits() {
        assert_eq!(beginning("one\ntwo\nthree", 9, 99), "one\ntwo\n");
        assert_eq!(beginning("one\ntwo\nthree", 99, 99), "one\ntwo\nthree");
        assert_eq!(beginning("äääääää", 3, 99), "äää");
        let escaped = "\"".repeat(100);
        assert_eq!(beginning(&escaped, 99, 40).len(), 20);
        assert_eq!(beginning("", 10, 10), "");
    }
}
