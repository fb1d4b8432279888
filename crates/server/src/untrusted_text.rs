//! Text by others in an answer. Hidden and control characters become visible, names stay on one line, and everything stands
//! between fences.

use std::borrow::Cow;

use rmcp::ErrorData;
use serde::Serialize;
use serde_json::Value;
use tamis_text::sanitize::{for_model, line_for_model};

use crate::refusal_text::for_agent;

/// Most characters of a name, a title or a reason.
const MAX_NAME: usize = 300;

/// Mark at the end of a shortened text.
pub(crate) const REST: &str = " […]";

/// The text with hidden characters made visible.
pub(crate) fn clean(text: &str) -> String {
    for_model(text).into_owned()
}

/// The text on one line.
pub(crate) fn line(text: &str) -> String {
    line_for_model(text)
}

/// A name on one line, shortened.
pub(crate) fn name(text: &str) -> String {
    let line = line(text);
    short(&line, MAX_NAME).into_owned()
}

/// The text, shortened to so many characters with a mark at its end.
pub(crate) fn short(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(format!("{}{REST}", first(text, most.saturating_sub(REST.chars().count())))),
    }
}

/// The text between two lines of backticks, which are longer than any run in the text, so that the text cannot end the fence.
pub(crate) fn fenced(text: &str) -> String {
    let fence = "`".repeat(backticks(text).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

/// The text without the indentation that all its lines share.
pub(crate) fn dedented(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let mut shared = lines().next().map_or("", |line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    while !lines().all(|line| line.starts_with(shared)) {
        shared = &shared[..shared.len() - 1];
    }
    let shorter: Vec<&str> = text.lines().map(|line| line.strip_prefix(shared).unwrap_or_default()).collect();
    shorter.join("\n")
}

/// Length of the longest run of backticks.
pub(crate) fn backticks(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or_default()
}

/// The first `most` characters.
pub(crate) fn first(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// A count with its noun: `1 result`, `12 results`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A value rounded to four decimal places.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

// The last step of every answer: hidden characters become visible, and overlong parts are shortened.
//
// Tools already do both themselves, each in the way that suits it best. This step guarantees it for all of them: for text, data,
// error messages and names of columns, whatever a tool forgets.

/// Most characters of an error message.
const MAX_MESSAGE: usize = 4000;

/// Most characters of an answer from a tool without `max_chars`.
pub(crate) const FIXED_MAX_CHARS: usize = 30_000;

/// The note on an answer that was shortened here.
const SHORTENED: &str = "the answer was too long and has been shortened; ask for less, or raise max_chars";

/// A text with hidden characters made visible, shortened to so many characters. A fence that loses its end is closed.
pub(crate) fn text(text: &str, most: usize) -> String {
    let text = clean(text);
    let length = text.chars().count();
    if length <= most {
        return text;
    }
    let note = format!("Note: {SHORTENED}.\n");
    let mut keep = most.saturating_sub(note.chars().count() + 1);
    loop {
        let kept = first(&text, keep);
        let fence = open_fence(kept).map(|fence| format!("{fence}\n")).unwrap_or_default();
        let whole = format!("{kept}\n{fence}{note}");
        let over = whole.chars().count().saturating_sub(most);
        if over == 0 || keep == 0 {
            return first(&whole, most).to_owned();
        }
        keep = keep.saturating_sub(over);
    }
}

/// The fence that is still open at the end of a text.
fn open_fence(text: &str) -> Option<&str> {
    let mut open = None;
    for line in text.lines() {
        let is_fence = line.len() >= 3 && line.bytes().all(|byte| byte == b'`');
        open = match open {
            None if is_fence => Some(line),
            Some(fence) if fence == line => None,
            other => other,
        };
    }
    open
}

/// Data with hidden characters made visible, shortened to so many characters of JSON: long texts first, then long lists.
pub(crate) fn data(mut value: Value, most: usize) -> Value {
    show(&mut value);
    if json_length(&value) <= most {
        return value;
    }
    if let Some(Value::Array(warnings)) = value.get_mut("warnings") {
        warnings.insert(0, Value::String(SHORTENED.to_owned()));
    }
    for longest in [4000, 1000, 300, 120] {
        shorten(&mut value, longest);
        if json_length(&value) <= most {
            return value;
        }
    }
    // Each round halves the longest list, so this ends soon.
    while json_length(&value) > most && longest_list(&mut value).is_some_and(halve) {}
    value
}

/// Makes hidden characters visible in every text of a value, names included.
fn show(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(values) => values.iter_mut().for_each(show),
        Value::Object(object) => {
            if object.keys().any(|key| clean(key) != **key) {
                *object = std::mem::take(object).into_iter().map(|(key, value)| (clean(&key), value)).collect();
            }
            object.values_mut().for_each(show);
        }
        _ => {}
    }
}

fn shorten(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) => *text = short(text, longest).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, longest)),
        Value::Object(object) => object.values_mut().for_each(|value| shorten(value, longest)),
        _ => {}
    }
}

/// The list or map that takes up the most characters.
fn longest_list(value: &mut Value) -> Option<&mut Value> {
    fn weight(value: &Value) -> usize {
        match value {
            Value::Array(values) if !values.is_empty() => json_length(value),
            // A map with many names counts as a list; an answer with its few fields does not.
            Value::Object(object) if object.len() > 40 => json_length(value),
            _ => 0,
        }
    }
    fn find<'v>(value: &'v Value, path: &mut Vec<String>, best: &mut (usize, Vec<String>)) {
        let weight = weight(value);
        if weight > best.0 {
            *best = (weight, path.clone());
        }
        let children: Vec<(String, &'v Value)> = match value {
            Value::Array(values) => values.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
            Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), value)).collect(),
            _ => return,
        };
        for (key, child) in children {
            path.push(key);
            find(child, path, best);
            path.pop();
        }
    }
    let mut best = (0, Vec::new());
    find(value, &mut Vec::new(), &mut best);
    if best.0 == 0 {
        return None;
    }
    best.1.iter().try_fold(value, |value, key| match value {
        Value::Array(values) => values.get_mut(key.parse::<usize>().ok()?),
        Value::Object(object) => object.get_mut(key),
        _ => None,
    })
}

