//! The entries of a note, which are remembered and forgotten one by one.

use std::ops::Range;

use jiff::civil::{Date, Time};
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::dates;
use crate::lines::{Lines, begins_with, number};

/// Beginning of the mark of a forgotten entry. The whole mark is a comment right before the entry's end, `<!--
/// forgotten 2026-11-22 -->`; [`forgotten_mark`] makes one. A marked entry stays in its file, and no reader makes
/// passages of it.
pub const FORGOTTEN: &str = "<!-- forgotten";

/// The mark of an entry that was forgotten on `day`.
///
/// ```
/// use tamis_text::{FORGOTTEN, entries, forgotten_mark};
///
/// let mark = forgotten_mark(jiff::civil::date(2026, 11, 22));
/// assert_eq!(mark, "<!-- forgotten 2026-11-22 -->");
/// assert!(mark.starts_with(FORGOTTEN));
/// assert!(entries(&format!("- 14:05 the old password {mark}\n"))[0].forgotten);
/// ```
#[must_use]
pub fn forgotten_mark(day: Date) -> String {
    format!("{FORGOTTEN} {day} -->")
}

/// One entry of a note: an item of an outermost list with its continuation lines, or a paragraph, a table, a quotation
/// or a block of code outside lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line, inclusive; that of the mark if the mark is on a line of its own.
    pub end_line: u32,
    /// Its lines in bytes of the whole text, from the beginning of the first to the end of the last, without the line end
    /// after it.
    pub range: Range<usize>,
    /// Its text: its lines without the mark, trimmed.
    pub text: String,
    /// True if it is marked as forgotten.
    pub forgotten: bool,
    /// Its mark, in bytes of the whole text, with the white space before it. Removing these bytes remembers the entry again.
    pub mark: Option<Range<usize>>,
}

/// The entries of a Markdown note, in order. Headings, front matter and rules are not entries.
///
/// `text` has `\n` or `\r\n` line ends. Takes time linear in its length.
///
/// ```
/// use tamis_text::entries;
///
/// let note = "# 2026-11-22\n\n- 14:05 backups run at night\n  and take an hour\n- 15:10 lunch <!-- forgotten 2026-11-23 -->\n";
/// let entries = entries(note);
/// let spans: Vec<_> = entries.iter().map(|entry| (entry.start_line, entry.end_line, entry.forgotten)).collect();
/// assert_eq!(spans, [(3, 4, false), (5, 5, true)]);
/// assert_eq!(entries[1].text, "- 15:10 lunch");
/// ```
#[must_use]
pub fn entries(text: &str) -> Vec<Entry> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let lines = Lines::new(text);
    let mut entries: Vec<Entry> = Vec::new();
    let mut depth = 0_usize;
    let mut in_list = false;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                in_list = if depth == 0 { matches!(tag, Tag::List(_)) } else { in_list };
                let outermost = depth == 0 && !in_list || depth == 1 && in_list;
                depth += 1;
                if !outermost {
                    continue;
                }
                match tag {
                    Tag::Heading { .. } | Tag::MetadataBlock(_) => {}
                    Tag::HtmlBlock if own_line_mark(text, &range) => {
                        let first = lines.row_at(range.start);
                        // A mark on a line of its own belongs to the text directly above it.
                        match entries.last_mut().filter(|entry| entry.end_line as usize == first && !entry.forgotten) {
                            Some(entry) => extend(entry, &lines, range),
                            None => entries.extend(entry(&lines, range, false)),
                        }
                    }
                    tag => entries.extend(entry(&lines, range, matches!(tag, Tag::CodeBlock(_)))),
                }
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    entries
}

