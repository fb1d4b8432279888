//! Pages of an answer: as many whole entries as fit into a number of characters.

use crate::agent_messages::for_agent;
use crate::cursor::{CHANGED, Cursor};
use crate::reply::Reply;
use crate::sanitize::json_length;
use crate::text::{REST, backticks, clean, fenced, line, short};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most characters of an answer by default.
pub(crate) const DEFAULT_MAX_CHARS: usize = 10_000;

/// Arguments of the tools that return pages.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PageArguments {
    /// Most characters.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    pub max_chars: usize,
    /// Cursor of the next page (default: first).
    #[expect(dead_code, reason = "read from the raw arguments, before they are parsed")]
    cursor: Option<String>,
}

/// The default of the argument `max_chars`.
pub(crate) fn max_chars() -> usize {
    DEFAULT_MAX_CHARS
}

/// Characters reserved for a cursor and its line.
pub(crate) const CURSOR_CHARS: usize = 260;

/// Most characters of a warning.
const MAX_WARNING: usize = 400;

/// An entry of a list.
pub(crate) trait Entry: Serialize {
    /// The entry as text. Text by others stands between fences, either its own or those of the list.
    fn text(&self) -> String;
    /// The longest part of the entry. It is shortened when the entry does not fit on a page of its own.
    fn body(&mut self) -> &mut String;
    /// Marks the entry as shortened.
    fn mark_shortened(&mut self);
}

/// The position of a page in its list, and warnings about the answer.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct PageInfo {
    /// Number of entries after these; `cursor` continues with them.
    pub remaining: usize,
    /// The `cursor` of the next page, for the same arguments; absent on the last page.
    pub next_cursor: Option<String>,
    /// Warnings about the answer, such as a search by words alone.
    pub warnings: Vec<String>,
}

/// An answer with a list.
pub(crate) trait Listing: Serialize {
    /// An entry of the list.
    type Entry: Entry;
    /// True if one pair of fences encloses all entries.
    const FENCED: bool = false;
    /// The entries.
    fn entries(&mut self) -> &mut Vec<Self::Entry>;
    /// The page of the list.
    fn page(&mut self) -> &mut PageInfo;
    /// Text inside the fences of the list, before the entries.
    fn head(&self) -> String {
        String::new()
    }
}

/// The text between the fences of a list.
#[derive(Default)]
struct Fenced {
    text: String,
    characters: usize,
    backticks: usize,
}

impl Fenced {
    fn with(&self, text: &str) -> Fenced {
        Fenced {
            characters: self.characters + text.chars().count(),
            backticks: self.backticks.max(backticks(text)),
            text: String::new(),
        }
    }

    /// Characters, fences included.
    fn whole(&self) -> usize {
        self.characters + 2 * (self.backticks.max(2) + 2)
    }

    fn push(&mut self, text: &str) {
        *self = Fenced { text: std::mem::take(&mut self.text) + text, ..self.with(text) };
    }
}

