//! Values of an answer: numbers, and texts of bounded length.

use std::fmt::Write;

use rusqlite::types::ValueRef;

use crate::sql::SqlValue;

/// The longest value, in characters.
pub(super) const LONGEST: usize = 2000;
/// The longest name of a column, in characters. An unnamed column is called by its expression.
pub(super) const LONGEST_NAME: usize = 100;

/// Converts a value to at most `longest` characters. The second value is `true` if it was shortened.
pub(super) fn converted(value: ValueRef<'_>, longest: usize) -> (SqlValue, bool) {
    match value {
        ValueRef::Null => (SqlValue::Null, false),
        ValueRef::Integer(number) => (SqlValue::Integer(number), false),
        ValueRef::Real(number) if number.is_finite() => (SqlValue::Real(number), false),
        // JSON lacks these numbers. SQLite writes them like this.
        ValueRef::Real(number) => (SqlValue::Text(if number > 0.0 { "Inf" } else { "-Inf" }.to_owned()), false),
        ValueRef::Text(bytes) => {
            let (text, shortened) = shortened(&String::from_utf8_lossy(bytes), longest);
            (SqlValue::Text(text), shortened)
        }
        ValueRef::Blob(bytes) => {
            // Each byte takes two digits; the quotes and the x take three.
            let shown = bytes.len().min(longest.saturating_sub(3) / 2);
            let mut text = "x'".to_owned();
            for byte in &bytes[..shown] {
                // Writing to a string cannot fail.
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

/// Shortens a text to its first characters and a note of its length. The second value is `true` if it was shortened.
pub(super) fn shortened(text: &str, longest: usize) -> (String, bool) {
    match text.char_indices().nth(longest) {
        None => (text.to_owned(), false),
        Some((end, _)) => {
            let whole = longest + text[end..].chars().count();
            (format!("{}… ({whole} characters)", &text[..end]), true)
        }
    }
}

/// The size of a value as JSON in bytes, separator included.
pub(super) fn size_of(value: &SqlValue) -> usize {
    match value {
        SqlValue::Null => 5,
        SqlValue::Integer(number) => number.to_string().len() + 1,
        // No finite number takes more.
        SqlValue::Real(_) => 26,
        SqlValue::Text(text) => size_of_text(text),
    }
}

/// The size of a text as JSON in bytes, separator included.
pub(super) fn size_of_text(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0x00..=0x1f => 6,
        _ => 1,
    });
    escaped.sum::<usize>() + 3
}
