//! How much of an answer is given: what fits into so many characters, whole entry by whole entry.

use crate::advice::addressed;
use crate::cursor::{CHANGED, Place};
use crate::reply::Reply;
use crate::text::{REST, backticks, clean, fenced, line, short};
use schemars::JsonSchema;
use serde::Serialize;

/// Characters of an answer where nothing else is asked.
pub(crate) const MAX_CHARS: usize = 10_000;

/// The default of `max_chars`, as the argument's description has it.
pub(crate) fn max_chars() -> usize {
    MAX_CHARS
}

/// Characters that a cursor and the line that tells of it take.
const CURSOR: usize = 260;

/// Most characters of a warning.
const LONGEST_WARNING: usize = 400;

/// One entry of a list.
pub(crate) trait Entry: Serialize {
    /// Its text. What others wrote stands between fences, its own or those of the list.
    fn text(&self) -> String;
    /// Its longest part, which is shortened where the entry alone is more than fits.
    fn body(&mut self) -> &mut String;
    /// Marks it as shortened.
    fn mark(&mut self);
}

/// What every list of an answer says of itself.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct More {
    /// Entries that come after these; `cursor` gives them.
    pub remaining: usize,
    /// The `cursor` that gives them, with the same arguments; absent where these are the last.
    pub next_cursor: Option<String>,
    /// What one should know of the answer, such as words alone that were searched.
    pub warnings: Vec<String>,
}

/// An answer that is a list.
pub(crate) trait Listing: Serialize {
    /// Its entries.
    type Entry: Entry;
    /// Whether one pair of fences stands around all entries.
    const FENCED: bool = false;
    /// Its entries.
    fn entries(&mut self) -> &mut Vec<Self::Entry>;
    /// What is said of the list.
    fn more(&mut self) -> &mut More;
    /// What stands before the entries inside of the fences of the list.
    fn head(&self) -> String {
        String::new()
    }
}

/// What of an answer's text stands between the fences of its list.
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

    /// Characters with the fences.
    fn whole(&self) -> usize {
        self.characters + 2 * (self.backticks.max(2) + 2)
    }

    fn push(&mut self, text: &str) {
        *self = Fenced { text: std::mem::take(&mut self.text) + text, ..self.with(text) };
    }
}

/// The answer with those of its entries from `place` on that fit, and its text: the entries, then `tail`. `listed` names what is
/// listed in all. Neither the text nor the JSON is longer than `max_chars`.
pub(crate) fn fitted<L: Listing>(mut answer: L, tail: &str, place: &Place, listed: &str, max_chars: usize) -> Reply<L> {
    let entries = std::mem::take(answer.entries());
    if place.has_changed(listed) {
        answer.more().warnings.insert(0, CHANGED.to_owned());
    }
    let tail = short(&clean(tail), max_chars / 4).into_owned();
    keep_short(&mut answer.more().warnings, max_chars / 4);
    let warnings = notes(&answer.more().warnings);
    let around = tail.chars().count() + 1 + warnings.chars().count() + CURSOR;
    let text_room = max_chars.saturating_sub(around);
    let mut json_room = max_chars.saturating_sub(json_length(&answer) + CURSOR);

    let all = entries.len();
    let mut text = Fenced::default();
    if L::FENCED {
        text.push(&answer.head());
    }
    // Entries with fences of their own are counted as they are.
    let whole = |text: &Fenced| if L::FENCED { text.whole() } else { text.characters };
    for mut entry in entries.into_iter().skip(place.start) {
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
    let end = place.start + answer.entries().len();
    let remaining = all.saturating_sub(end);
    let mut text = if L::FENCED && !text.text.is_empty() { fenced(&text.text) } else { text.text };
    text.push_str(&tail);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&warnings);
    if remaining > 0 {
        let cursor = place.next(end, listed);
        text.push_str(&format!("{remaining} more: the same arguments with cursor = \"{cursor}\" give them.\n"));
        answer.more().next_cursor = Some(cursor);
    }
    answer.more().remaining = remaining;
    Reply::new(answer, text)
}

/// Warnings on a line each, together of at most so many characters.
pub(crate) fn keep_short(warnings: &mut Vec<String>, most: usize) {
    let mut room = most;
    for warning in warnings.iter_mut() {
        *warning = short(&addressed(&line(warning)), LONGEST_WARNING.min(most)).into_owned();
    }
    warnings.retain(|warning| {
        let length = warning.chars().count() + "Note: \n".len();
        let fits = length <= room || room == most;
        room = room.saturating_sub(length);
        fits
    });
}

