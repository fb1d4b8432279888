//! Values of an answer, from the server's texts.

use tokio_postgres::types::Type;

use crate::sql::SqlValue;
use crate::sqlite::guard::values::shortened;

/// A value as the server sent it.
pub(super) struct Sent<'a> {
    pub(super) kind: &'a Type,
    /// Its text, or the beginning of it.
    pub(super) text: Option<&'a str>,
    /// Its length in characters, if the text is only its beginning.
    pub(super) length: Option<i64>,
}

impl Sent<'_> {
    /// The value in at most `longest` characters. The second value is `true` if it was shortened.
    pub(super) fn value(&self, longest: usize) -> (SqlValue, bool) {
        let Some(text) = self.text else { return (SqlValue::Null, false) };
        let whole = |text: &str| text.parse().map_or_else(|_| SqlValue::Text(text.to_owned()), SqlValue::Integer);
        match *self.kind {
            Type::BOOL => (SqlValue::Integer(i64::from(text == "true")), false),
            Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => (whole(text), false),
            Type::NUMERIC if !text.contains(['.', 'N', 'I']) => (whole(text), false),
            Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC => (real(text), false),
            Type::BYTEA => bytes(text.strip_prefix("\\x").unwrap_or(text), self.length, longest),
            _ => match self.length.and_then(|length| usize::try_from(length).ok()) {
                Some(length) => {
                    let beginning: String = text.chars().take(longest).collect();
                    (SqlValue::Text(format!("{beginning}… ({length} characters)")), true)
                }
                None => {
                    let (text, shortened) = shortened(text, longest);
                    (SqlValue::Text(text), shortened)
                }
            },
        }
    }
}

/// A number. JSON lacks those that are not finite.
fn real(text: &str) -> SqlValue {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => SqlValue::Real(number),
        Ok(number) if number.is_nan() => SqlValue::Null,
        Ok(number) => SqlValue::Text(if number > 0.0 { "Inf" } else { "-Inf" }.to_owned()),
        Err(_) => SqlValue::Text(text.to_owned()),
    }
}

/// Bytes in hexadecimal digits, `x'…'`. Their length is that of the server's text, two digits a byte after `\x`.
fn bytes(digits: &str, length: Option<i64>, longest: usize) -> (SqlValue, bool) {
    let whole = length.and_then(|length| usize::try_from(length).ok()).map_or(digits.len(), |length| length - 2) / 2;
    let shown = (longest.saturating_sub(3) / 2).min(whole).min(digits.len() / 2);
    let digits = &digits[..2 * shown];
    if shown < whole {
        (SqlValue::Text(format!("x'{digits}… ({whole} bytes)")), true)
    } else {
        (SqlValue::Text(format!("x'{digits}'")), false)
    }
}
