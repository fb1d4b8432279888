//! The metadata of a text, its titles and dates, in the syntax of each format: `#+TITLE:` of Org, `\title{}` of TeX, `title::` of Logseq,
//! `:date:` of AsciiDoc and reStructuredText, `#set document(title: "…")` of Typst, and front matter in JSON.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use pulldown_cmark::MetadataBlockKind;
use serde_json::Value;

use super::{Heading, Outline};
use crate::dates;
use crate::document::Note;
use crate::lines::{Lines, non_empty, one_line};

/// Lines in which a document gives its title and date.
const HEAD: usize = 200;

/// Longest title, in characters.
const TITLE: usize = 200;

/// The outline with the title and the date that a document of this format gives.
pub fn given(name: &str, lines: &Lines<'_>, outline: Outline) -> Outline {
    let keys = match name {
        // A title on its own stands before what it heads.
        "org" => keys(lines, outline.headings.first(), org),
        "asciidoc" | "restructuredtext" => keys(lines, outline.headings.get(1), field),
        "latex" => tex(&head(lines)),
        "typst" => typst(&head(lines)),
        _ => Vec::new(),
    };
    titled(outline, keys)
}

/// The outline of a Markdown document with Logseq's properties or JSON in front, if it has no other front matter.
pub fn of_markdown(lines: &Lines<'_>, mut outline: Outline) -> Outline {
    if outline.front_matter.is_some() {
        return outline;
    }
    if let Some((last, keys)) = json(lines) {
        outline.headings.retain(|heading| heading.first > last);
        outline.front_matter = Some(last);
        return titled(outline, keys);
    }
    titled(outline, (0..lines.count().min(HEAD)).map_while(|row| property(lines.line(row))).collect())
}

fn titled(mut outline: Outline, keys: Vec<Pair>) -> Outline {
    if !keys.is_empty() {
        outline.metadata = FrontMatter { keys };
        outline.title = outline.metadata.value("title").map(|title| title.chars().take(TITLE).collect());
    }
    outline
}

fn head(lines: &Lines<'_>) -> String {
    lines.text.lines().take(HEAD).collect::<Vec<_>>().join("\n")
}

/// A key with its value.
type Pair = (String, Vec<String>);

fn pair(key: &str, value: String) -> Pair {
    (key.to_owned(), vec![value])
}

/// The title and the date on the lines before a heading.
fn keys(lines: &Lines<'_>, before: Option<&Heading>, read: fn(&str) -> Option<(&str, &str)>) -> Vec<Pair> {
    let end = before.map_or(HEAD, |heading| heading.first.min(HEAD)).min(lines.count());
    let rows = (0..end).filter_map(|row| read(lines.line(row)));
    let pairs = rows.filter_map(|(key, value)| match key.to_ascii_lowercase().as_str() {
        "title" => Some(pair("title", value.to_owned())),
        "date" | "revdate" | "docdate" => Some(pair("date", day(value)?)),
        _ => None,
    });
    pairs.filter(|(_, values)| values.iter().any(|value| !value.is_empty())).collect()
}

/// `#+TITLE: Text`.
fn org(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_start().strip_prefix("#+")?.split_once(':')?;
    Some((key, value.trim()))
}

/// `:date: 2026-11-22`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.strip_prefix(':')?.split_once(':')?;
    Some((key, value.trim()))
}

/// `title:: Text`.
fn property(line: &str) -> Option<Pair> {
    let (key, value) = line.split_once("::")?;
    let is_key = !key.is_empty() && key.chars().all(|one| one.is_alphanumeric() || "-_".contains(one));
    let value = value.strip_prefix(' ').or(Some(value).filter(|value| value.is_empty()))?.trim();
    let value = value.trim_start_matches("[[").trim_end_matches("]]");
    is_key.then(|| pair(&key.to_ascii_lowercase(), value.to_owned()))
}

/// `\title[short]{Text}` and `\date{}`.
fn tex(head: &str) -> Vec<Pair> {
    let title = argument(head, "\\title").map(|title| plain(&title)).filter(|title| !title.is_empty());
    let date = argument(head, "\\date").and_then(|date| day(&plain(&date)));
    title.map(|title| pair("title", title)).into_iter().chain(date.map(|date| pair("date", date))).collect()
}

/// The argument in braces of a command.
fn argument(text: &str, command: &str) -> Option<String> {
    let uncommented = |line: &str| match line.find('%').filter(|at| !line[..*at].ends_with('\\')) {
        Some(at) => line[..at].to_owned(),
        None => line.to_owned(),
    };
    let text = text.lines().map(uncommented).collect::<Vec<_>>().join("\n");
    let rest = text.split(command).skip(1).map(str::trim_start).find(|rest| rest.starts_with(['{', '[']))?;
    let rest = match rest.strip_prefix('[') {
        Some(short) => short.split_once(']')?.1.trim_start(),
        None => rest,
    };
    let mut depth = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return rest.get(1..at).map(str::to_owned);
        }
    }
    None
}

