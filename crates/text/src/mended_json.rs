//! Mends JSON that strict parsers refuse although its records are whole.

/// JSON of what programs write in its place: `NaN` and `Infinity`, halves of characters, and controls inside of strings.
pub(crate) fn mended(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    let mut in_string = false;
    while let Some(first) = rest.chars().next() {
        let (length, text) = match first {
            '"' => {
                in_string = !in_string;
                (1, "\"")
            }
            '\\' if in_string => escaped(rest),
            other if in_string && other.is_control() => (other.len_utf8(), " "),
            '-' if !in_string && rest.starts_with("-Infinity") => (9, "null"),
            _ if !in_string && rest.starts_with("Infinity") => (8, "null"),
            _ if !in_string && rest.starts_with("NaN") => (3, "null"),
            other => (other.len_utf8(), &rest[..other.len_utf8()]),
        };
        mended.push_str(text);
        rest = &rest[length..];
    }
    mended
}

/// The length of the escape that a text begins with, and what it should be.
fn escaped(text: &str) -> (usize, &str) {
    let unit =
        |at: usize| text.get(at..at + 6)?.strip_prefix("\\u").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match (text.as_bytes().get(1), unit(0), unit(6)) {
        (Some(b'u'), Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, &text[..12]),
        (Some(b'u'), Some(0xd800..=0xdfff), _) => (6, "\\ufffd"),
        (Some(b'u'), Some(_), _) => (6, &text[..6]),
        (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), ..) => (2, &text[..2]),
        // A backslash that escapes nothing.
        _ => (1, "\\\\"),
    }
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn what_programs_write_in_place_of_json_is_mended() {
        for (json, expected) in [
            (r#"{"a": "\ud83d \ud83d\ude00"}"#, r#"{"a": "\ufffd \ud83d\ude00"}"#),
            (r#"{"a": NaN, "b": [-Infinity, Infinity]}"#, r#"{"a": null, "b": [null, null]}"#),
            (r#"{"a": "NaN \x"}"#, r#"{"a": "NaN \\x"}"#),
            ("{\"a\": \"b\u{1}c\"}", r#"{"a": "b c"}"#),
        ] {
            assert_eq!(mended(json), expected);
            assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{expected}");
        }
    }
}