/// The entry at `range`, unless it is empty. A block of code cannot hold a mark.
fn entry(lines: &Lines<'_>, range: Range<usize>, code: bool) -> Option<Entry> {
    let text = lines.text;
    let kept = text.get(range.clone())?.trim_end();
    if kept.trim().is_empty() {
        return None;
    }
    let end = range.start + kept.len();
    let first = lines.row_at(range.start);
    let last = lines.row_at(end.saturating_sub(1));
    let start = lines.start(first);
    let mark = if code { None } else { mark_at_end(&text[start..end]) };
    let mark = mark.map(|mark| start + mark.start..start + mark.end);
    let own = &text[start..mark.as_ref().map_or(end, |mark| mark.start)];
    Some(Entry {
        start_line: number(first),
        end_line: number(last),
        range: start..end,
        text: own.trim().to_owned(),
        forgotten: mark.is_some(),
        mark,
    })
}

/// Extends an entry whose mark is on the line after it.
fn extend(entry: &mut Entry, lines: &Lines<'_>, range: Range<usize>) {
    let end = range.start + lines.text[range.clone()].trim_end().len();
    entry.mark = Some(entry.range.end..end);
    entry.forgotten = true;
    entry.range.end = end;
    entry.end_line = number(lines.row_at(end.saturating_sub(1)));
}

/// Returns `true` if a block of HTML holds only the mark.
fn own_line_mark(text: &str, range: &Range<usize>) -> bool {
    let block = text[range.clone()].trim();
    mark_at_end(block).is_some_and(|mark| mark.start == 0)
}

/// The mark that a block ends with, with the white space before it.
fn mark_at_end(block: &str) -> Option<Range<usize>> {
    let kept = block.trim_end();
    let start = kept.rfind("<!--")?;
    let inner = kept[start + 4..].strip_suffix("-->")?.trim();
    let day = inner.get("forgotten".len()..).filter(|_| begins_with(inner, "forgotten"))?;
    let day = day.trim_start_matches(':').trim();
    (day.is_empty() || dates::day(day).is_some()).then(|| kept[..start].trim_end().len()..kept.len())
}

// The time that an entry states for itself: `14:05`, `2026-11-22`, `2026-11-22 14:05`.

/// A day, a time of the day, or both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stamp {
    pub day: Option<Date>,
    pub time: Option<Time>,
}

/// The stamp that a line begins with, after the mark of a list item or heading and any decoration around the stamp.
pub fn stamp(line: &str) -> Option<Stamp> {
    let rest = unmarked(line);
    let (day, rest) = match rest.get(..10).and_then(dates::day) {
        Some(_) if rest[10..].starts_with(|next: char| next.is_alphanumeric() && next != 'T') => return None,
        Some(day) => (Some(day), rest[10..].trim_start_matches(['T', ' ', ','])),
        None => (None, rest),
    };
    let time = time(rest);
    (day.is_some() || time.is_some()).then_some(Stamp { day, time })
}

/// A line without the mark of its list item, its box, and brackets and emphasis around what follows.
fn unmarked(line: &str) -> &str {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let item = match line.strip_prefix(['-', '*', '+']).or_else(|| numbered.strip_prefix(['.', ')'])) {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => line,
    };
    let boxed = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item);
    boxed.trim_start_matches(['#', ' ', '*', '_', '[', '(', '`'])
}

/// `14:05`, `9:30`, `14:05:30`, `2:05 pm`, and no digit or letter after it.
fn time(text: &str) -> Option<Time> {
    let hours_length = text.bytes().take_while(u8::is_ascii_digit).count();
    let mut hour: i8 = text.get(..hours_length).filter(|digits| (1..=2).contains(&digits.len()))?.parse().ok()?;
    let (minute, mut rest) = two_digits(text[hours_length..].strip_prefix(':')?)?;
    let mut second = 0;
    if let Some((value, after)) = rest.strip_prefix(':').and_then(two_digits) {
        (second, rest) = (value, after);
    }
    let half = rest.trim_start().get(..2).map(str::to_ascii_lowercase).filter(|half| half == "am" || half == "pm");
    if let Some(half) = half {
        rest = &rest.trim_start()[2..];
        hour = match (half.as_str(), hour) {
            (_, 0 | 13..) => return None,
            ("am", 12) => 0,
            ("pm", 1..=11) => hour + 12,
            _ => hour,
        };
    }
    if rest.starts_with(|next: char| next.is_alphanumeric()) {
        return None;
    }
    Time::new(hour, minute, second, 0).ok()
}

