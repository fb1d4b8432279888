//! The metadata block in front of a Markdown document, as far as it is read: keys with one value or a list of them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pulldown_cmark::MetadataBlockKind;

use crate::dates;
use crate::document::Note;

/// Keys and their values, in the order of the block. A key without a value has an empty list.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    keys: Vec<(String, Vec<String>)>,
}

/// Longest unreadable date shown in a note, in characters.
const TOLD: usize = 80;

impl FrontMatter {
    /// Reads YAML (`title: x`) or TOML (`title = "x"`). Nested values other than lists are skipped.
    pub(super) fn parse(block: &str, kind: MetadataBlockKind) -> Self {
        let separator = match kind {
            MetadataBlockKind::YamlStyle => ':',
            MetadataBlockKind::PlusesStyle => '=',
        };
        let mut keys: Vec<(String, Vec<String>)> = Vec::new();
        let mut bracket: Option<String> = None;
        for line in block.lines() {
            if let Some(list) = &mut bracket {
                list.push_str(line);
                if line.contains(']') {
                    let values = listed(&bracket.take().unwrap_or_default());
                    if let Some((_, last)) = keys.last_mut() {
                        *last = values;
                    }
                }
                continue;
            }
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                if let Some((_, values)) = keys.last_mut() {
                    values.extend(Some(plain(item)).filter(|value| !value.is_empty()));
                }
                continue;
            }
            let Some((key, value)) = line.split_once(separator).filter(|_| !line.starts_with([' ', '\t', '#'])) else {
                continue;
            };
            let value = value.trim();
            let mut values = Vec::new();
            if value.starts_with('[') && !value.contains(']') {
                bracket = Some(value.to_owned());
            } else if value.starts_with('[') {
                values = listed(value);
            } else if !value.is_empty() {
                values.push(plain(value));
            }
            keys.push((key.trim_end().to_owned(), values));
        }
        Self { keys }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The first value of a key that is not empty.
    pub(crate) fn value(&self, wanted: &'static str) -> Option<&str> {
        self.values(wanted).find(|value| !value.is_empty())
    }

    /// All values of a key.
    pub(crate) fn values(&self, wanted: &'static str) -> impl Iterator<Item = &str> {
        let values = self.keys.iter().filter(move |(key, _)| key == wanted).flat_map(|(_, values)| values);
        values.map(String::as_str)
    }

    /// The latest of its dates. Unreadable ones become notes.
    pub(crate) fn date(&self, zone: &TimeZone, notes: &mut Vec<Note>) -> Option<Timestamp> {
        let mut latest = None;
        for key in dates::KEYS {
            let Some(value) = self.value(key) else { continue };
            let bare = value.split_once(" #").map_or(value, |(value, _)| value);
            match dates::parse(bare, zone) {
                Some(moment) => latest = latest.max(Some(moment)),
                None => notes
                    .push(Note::UnreadableDate { key: (*key).to_owned(), value: value.chars().take(TOLD).collect() }),
            }
        }
        latest
    }
}

impl FromIterator<(String, Vec<String>)> for FrontMatter {
    fn from_iter<I: IntoIterator<Item = (String, Vec<String>)>>(keys: I) -> Self {
        Self { keys: keys.into_iter().collect() }
    }
}

/// `[a, "b"]`.
fn listed(list: &str) -> Vec<String> {
    let inner = list.trim_start_matches('[').split(']').next().unwrap_or_default();
    inner.split(',').map(plain).filter(|value| !value.is_empty()).collect()
}

/// A value without its quotation marks.
fn plain(value: &str) -> String {
    let value = value.trim();
    let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    quoted.unwrap_or(value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(block: &str) -> FrontMatter {
        FrontMatter::parse(block, MetadataBlockKind::YamlStyle)
    }

    fn tags(block: &FrontMatter) -> Vec<&str> {
        block.values("tags").collect()
    }

    #[test]
    fn lists_are_read_in_each_style() {
        assert_eq!(tags(&yaml("tags: [a, \"b c\", 'd']\n")), ["a", "b c", "d"]);
        assert_eq!(tags(&yaml("tags:\n  - a\n- b\nother: x\n")), ["a", "b"]);
        assert_eq!(tags(&yaml("tags: a\n")), ["a"]);
        assert_eq!(tags(&yaml("tags:\nother: [x]\n")), [""; 0]);
        let toml =
            FrontMatter::parse("tags = [\n  \"a\",\n  \"b\",\n]\ntitle = \"T\"\n", MetadataBlockKind::PlusesStyle);
        assert_eq!(tags(&toml), ["a", "b"]);
        assert_eq!(toml.value("title"), Some("T"));
    }

    #[test]
    fn nested_keys_are_not_the_documents_own() {
        assert_eq!(yaml("author:\n  date: 2024-01-01\n").value("date"), None);
    }
}
