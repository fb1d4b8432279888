//! Values as they are given: text, numbers, and of what is long the beginning.

use std::fmt::Write;

use rusqlite::types::ValueRef;

use crate::sql::SqlValue;

/// The longest value that is given, in characters.
pub(super) const LONGEST: usize = 2000;
/// The longest name of a column that is given, in characters. Without a name of its own, a column is called as its expression.
pub(super) const LONGEST_NAME: usize = 100;

/// A value as it is given, with at most `longest` characters of it, and whether it was shortened.
pub(super) fn given(value: ValueRef<'_>, longest: usize) -> (SqlValue, bool) {
    match value {
        ValueRef::Null => (SqlValue::Null, false),
        ValueRef::Integer(number) => (SqlValue::Integer(number), false),
        ValueRef::Real(number) if number.is_finite() => (SqlValue::Real(number), false),
        // JSON has no such numbers; this is how SQLite writes them.
        ValueRef::Real(number) => (SqlValue::Text(if number > 0.0 { "Inf" } else { "-Inf" }.to_owned()), false),
        ValueRef::Text(bytes) => {
            let (text, shortened) = shortened(&String::from_utf8_lossy(bytes), longest);
            (SqlValue::Text(text), shortened)
        }
        ValueRef::Blob(bytes) => {
            // Two digits a byte, and the mark around them.
            let shown = bytes.len().min(longest.saturating_sub(3) / 2);
            let mut text = "x'".to_owned();
            for byte in &bytes[..shown] {
                // Writing to a string can not fail.
                let _ = write!(text, "{byte:02x}");
            }
            let shortened = shown < bytes.len();
            if shortened {
                let _ = write!(text, "… ({} bytes)", bytes.len());
            } else {
                text.push('\'');
            }
            (SqlValue::Text(text), shortened)
        }
    }
}

/// The first characters of a text, with a mark that says how long it is, and whether that is not all.
pub(super) fn shortened(text: &str, longest: usize) -> (String, bool) {
    match text.char_indices().nth(longest) {
        None => (text.to_owned(), false),
        Some((end, _)) => {
            let whole = longest + text[end..].chars().count();
            (format!("{}… ({whole} characters)", &text[..end]), true)
        }
    }
}

/// How many bytes a value takes as JSON, with what separates it from the next.
pub(super) fn size_of(value: &SqlValue) -> usize {
    match value {
        SqlValue::Null => 5,
        SqlValue::Integer(number) => number.to_string().len() + 1,
        // No finite number is written with more.
        SqlValue::Real(_) => 26,
        SqlValue::Text(text) => size_of_text(text),
    }
}

/// How many bytes a text takes as JSON, with what separates it from the next.
pub(super) fn size_of_text(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0x00..=0x1f => 6,
        _ => 1,
    });
    escaped.sum::<usize>() + 3
}