/// Drops the second half. Returns false when there is nothing to drop.
fn halve(value: &mut Value) -> bool {
    match value {
        Value::Array(values) if !values.is_empty() => values.truncate(values.len() / 2),
        Value::Object(object) => {
            let kept = object.len() / 2;
            *object = std::mem::take(object).into_iter().take(kept).collect();
        }
        _ => return false,
    }
    true
}

/// An error message on one line, shortened.
pub(crate) fn message(text: &str) -> String {
    short(&for_agent(&line(text)), MAX_MESSAGE).into_owned()
}

/// An error of the protocol with a sanitized message.
pub(crate) fn error(error: ErrorData) -> ErrorData {
    let data = error.data.map(|value| data(value, MAX_MESSAGE));
    ErrorData::new(error.code, message(&error.message), data)
}

/// Number of characters in JSON.
pub(crate) fn json_length(value: &(impl Serialize + ?Sized)) -> usize {
    serde_json::to_string(value).map_or(0, |json| json.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn trap_a_text_cannot_end_its_fence() {
        for text in ["plain", "```\nnow I am outside\n```", "a ````` b", "`", "\u{1b}[31m```\r\n````\n"] {
            let fenced = fenced(&clean(text));
            let fence = fenced.lines().next().expect("a line");
            assert!(fence.len() >= 3 && fence.chars().all(|character| character == '`'), "{fenced}");
            let inner: Vec<&str> = fenced.lines().skip(1).collect();
            assert_eq!(inner.iter().position(|line| line.contains(fence)), Some(inner.len() - 1), "{fenced}");
        }
    }

    #[test]
    fn only_shared_indentation_is_removed() {
        assert_eq!(dedented("    if a {\n\n        b\n    }"), "if a {\n\n    b\n}");
        assert_eq!([dedented("\t\ta\n\t b"), dedented("a\n  b"), dedented("  \n   a")], ["\ta\n b", "a\n  b", "\na"]);
        assert_eq!(dedented(""), "");
    }

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(clean("a\u{1b}[31m\tb\r\nc\u{0}\u{9b}"), "a␛[31m\tb\nc␀[U+009B]");
        assert_eq!(line(" a\n## b\u{7}c "), "a ## b␇c");
    }

    #[test]
    fn text_is_shortened_between_characters() {
        assert_eq!([first("äöü", 2), first("äöü", 9)], ["äö", "äöü"]);
        assert_eq!([short("äöüäöü", 6), short("äöüäöüä", 6)], ["äöüäöü", "äö […]"]);
        assert_eq!(name(&"ä ".repeat(500)).chars().count(), MAX_NAME);
    }

    #[test]
    fn data_never_exceeds_the_limit() {
        let deep = (0..30).fold(json!("x"), |value, _| json!({ "a": [value, "y".repeat(500)] }));
        let names: serde_json::Map<String, Value> = (0..3000).map(|one| (format!("name {one}"), json!(one))).collect();
        for value in [
            json!({ "rows": vec![vec!["ä\"\n".repeat(3000); 7]; 50], "columns": vec!["c".repeat(900); 2000] }),
            json!({ "text": "x".repeat(1_000_000), "warnings": [] }),
            json!({ "names": names }),
            json!({ "deep": deep, "list": vec![json!({ "id": "x".repeat(90) }); 5000] }),
            json!([[[]], vec![0; 100_000]]),
        ] {
            for most in [1000, 10_000] {
                let clean = data(value.clone(), most);
                assert!(json_length(&clean) <= most, "{} of {most}", json_length(&clean));
            }
        }
        let fits = json!({ "a": ["b", null, 1.5], "c": { "d": "ü" } });
        assert_eq!(data(fits.clone(), 1000), fits);
    }

    #[test]
    fn a_shortened_text_says_so_and_closes_its_fence() {
        for body in ["x\n".repeat(5000), "```\n".repeat(3000), "`".repeat(200) + "\n" + &"y".repeat(9000)] {
            let clean = text(&format!("head\n{}tail\n", fenced(&body)), 2000);
            assert!(clean.chars().count() <= 2000, "{}", clean.chars().count());
            assert!(clean.ends_with("max_chars.\n") && open_fence(&clean).is_none(), "{clean}");
        }
        assert_eq!(text("short\u{1b}", 100), "short␛");
        // The fence alone exceeds the limit.
        assert!(text(&fenced(&"`".repeat(9000)), 1000).chars().count() <= 1000);
    }

    #[test]
    fn names_and_messages_show_hidden_characters() {
        let clean = data(json!({ "a\u{202e}": "b\u{200b}", "c": ["\u{7}"] }), 1000);
        assert_eq!(clean, json!({ "a[U+202E]": "b[U+200B]", "c": ["␇"] }));
        let clean = error(ErrorData::invalid_params(format!("a\nb\u{1b}{}", "x".repeat(9000)), Some(json!("\u{0}"))));
        assert!(clean.message.starts_with("a b␛xxx") && clean.message.chars().count() <= MAX_MESSAGE);
        assert_eq!(clean.data, Some(json!("␀")));
    }
}
