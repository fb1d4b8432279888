//! Values as they are given: text, numbers, and of what is long the beginning.

use std::fmt::Write;

use rusqlite::types::ValueRef;

use crate::sql::SqlValue;

/// The longest value that is given, in characters.
const LONGEST: usize = 2000;

/// A value as it is given, how many bytes that takes, and whether it was shortened.
pub(super) fn given(value: ValueRef<'_>) -> (SqlValue, usize, bool) {
    match value {
        ValueRef::Null => (SqlValue::Null, 4, false),
        ValueRef::Integer(number) => (SqlValue::Integer(number), 8, false),
        ValueRef::Real(number) if number.is_finite() => (SqlValue::Real(number), 8, false),
        // JSON has no such numbers; this is how SQLite writes them.
        ValueRef::Real(number) => (SqlValue::Text(if number > 0.0 { "Inf" } else { "-Inf" }.to_owned()), 4, false),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            match text.char_indices().nth(LONGEST) {
                None => {
                    let length = text.len();
                    (SqlValue::Text(text.into_owned()), length, false)
                }
                Some((end, _)) => {
                    let whole = LONGEST + text[end..].chars().count();
                    (SqlValue::Text(format!("{}… ({whole} characters)", &text[..end])), end, true)
                }
            }
        }
        ValueRef::Blob(bytes) => {
            // Two digits a byte, and the mark around them.
            let shown = bytes.len().min((LONGEST - 3) / 2);
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
            let length = text.len();
            (SqlValue::Text(text), length, shortened)
        }
    }
}
