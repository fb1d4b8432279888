//! JSON whose strings hold hidden characters as escapes: the same data, without anything that steers a reader.

use super::hidden::is_hidden;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Writes as another formatter does, with hidden characters as escapes of four hexadecimal digits each.
///
/// ```
/// use serde::Serialize;
/// use serde_json::ser::{CompactFormatter, Serializer};
/// use tamis_text::safe::SafeJson;
///
/// let mut json = Vec::new();
/// "a\u{202e}b".serialize(&mut Serializer::with_formatter(&mut json, SafeJson(CompactFormatter)))?;
/// assert_eq!(json, br#""a\u202eb""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SafeJson<F>(pub F);

impl<F: Formatter> Formatter for SafeJson<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut start = 0;
        for (at, character) in fragment.char_indices().filter(|(_, character)| is_hidden(*character)) {
            self.0.write_string_fragment(writer, &fragment[start..at])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            start = at + character.len_utf8();
        }
        self.0.write_string_fragment(writer, &fragment[start..])
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_key(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::ser::{CompactFormatter, PrettyFormatter, Serializer};
    use serde_json::{Value, json};

    fn written(value: &Value, formatter: impl Formatter) -> String {
        let mut json = Vec::new();
        value
            .serialize(&mut Serializer::with_formatter(&mut json, SafeJson(formatter)))
            .expect("a vector takes everything");
        String::from_utf8(json).expect("text")
    }

    proptest! {
        #[test]
        fn data_comes_back_exactly_and_nothing_hidden_is_written(text in any::<String>(), tail in "[\u{0}-\u{a0}\u{e0000}-\u{e007f}\u{200b}-\u{202e}]{0,20}") {
            let value = json!({ format!("{text}{tail}"): [text, tail, 1, null, {}], "n": {} });
            for json in [written(&value, CompactFormatter), written(&value, PrettyFormatter::new())] {
                prop_assert!(!json.chars().any(is_hidden), "{json:?}");
                prop_assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON"), value.clone());
            }
            let plain = json!({ "a": ["b", 1.5, true, { "c": null }], "d": [] });
            prop_assert_eq!(written(&plain, CompactFormatter), plain.to_string());
            prop_assert_eq!(written(&plain, PrettyFormatter::new()), serde_json::to_string_pretty(&plain).expect("JSON"));
        }
    }
}