/// Warnings as lines of a text.
pub(crate) fn notes(warnings: &[String]) -> String {
    warnings.iter().map(|warning| format!("Note: {}\n", line(warning))).collect()
}

/// Makes an entry that is too long by itself as long as what there is room for, and marks it.
fn shorten<E: Entry>(entry: &mut E, text_over: impl Fn(&str) -> usize, json_room: usize) {
    let over = |entry: &E| (text_over(&entry.text()), (json_length(entry) + 1).saturating_sub(json_room));
    if over(entry) == (0, 0) {
        return;
    }
    entry.mark();
    // The mark takes room as well.
    let (text, json) = over(entry);
    let body = entry.body();
    let left = |length: usize, over: usize| length.saturating_sub(over + REST.chars().count());
    let mut short =
        fitting(body, left(body.chars().count(), text), left(json_length(body.as_str()) - 2, json)).to_owned();
    short.push_str(REST);
    *body = short;
}

/// The longest beginning of a text that has no more characters than these, as it is and as it is written in JSON.
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

/// Characters of the JSON form.
pub(crate) fn json_length(value: &(impl Serialize + ?Sized)) -> usize {
    serde_json::to_string(value).map_or(0, |json| json.chars().count())
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
        fn mark(&mut self) {
            self.shortened = true;
        }
    }

    #[derive(Serialize, Default)]
    struct List {
        results: Vec<One>,
        more: More,
    }

    impl Listing for List {
        type Entry = One;
        fn entries(&mut self) -> &mut Vec<One> {
            &mut self.results
        }
        fn more(&mut self) -> &mut More {
            &mut self.more
        }
    }

    fn list(bodies: &[String]) -> List {
        let results = bodies.iter().map(|body| One { body: body.clone(), shortened: false }).collect();
        List { results, more: More::default() }
    }

    fn place(cursor: Option<&str>) -> Place {
        let mut arguments = JsonObject::new();
        if let Some(cursor) = cursor {
            arguments.insert("cursor".into(), json!(cursor));
        }
        Place::of("test", &arguments).expect("a cursor")
    }

    #[test]
    fn pages_give_every_entry_once_and_stay_within_the_bound() {
        let bodies: Vec<String> = (0..40).map(|number| format!("{number} {}", "ä\"\n".repeat(number))).collect();
        let names = cursor::listed(bodies.iter().map(String::as_str));
        for max_chars in [700, 1000, 5000, 100_000] {
            let mut seen = Vec::new();
            let mut cursor: Option<String> = None;
            loop {
                let reply = fitted(list(&bodies), "the reason", &place(cursor.as_deref()), &names, max_chars);
                assert!(reply.text.chars().count() <= max_chars, "{max_chars}: {}", reply.text.chars().count());
                assert!(json_length(&reply.answer) <= max_chars, "{max_chars}: {}", json_length(&reply.answer));
                assert!(!reply.answer.results.is_empty());
                seen.extend(reply.answer.results.into_iter().map(|one| one.body));
                cursor = reply.answer.more.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, bodies, "{max_chars}");
        }
    }

    #[test]
    fn an_entry_that_is_too_long_alone_is_shortened_and_marked() {
        for body in ["ä".repeat(9000), "\"\\\u{1}".repeat(9000)] {
            let bodies = [body, "second".to_owned()];
            let reply = fitted(list(&bodies), "", &place(None), "0000000000000000", 1000);
            let [one] = reply.answer.results.as_slice() else { panic!("one entry") };
            assert!(one.shortened && one.body.ends_with(REST) && !one.body.starts_with(REST), "{}", one.body);
            assert!(reply.text.chars().count() <= 1000 && json_length(&reply.answer) <= 1000);
            assert_eq!(reply.answer.more.remaining, 1);
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
    fn a_page_of_something_that_changed_says_so() {
        let bodies: Vec<String> = (0..9).map(|number| format!("{number}{}", "x".repeat(200))).collect();
        let reply = fitted(list(&bodies), "", &place(None), "0000000000000000", 1000);
        let cursor = reply.answer.more.next_cursor.expect("more");
        let reply = fitted(list(&bodies), "", &place(Some(&cursor)), "1111111111111111", 1000);
        assert!(reply.text.contains("has changed since") && reply.answer.more.warnings.len() == 1, "{}", reply.text);
    }

    #[test]
    fn past_the_end_there_is_nothing() {
        let bodies = ["x".to_owned()];
        let cursor = place(None).next(7, "0000000000000000");
        let reply = fitted(list(&bodies), "", &place(Some(&cursor)), "0000000000000000", 1000);
        assert!(reply.answer.results.is_empty() && reply.answer.more.next_cursor.is_none());
    }
}