/// The page of an answer that starts at `cursor`, and its text: the entries, then `tail`. `listed` is the fingerprint of the
/// whole list. Neither the text nor the JSON exceeds `max_chars`.
pub(crate) fn paginated<L: Listing>(
    mut answer: L,
    tail: &str,
    cursor: &Cursor,
    listed: &str,
    max_chars: usize,
) -> Reply<L> {
    let entries = std::mem::take(answer.entries());
    if cursor.has_changed(listed) {
        answer.page().warnings.insert(0, CHANGED.to_owned());
    }
    let tail = short(&clean(tail), max_chars / 4).into_owned();
    shorten_warnings(&mut answer.page().warnings, max_chars / 4);
    let warnings = warning_lines(&answer.page().warnings);
    let around = tail.chars().count() + 1 + warnings.chars().count() + CURSOR_CHARS;
    let text_room = max_chars.saturating_sub(around);
    let mut json_room = match cursor.with_data {
        true => max_chars.saturating_sub(json_length(&answer) + CURSOR_CHARS),
        false => usize::MAX,
    };

    let all = entries.len();
    let mut text = Fenced::default();
    if L::FENCED {
        text.push(&answer.head());
    }
    // Entries that bring their own fences already count them.
    let whole = |text: &Fenced| if L::FENCED { text.whole() } else { text.characters };
    for mut entry in entries.into_iter().skip(cursor.start) {
        if answer.entries().is_empty() {
            shorten(&mut entry, |shown| whole(&text.with(shown)).saturating_sub(text_room), json_room);
        }
        let shown = entry.text();
        let json = json_length(&entry) + 1;
        if (whole(&text.with(&shown)) > text_room || json > json_room) && !answer.entries().is_empty() {
            break;
        }
        json_room = json_room.saturating_sub(json);
        text.push(&shown);
        answer.entries().push(entry);
    }
    let end = cursor.start + answer.entries().len();
    let remaining = all.saturating_sub(end);
    let mut text = if L::FENCED && !text.text.is_empty() { fenced(&text.text) } else { text.text };
    text.push_str(&tail);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&warnings);
    if remaining > 0 {
        let next = cursor.next(end, listed);
        text.push_str(&format!("{remaining} more: call again with the same arguments and cursor = \"{next}\".\n"));
        answer.page().next_cursor = Some(next);
    }
    answer.page().remaining = remaining;
    Reply::new(answer, text)
}

/// Puts each warning on one line, and keeps as many as fit into so many characters.
pub(crate) fn shorten_warnings(warnings: &mut Vec<String>, most: usize) {
    let mut room = most;
    for warning in warnings.iter_mut() {
        *warning = short(&for_agent(&line(warning)), MAX_WARNING.min(most)).into_owned();
    }
    warnings.retain(|warning| {
        let length = warning.chars().count() + "Note: \n".len();
        let fits = length <= room || room == most;
        room = room.saturating_sub(length);
        fits
    });
}

/// Warnings as lines of text.
pub(crate) fn warning_lines(warnings: &[String]) -> String {
    warnings.iter().map(|warning| format!("Note: {}\n", line(warning))).collect()
}

/// Shortens and marks an entry that does not fit on a page of its own.
fn shorten<E: Entry>(entry: &mut E, text_over: impl Fn(&str) -> usize, json_room: usize) {
    let over = |entry: &E| (text_over(&entry.text()), (json_length(entry) + 1).saturating_sub(json_room));
    if over(entry) == (0, 0) {
        return;
    }
    entry.mark_shortened();
    // The mark takes up space too.
    let (text, json) = over(entry);
    let body = entry.body();
    let left = |length: usize, over: usize| length.saturating_sub(over + REST.chars().count());
    let mut short =
        fitting(body, left(body.chars().count(), text), left(json_length(body.as_str()) - 2, json)).to_owned();
    short.push_str(REST);
    *body = short;
}