/// The words of an argument: without commands, and without what `\thanks` and the like add.
fn plain(argument: &str) -> String {
    let mut words = String::new();
    let mut rest = argument;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '\\' => {
                let end = rest.find(|one: char| !one.is_ascii_alphabetic()).unwrap_or(rest.len());
                let (command, after) = rest.split_at(end);
                rest = after;
                if matches!(command, "thanks" | "footnote" | "vspace" | "today" | "label") {
                    rest = rest.strip_prefix('{').and_then(|inside| Some(inside.split_once('}')?.1)).unwrap_or(rest);
                } else if command.is_empty() {
                    // `\\`, or a sign such as `\&`.
                    let sign = rest.chars().next();
                    rest = &rest[sign.map_or(0, char::len_utf8)..];
                    words.push(sign.filter(|sign| "&%#_$".contains(*sign)).unwrap_or(' '));
                }
            }
            '{' | '}' => {}
            '~' => words.push(' '),
            other => words.push(other),
        }
    }
    one_line(&words)
}

/// `#set document(title: "Text", date: datetime(year: 2026, month: 3, day: 4))`.
fn typst(head: &str) -> Vec<Pair> {
    let Some((_, rest)) = head.split_once("#set document(") else { return Vec::new() };
    let after = |key: &str| rest.split_once(key).map(|(_, value)| value.trim_start());
    let quoted = |value: &str| Some(value.strip_prefix(['"', '['])?.split(['"', ']']).next()?.trim().to_owned());
    let number = |key: &str| {
        let digits = after("datetime(")?.split_once(key)?.1.trim_start();
        digits[..digits.find(|one: char| !one.is_ascii_digit()).unwrap_or(digits.len())].parse::<i16>().ok()
    };
    let title = after("title:").and_then(quoted).map(|title| pair("title", title));
    let date = number("year:").zip(number("month:")).zip(number("day:"));
    let date = date.map(|((year, month), day)| format!("{year:04}-{month:02}-{day:02}"));
    let date = date.and_then(|date| Some(pair("date", day(&date)?)));
    title.into_iter().chain(date).collect()
}

/// A date as people write it, as the rest of the program reads it; `None` for another text, such as a season.
fn day(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['<', '>', '[', ']']);
    if dates::parse(text, &TimeZone::UTC).is_some() {
        return Some(text.to_owned());
    }
    // `2026-03-04 Wed 10:00`
    let words: Vec<&str> = text.split_whitespace().collect();
    if let Some(day) = words.first().filter(|word| dates::day(word).is_some()) {
        let time = words.iter().skip(1).find(|word| word.contains(':'));
        let dated =
            time.map(|time| format!("{day} {time}")).filter(|text| dates::parse(text, &TimeZone::UTC).is_some());
        return Some(dated.unwrap_or_else(|| (*day).to_owned()));
    }
    let text = one_line(&text.replace(',', " "));
    let written =
        ["%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y"].iter().find_map(|form| Date::strptime(form, &text).ok());
    written.map(|day| day.to_string())
}

/// An object of JSON before the text: its last row and its keys.
fn json(lines: &Lines<'_>) -> Option<(usize, Vec<Pair>)> {
    let text = lines.text.trim_start_matches('\u{feff}');
    if !text.starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Map<String, Value>>();
    let object = values.next()?.ok()?;
    let end = lines.text.len() - text.len() + values.byte_offset();
    let last = lines.row_at(end - 1);
    // More on the line of the last brace is a template or a text.
    if !lines.text[end..lines.start(last + 1)].trim().is_empty() {
        return None;
    }
    let value = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let pairs = object.iter().map(|(key, given)| {
        let values: Vec<String> = given
            .as_array()
            .map_or_else(|| value(given).into_iter().collect(), |all| all.iter().filter_map(value).collect());
        (key.clone(), values)
    });
    Some((last, pairs.collect()))
}

// The metadata block in front of a Markdown document, as far as it is read: keys with one value or a list of them.

/// Keys and their values, in the order of the block. A key without a value has an empty list.
#[derive(Default, Clone, PartialEq)]
pub struct FrontMatter {
    keys: Vec<Pair>,
}

/// Longest unreadable date shown in a note, in characters.
const TOLD: usize = 80;