fn two_digits(text: &str) -> Option<(i8, &str)> {
    let digits = text.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some((digits.parse().ok()?, &text[2..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{date, time};
    use proptest::prelude::*;

    fn summary(text: &str) -> Vec<(u32, u32, String, bool)> {
        entries(text).into_iter().map(|entry| (entry.start_line, entry.end_line, entry.text, entry.forgotten)).collect()
    }

    fn one(first: u32, last: u32, text: &str, forgotten: bool) -> (u32, u32, String, bool) {
        (first, last, text.to_owned(), forgotten)
    }

    #[test]
    fn items_and_paragraphs_are_entries_and_headings_are_not_and_what_only_looks_like_a_mark_is_none() {
        let note = "---\ndate: 2026-11-22\n---\n# Day\n\nOne paragraph\nof two lines.\n\n## Topic\n\n- a\n\n  more of a\n  - nested\n- b\n\n---\n\n```\ncode\n```\n";
        let expected = [
            one(6, 7, "One paragraph\nof two lines.", false),
            one(11, 14, "- a\n\n  more of a\n  - nested", false),
            one(15, 15, "- b", false),
            one(19, 21, "```\ncode\n```", false),
        ];
        assert_eq!(summary(note), expected);
        for text in [
            "- a <!-- forgotten 2026-11-22 --> b\n", "- a <!-- forgotten yesterday -->\n",
            "- a `<!-- forgotten 2026-11-22 -->`\n", "    a <!-- forgotten 2026-11-22 -->\n",
            "- a <!-- unforgotten -->\n", "- a\n\n<!-- forgotten 2026-11-22 -->\n",
        ] {
            assert!(!entries(text)[0].forgotten, "{text}");
        }
    }

    proptest! {
        #[test]
        fn entries_stand_in_order_and_hold_their_text(
            parts in prop::collection::vec(prop::sample::select(vec![
                "- a", "\n", "\n\n", "  ", "* é語", "1. x", "<!-- forgotten 2026-11-22 -->", "<!--", "-->", "```", "> q", "# h", "text ", "| a |\n|---|\n", "---\n", "\r\n", "\t",
            ]), 0..60),
        ) {
            let text = parts.concat();
            let mut end = 0;
            for entry in entries(&text) {
                prop_assert!(entry.start_line > end && entry.start_line <= entry.end_line);
                prop_assert!(text[entry.range.clone()].contains(&entry.text));
                prop_assert_eq!(entry.forgotten, entry.mark.is_some());
                end = entry.end_line;
            }
        }
    }

    #[test]
    fn finds_what_an_entry_begins_with_and_other_numbers_are_no_stamps() {
        let at = |hour, minute| Some(Stamp { day: None, time: Some(time(hour, minute, 0, 0)) });
        for line in [
            "- 14:05 text", "* **14:05** text", "14:05: text", "## 14:05", "- [x] 14:05 text", "1. [14:05] x",
            "- 2:05 pm x",
        ] {
            assert_eq!(stamp(line), at(14, 5), "{line}");
        }
        assert_eq!(stamp("- 9:30 – text"), at(9, 30));
        let day = date(2026, 11, 22);
        let stamped = Stamp { day: Some(day), time: at(14, 5).and_then(|at| at.time) };
        assert_eq!(stamp("- 2026-11-22 14:05 text"), Some(stamped));
        assert_eq!(stamp("## 2026-11-22: backups"), Some(Stamp { day: Some(day), time: None }));
        for line in [
            "- 10:5 on", "- 25:00", "- 14:60", "- 3 of 5", "- 14:05h30", "- at 14:05", "", "- 16:9x", "- 13:05 pm",
            "-", "- é14:05",
        ] {
            assert_eq!(stamp(line), None, "{line}");
        }
    }
}