/// The longest beginning of a text that fits into two limits: characters of plain text, and characters in JSON.
pub(crate) fn fitting(text: &str, mut text_room: usize, mut json_room: usize) -> &str {
    for (at, character) in text.char_indices() {
        let width = match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => 1,
        };
        if text_room == 0 || width > json_room {
            return &text[..at];
        }
        text_room -= 1;
        json_room -= width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor;
    use rmcp::model::JsonObject;
    use serde_json::json;

    #[derive(Serialize)]
    struct One {
        body: String,
        shortened: bool,
    }

    impl Entry for One {
        fn text(&self) -> String {
            format!("{}\n", self.body)
        }
        fn body(&mut self) -> &mut String {
            &mut self.body
        }
        fn mark_shortened(&mut self) {
            self.shortened = true;
        }
    }

    #[derive(Serialize, Default)]
    struct List {
        results: Vec<One>,
        page: PageInfo,
    }

    impl Listing for List {
        type Entry = One;
        fn entries(&mut self) -> &mut Vec<One> {
            &mut self.results
        }
        fn page(&mut self) -> &mut PageInfo {
            &mut self.page
        }
    }

    fn list(bodies: &[String]) -> List {
        let results = bodies.iter().map(|body| One { body: body.clone(), shortened: false }).collect();
        List { results, page: PageInfo::default() }
    }

    fn at(cursor: Option<&str>) -> Cursor {
        let mut arguments = JsonObject::new();
        if let Some(cursor) = cursor {
            arguments.insert("cursor".into(), json!(cursor));
        }
        let mut cursor = Cursor::of("test", &arguments).expect("a cursor");
        cursor.with_data = true;
        cursor
    }

    #[test]
    fn pages_hold_every_entry_once_and_stay_within_the_limit() {
        let bodies: Vec<String> = (0..40).map(|number| format!("{number} {}", "ä\"\n".repeat(number))).collect();
        let names = cursor::fingerprint(bodies.iter().map(String::as_str));
        for max_chars in [700, 1000, 5000, 100_000] {
            let mut seen = Vec::new();
            let mut cursor: Option<String> = None;
            loop {
                let reply = paginated(list(&bodies), "the reason", &at(cursor.as_deref()), &names, max_chars);
                assert!(reply.text.chars().count() <= max_chars, "{max_chars}: {}", reply.text.chars().count());
                assert!(json_length(&reply.answer) <= max_chars, "{max_chars}: {}", json_length(&reply.answer));
                assert!(!reply.answer.results.is_empty());
                seen.extend(reply.answer.results.into_iter().map(|one| one.body));
                cursor = reply.answer.page.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, bodies, "{max_chars}");
        }
    }

    #[test]
    fn an_entry_that_exceeds_a_page_is_shortened_and_marked() {
        for body in ["ä".repeat(9000), "\"\\\u{1}".repeat(9000)] {
            let bodies = [body, "second".to_owned()];
            let reply = paginated(list(&bodies), "", &at(None), "0000000000000000", 1000);
            let [one] = reply.answer.results.as_slice() else { panic!("one entry") };
            assert!(one.shortened && one.body.ends_with(REST) && !one.body.starts_with(REST), "{}", one.body);
            assert!(reply.text.chars().count() <= 1000 && json_length(&reply.answer) <= 1000);
            assert_eq!(reply.answer.page.remaining, 1);
        }
    }

    #[test]
    fn the_width_of_a_character_is_that_of_its_json() {
        for character in ('\0'..'\u{2100}').chain(['\u{1f600}']) {
            let text = character.to_string();
            let width = json_length(text.as_str()) - 2;
            assert_eq!(fitting(&text, 1, width), text, "{character:?}");
            assert_eq!(fitting(&text, 1, width - 1), "", "{character:?}");
        }
        assert_eq!(fitting("äöü", 2, 99), "äö");
    }

    #[test]
    fn a_page_warns_when_the_list_has_changed() {
        let bodies: Vec<String> = (0..9).map(|number| format!("{number}{}", "x".repeat(200))).collect();
        let reply = paginated(list(&bodies), "", &at(None), "0000000000000000", 1000);
        let cursor = reply.answer.page.next_cursor.expect("more");
        let reply = paginated(list(&bodies), "", &at(Some(&cursor)), "1111111111111111", 1000);
        assert!(reply.text.contains("has changed since") && reply.answer.page.warnings.len() == 1, "{}", reply.text);
    }

    #[test]
    fn a_page_past_the_end_is_empty() {
        let bodies = ["x".to_owned()];
        let cursor = at(None).next(7, "0000000000000000");
        let reply = paginated(list(&bodies), "", &at(Some(&cursor)), "0000000000000000", 1000);
        assert!(reply.answer.results.is_empty() && reply.answer.page.next_cursor.is_none());
    }
}