impl FrontMatter {
    /// Reads YAML (`title: x`) or TOML (`title = "x"`). Nested values other than lists are skipped.
    pub fn parse(block: &str, kind: MetadataBlockKind) -> Self {
        let separator = match kind {
            MetadataBlockKind::YamlStyle => ':',
            MetadataBlockKind::PlusesStyle => '=',
        };
        let mut keys: Vec<Pair> = Vec::new();
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
                    values.extend(non_empty(unquoted(item)));
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
                values.push(unquoted(value));
            }
            keys.push((key.trim_end().to_owned(), values));
        }
        Self { keys }
    }

    /// The first value of a key that is not empty.
    pub fn value(&self, wanted: &'static str) -> Option<&str> {
        self.values(wanted).find(|value| !value.is_empty())
    }

    /// All values of a key.
    pub fn values(&self, wanted: &'static str) -> impl Iterator<Item = &str> {
        let values = self.keys.iter().filter(move |(key, _)| key == wanted).flat_map(|(_, values)| values);
        values.map(String::as_str)
    }

    /// The latest of its dates. Unreadable ones become notes.
    pub fn date(&self, zone: &TimeZone, notes: &mut Vec<Note>) -> Option<Timestamp> {
        let mut latest = None;
        for key in dates::KEYS.split(' ') {
            let Some(value) = self.value(key) else { continue };
            let bare = value.split_once(" #").map_or(value, |(value, _)| value);
            match dates::parse(bare, zone) {
                Some(moment) => latest = latest.max(Some(moment)),
                None => {
                    let value = value.chars().take(TOLD).collect();
                    notes.push(Note::UnreadableDate { key: Some(key.to_owned()), value });
                }
            }
        }
        latest
    }
}

/// `[a, "b"]`.
fn listed(list: &str) -> Vec<String> {
    let inner = list.trim_start_matches('[').split(']').next().unwrap_or_default();
    inner.split(',').map(unquoted).filter(|value| !value.is_empty()).collect()
}

/// A value without its quotation marks.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    quoted.unwrap_or(value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, read};

    fn told(path: &str, text: &str) -> (Option<String>, Option<String>) {
        let document = read(path, text.as_bytes(), &Options::default());
        assert!(document.notes.is_empty(), "{path}: {:?}", document.notes);
        let day = document.dated_ns.and_then(|ns| jiff::Timestamp::from_nanosecond(ns.into()).ok());
        (document.title, day.map(|day| day.strftime("%Y-%m-%d").to_string()))
    }

    #[test]
    fn each_format_gives_its_title_and_date_in_its_own_syntax() {
        for (path, text) in [
            ("a.org", "#+TITLE: Book of the Tug\n#+DATE: <2026-03-04 Wed>\n\n* Ropes\nUse two.\n* Lamps\nOne.\n"),
            ("a.org", "# -*- mode: org -*-\n#+title: Book of the Tug\n#+date: 2026-03-04\n"),
            (
                "a.tex",
                "\\documentclass{book}\n\\title[Tug]{Book of \\emph{the}\\\\ Tug\\thanks{Ann}}\n\\date{March 4, 2026}\n\\section{Ropes}\nTwo.\n",
            ),
            ("a.md", "title:: Book of the Tug\ndate:: [[2026-03-04]]\n\n- # Ropes\n- Two\n"),
            (
                "a.md",
                "{\n  \"title\": \"Book of the Tug\",\n  \"date\": \"2026-03-04T10:00:00Z\",\n  \"tags\": [\"a\"]\n}\n\n## Ropes\nTwo.\n",
            ),
            (
                "a.typ",
                "#set document(title: \"Book of the Tug\", date: datetime(year: 2026, month: 3, day: 4))\n= Ropes\n",
            ),
            ("a.adoc", "= Book of the Tug\nAnn\n:revdate: 4 March 2026\n\n== Ropes\nTwo.\n"),
            ("a.rst", "Book of the Tug\n===============\n\n:Date: 2026-03-04\n\nRopes\n-----\nTwo.\n"),
        ] {
            let expected = (Some("Book of the Tug".to_owned()), Some("2026-03-04".to_owned()));
            assert_eq!(told(path, text), expected, "{path}: {text}");
        }
    }

    #[test]
    fn what_is_no_title_or_date_is_left() {
        assert_eq!(told("a.tex", "\\title{}\n\\date{\\today}\n% \\title{No}\n\\titlepage{x}\nText\n"), (None, None));
        assert_eq!(told("a.org", "* Ropes\nText\n#+TITLE: Late\n#+DATE: spring\n"), (Some("Ropes".to_owned()), None));
        assert_eq!(told("a.md", "{ \"title\": \"x\" } and more\n\n# Ropes\n"), (Some("Ropes".to_owned()), None));
        assert_eq!(told("a.md", "std::string a\n\n# Ropes\n"), (Some("Ropes".to_owned()), None));
        let front = read("a.md", b"{\n\"title\": \"x\"\n}\n# Ropes\nTwo.\n", &Options::default());
        assert_eq!(front.passages[0].kind, crate::Kind::FrontMatter);
    }

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
        let toml = FrontMatter::parse("tags = [\n \"a\",\n \"b\",\n]\ntitle = \"T\"\n", MetadataBlockKind::PlusesStyle);
        assert_eq!(tags(&toml), ["a", "b"]);
        assert_eq!(toml.value("title"), Some("T"));
    }
    #[test]
    fn nested_keys_are_not_the_documents_own() {
        assert_eq!(yaml("author:\n  date: 2024-01-01\n").value("date"), None);
    }
}
