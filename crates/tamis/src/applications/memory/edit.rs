//! Edits a note's text: adds an entry, or hides, restores or deletes one. Pure.

use std::ops::Range;

use jiff::civil::Date;
use tamis_text::sanitize::{for_terminal, is_hidden};
use tamis_text::{Entry, FORGOTTEN, entries, forgotten_mark};

use super::remember::{Section, sections};
use crate::Error;

/// An entry to add.
#[derive(Clone, Debug)]
pub(crate) struct NewEntry<'a> {
    /// Its prefix: the time, and the day unless the file's name has it.
    pub stamp: &'a str,
    /// Its text, already checked.
    pub text: &'a str,
    /// The level 2 heading to add it under, created if missing; `None`: before all of those.
    pub topic: Option<&'a str>,
}

/// A note after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    /// The whole text.
    pub text: String,
    /// The lines that changed, from 1; after a deletion, the line that it began on.
    pub lines: Range<u32>,
}

/// The heading level of topics.
const TOPIC_LEVEL: usize = 2;

/// Adds an entry at the end of its topic; `None` if it could not be an entry of its own there, for example after an
/// open code block.
pub(crate) fn append(note: &str, entry: &NewEntry<'_>) -> Option<Edited> {
    let sections = sections(note);
    let own = |section: &&Section| {
        let same = |topic: &str| section.title.to_lowercase() == topic.to_lowercase();
        section.level == TOPIC_LEVEL && entry.topic.is_some_and(same)
    };
    let topic = sections.iter().find(own);
    // Without a topic it goes under the title, or before the first heading if there is none.
    let title = sections.iter().take(2).rfind(|section| section.level <= 1);
    let section = if entry.topic.is_some() { topic } else { title };
    let note_lines: Vec<&str> = note.lines().collect();
    let blank = |at: usize| note_lines.get(at).is_none_or(|line| line.trim().is_empty());
    let mut block = lines(entry.stamp, entry.text);
    let lines_of_item = block.len();
    let mut before = 0;
    let at = match section {
        Some(section) => (section.lines.clone()).rfind(|at| !blank(*at)).map_or(section.lines.start, |last| last + 1),
        None => (0..note_lines.len()).rfind(|at| !blank(*at)).map_or(0, |last| last + 1),
    };
    if let (None, Some(topic)) = (section, entry.topic) {
        block.splice(0..0, [format!("## {topic}"), String::new()]);
        before += 2;
    }
    if at > 0 && !(section.is_some() && ends_a_list(note, at)) {
        block.insert(0, String::new());
        before += 1;
    }
    if at < note_lines.len() && !blank(at) {
        block.push(String::new());
    }
    let text = with_lines(note, at, &block);
    let first = number(at + before + 1);
    let edited = Edited { text, lines: first..first + number(lines_of_item) };
    stands_alone(note, &edited).then_some(edited)
}

/// Returns `true` if the lines before `at` end with a list item that another item can follow directly.
fn ends_a_list(note: &str, at: usize) -> bool {
    let item = |entry: &Entry| {
        let first = entry.text.trim_start();
        entry.end_line as usize == at && ["- ", "* ", "+ "].iter().any(|mark| first.starts_with(mark))
    };
    entries(note).iter().any(item)
}

/// Inserts lines before the line `at` (from 0), with the note's own line ends.
fn with_lines(note: &str, at: usize, block: &[String]) -> String {
    let line_end =
        if note.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let offset: usize = note.split_inclusive('\n').take(at).map(str::len).sum();
    let (before, after) = note.split_at(offset);
    let mut text = String::with_capacity(note.len() + block.iter().map(|line| line.len() + 2).sum::<usize>() + 2);
    text.push_str(before);
    if !before.is_empty() && !before.ends_with('\n') {
        text.push_str(line_end);
    }
    for line in block {
        text.push_str(line);
        text.push_str(line_end);
    }
    text.push_str(after);
    text
}

/// Returns `true` if exactly one entry was added, on the changed lines, and all others are unchanged.
fn stands_alone(note: &str, edited: &Edited) -> bool {
    let (old, mut new) = (entries(note), entries(&edited.text));
    let added = new.iter().position(|entry| entry.start_line == edited.lines.start);
    let Some(entry) = added.map(|at| new.remove(at)) else { return false };
    !entry.forgotten && entry.end_line < edited.lines.end && stated(&old) == stated(&new)
}

fn stated(entries: &[Entry]) -> Vec<(&str, bool)> {
    entries.iter().map(|entry| (entry.text.as_str(), entry.forgotten)).collect()
}

/// The change to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Mark it as forgotten on a day.
    Mark(Date),
    /// Remove the mark.
    Unmark,
    /// Delete its lines.
    Delete,
}

/// Changes the entry that begins on a line; `None` if there is none, or if the change would affect others.
pub(crate) fn change(note: &str, start_line: u32, change: Change) -> Option<Edited> {
    let all = entries(note);
    let at = all.iter().position(|entry| entry.start_line == start_line)?;
    let entry = &all[at];
    let lines = entry.start_line..entry.end_line + 1;
    let whole = |text: String| Edited { text, lines: lines.clone() };
    let candidates: Vec<Edited> = match change {
        Change::Mark(_) if entry.forgotten => vec![whole(note.to_owned())],
        Change::Mark(day) => marked(note, entry, day).into_iter().map(whole).collect(),
        Change::Unmark => {
            let mut text = note.to_owned();
            if let Some(mark) = &entry.mark {
                text.replace_range(mark.clone(), "");
            }
            vec![whole(text)]
        }
        Change::Delete => vec![Edited { text: deleted(note, entry), lines: start_line..start_line }],
    };
    let mut expected = stated(&all);
    match change {
        Change::Mark(_) => expected[at].1 = true,
        Change::Unmark => expected[at].1 = false,
        Change::Delete => drop(expected.remove(at)),
    }
    candidates.into_iter().find(|edited| stated(&entries(&edited.text)) == expected)
}

/// The ways to mark an entry, best first: at the end of its last line, or on a line of its own after it. The last line
/// of a code block must stay as it is.
fn marked(note: &str, entry: &Entry, day: Date) -> Vec<String> {
    let mark = forgotten_mark(day);
    let line_end = if note[..entry.range.end].contains("\r\n") { "\r\n" } else { "\n" };
    let with = |what: String| {
        let mut text = note.to_owned();
        text.insert_str(entry.range.end, &what);
        text
    };
    let last = note[entry.range.clone()].lines().next_back().unwrap_or_default();
    let mut forms = vec![with(format!("{line_end}  {mark}")), with(format!("{line_end}{mark}"))];
    if fence(last).is_none() {
        forms.insert(0, with(format!(" {mark}")));
    }
    forms
}

/// Deletes an entry, and the second of two gaps around it.
fn deleted(note: &str, entry: &Entry) -> String {
    let end = note[entry.range.end..].find('\n').map_or(note.len(), |at| entry.range.end + at + 1);
    let (before, mut after) = (&note[..entry.range.start], &note[end..]);
    let gap_before = before.is_empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n");
    if gap_before {
        after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    }
    let text = format!("{before}{after}");
    // Only the gap before it is left at the end.
    match after.trim().is_empty() {
        true if text.trim().is_empty() => String::new(),
        true => {
            let kept = text.trim_end().len();
            let line_end = if text[kept..].starts_with("\r\n") { "\r\n" } else { "\n" };
            format!("{}{line_end}", &text[..kept])
        }
        false => text,
    }
}

fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

// Turns the text of a note into a list item that its own content cannot end.

/// Indentation of an item's lines after the first.
const INDENT: &str = "  ";

/// Indentation under which a line is neither a heading nor a fence: it continues the item's text.
const DEEP: &str = "      ";

/// Checks a text and trims it. Line ends become `\n`.
///
/// # Errors
/// An empty text, one over `most` characters, or a control character, with its position.
pub(crate) fn checked(text: &str, most: usize) -> Result<String, Error> {
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end().trim_start_matches(['\n', '\u{feff}']);
    if text.trim().is_empty() {
        return Err(Error::argument("text", "\"\"", "something to remember"));
    }
    let count = text.chars().count();
    if count > most {
        let allowed = format!("at most {most} characters; write it to a file of notes instead");
        return Err(Error::argument("text", format!("{count} characters"), allowed));
    }
    // Invisible text in a note would be read by every model that finds it.
    if let Some((at, character)) = first_hidden(text) {
        let value = format!("{:?} as character {}", character, at + 1);
        return Err(Error::argument("text", value, "free of control characters and of characters that do not show"));
    }
    Ok(text.to_owned())
}

/// The first invisible character, and its position.
fn first_hidden(text: &str) -> Option<(usize, char)> {
    let shown = for_terminal(text);
    let same = text.chars().zip(shown.chars()).take_while(|(is, shown)| is == shown).count();
    let rest = text.chars().enumerate().skip(same);
    (shown != text).then(|| rest.into_iter().find(|(_, character)| is_hidden(*character))).flatten()
}

/// Checks a topic, which becomes a heading of one line.
///
/// # Errors
/// An empty topic, more than 100 characters, several lines, or a control character.
pub(crate) fn checked_topic(topic: &str) -> Result<String, Error> {
    let words = topic.trim().trim_start_matches('#').split(' ').filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join(" ");
    let plain =
        !name.contains(['\t', '\n']) && first_hidden(&name).is_none() && (1..=100).contains(&name.chars().count());
    // A heading of marks alone would be empty.
    if !plain || !name.chars().any(char::is_alphanumeric) || name.contains("<!--") {
        let allowed = "1 to 100 characters on one line, with a letter or a digit among them";
        return Err(Error::argument("topic", format!("{topic:?}"), allowed));
    }
    Ok(name)
}

/// The lines of an item with `text` after `stamp`.
pub(crate) fn lines(stamp: &str, text: &str) -> Vec<String> {
    let text = unmarked(text);
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    let (first, rest) = match lines.split_first() {
        // Directly after the stamp a fence would not open a block, and its closing line would.
        Some((first, _)) if fence(first).is_some() => ("", lines.as_slice()),
        Some((first, rest)) => (first.trim_start(), rest),
        None => ("", lines.as_slice()),
    };
    let balanced = fences_are_balanced(rest);
    let mut open: Option<(char, usize)> = None;
    let mut item = vec![format!("- {stamp} {first}").trim_end().to_owned()];
    for line in rest {
        let quoted = open.is_some();
        if balanced {
            open = after(open, line);
        }
        let deep = !quoted && (ends_or_heads(line) || (!balanced && fence(line).is_some()));
        item.push(match line.trim().is_empty() {
            true => String::new(),
            false if deep => format!("{DEEP}{}", line.trim_start()),
            false => format!("{INDENT}{line}"),
        });
    }
    item
}

/// Removes from a text what would mark its entry as forgotten.
fn unmarked(text: &str) -> String {
    let word = FORGOTTEN.trim_start_matches("<!--").trim();
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        let (before, comment) = rest.split_at(at);
        clean.push_str(before);
        let inner = comment[4..].trim_start();
        let marks = inner.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        clean.push_str(if marks { "&lt;!--" } else { "<!--" });
        rest = &comment[4..];
    }
    clean.push_str(rest);
    clean
}

/// Returns `true` if a line would be a heading or underline one.
fn ends_or_heads(line: &str) -> bool {
    let line = line.trim();
    let marks = line.len() - line.trim_start_matches('#').len();
    let heads = (1..=6).contains(&marks) && !line[marks..].starts_with(|next: char| !next.is_whitespace());
    let underlines = !line.is_empty() && ['=', '-'].iter().any(|mark| line.chars().all(|other| other == *mark));
    heads || underlines
}

/// The character of a code fence, its length, and the text after it.
pub(crate) fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length, rest))
}

/// The fence that is open after a line.
fn after(open: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    match (open, fence(line)) {
        (None, Some((mark, length, _))) => Some((mark, length)),
        (Some((mark, length)), Some((other, other_length, rest)))
            if mark == other && other_length >= length && rest.trim().is_empty() =>
        {
            None
        }
        (open, _) => open,
    }
}

/// Returns `true` if every code block is closed.
fn fences_are_balanced(lines: &[&str]) -> bool {
    lines.iter().fold(None, |open, line| after(open, line)).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use proptest::prelude::*;

    fn add(note: &str, text: &str, topic: Option<&str>) -> Edited {
        append(note, &NewEntry { stamp: "14:05", text, topic }).expect("it stands alone")
    }

    #[test]
    fn entries_follow_each_other_and_topics_are_found_again() {
        let mut note = "# 2026-11-22\n".to_owned();
        for (text, topic, lines) in [
            ("first", None, 3..4),
            ("second\nof two lines", None, 4..6),
            ("backups run at night", Some("Backups"), 9..10),
            ("third", None, 6..7),
            ("they take an hour", Some("backups"), 11..12),
            ("ask the office", Some("Travel"), 15..16),
            ("kept for a year", Some("BACKUPS"), 12..13),
        ] {
            let edited = add(&note, text, topic);
            assert_eq!(edited.lines, lines, "{text}\n{}", edited.text);
            note = edited.text;
        }
        assert_eq!(
            note,
            "# 2026-11-22\n\n- 14:05 first\n- 14:05 second\n  of two lines\n- 14:05 third\n\n## Backups\n\n- 14:05 backups run at night\n\
             - 14:05 they take an hour\n- 14:05 kept for a year\n\n## Travel\n\n- 14:05 ask the office\n"
        );
    }

    #[test]
    fn what_people_wrote_around_it_stays_as_it_is() {
        for (note, topic, expected) in [
            ("", None, "- 14:05 x\n"),
            ("A paragraph", None, "A paragraph\n\n- 14:05 x\n"),
            ("- a\r\n- b\r\n", None, "- a\r\n- b\r\n- 14:05 x\r\n"),
            ("---\ndate: 2026-01-01\n---\n## T\n- a\n", None, "---\ndate: 2026-01-01\n---\n\n- 14:05 x\n\n## T\n- a\n"),
            ("# M\n## T\n- a\n\n\n## U\n- b\n", Some("t"), "# M\n## T\n- a\n- 14:05 x\n\n\n## U\n- b\n"),
            ("# M\n## T\n### Deeper\n- a\n", Some("T"), "# M\n## T\n\n- 14:05 x\n\n### Deeper\n- a\n"),
            ("## T\n- a\n", None, "- 14:05 x\n\n## T\n- a\n"),
            ("# M\n\n- a\n\n# N\n\n- b\n", None, "# M\n\n- a\n- 14:05 x\n\n# N\n\n- b\n"),
            ("1. one\n2. two\n", None, "1. one\n2. two\n\n- 14:05 x\n"),
            ("- a\n\n\n", None, "- a\n- 14:05 x\n\n\n"),
        ] {
            assert_eq!(add(note, "x", topic).text, expected, "{note:?}");
        }

        for note in ["```\nopen code\n", "# M\n\n<!-- open comment\n", "<script>\n"] {
            assert_eq!(append(note, &NewEntry { stamp: "14:05", text: "x", topic: None }), None, "{note}");
        }
    }

    #[test]
    fn entries_are_marked_at_their_end_and_remembered_again_and_what_is_deleted_leaves_no_gap() {
        let day = date(2026, 11, 23);
        for (note, line, expected) in [
            ("- a\n- b\n", 1, "- a <!-- forgotten 2026-11-23 -->\n- b\n"),
            ("- a\n  more\r\n- b", 1, "- a\n  more <!-- forgotten 2026-11-23 -->\r\n- b"),
            ("One.\n\nTwo.\n", 3, "One.\n\nTwo. <!-- forgotten 2026-11-23 -->\n"),
            ("- a\n  ```\n  x\n  ```\n- b\n", 1, "- a\n  ```\n  x\n  ```\n  <!-- forgotten 2026-11-23 -->\n- b\n"),
            ("```\nx\n```\n", 1, "```\nx\n```\n  <!-- forgotten 2026-11-23 -->\n"),
        ] {
            let marked = change(note, line, Change::Mark(day)).expect(note);
            assert_eq!(marked.text, expected);
            assert_eq!(change(&marked.text, line, Change::Mark(day)).expect("marked").text, expected, "once is enough");
            assert_eq!(change(&marked.text, line, Change::Unmark).expect("remembered").text, note);
        }
        assert_eq!(change("- a\n- b\n", 3, Change::Mark(day)), None);
        assert_eq!(change("# a\n", 1, Change::Delete), None, "a heading is no entry");
        for (note, line, expected) in [
            ("# D\n\n- a\n- b\n", 3, "# D\n\n- b\n"),
            ("# D\n\n- a\n- b\n", 4, "# D\n\n- a\n"),
            ("# D\n\n- a\n", 3, "# D\n"),
            ("# D\n\nOne.\n\nTwo.\n\nThree.\n", 5, "# D\n\nOne.\n\nThree.\n"),
            ("- a\n", 1, ""),
            ("- a\n  b <!-- forgotten 2026-11-23 -->\r\n\r\n- c\r\n", 1, "- c\r\n"),
        ] {
            assert_eq!(change(note, line, Change::Delete).expect(note).text, expected, "{note:?}");
        }
    }

    fn item(text: &str) -> String {
        lines("14:05", &checked(text, 1000).expect("a text")).join("\n")
    }

    #[test]
    fn texts_become_one_list_item() {
        assert_eq!(item("one line"), "- 14:05 one line");
        assert_eq!(item("  one\r\ntwo\n\n\tthree\n"), "- 14:05 one\n  two\n\n  \tthree");
        assert_eq!(item("a\n- b\n1. c"), "- 14:05 a\n  - b\n  1. c");

        assert_eq!(item("a\n# b\n---\n===\n#c\n#"), "- 14:05 a\n      # b\n      ---\n      ===\n  #c\n      #");

        assert_eq!(item("run\n```sh\n# all\nls\n```\nthen"), "- 14:05 run\n  ```sh\n  # all\n  ls\n  ```\n  then");
        assert_eq!(item("```\nls\n```"), "- 14:05\n  ```\n  ls\n  ```");
        assert_eq!(item("run\n```\nls"), "- 14:05 run\n      ```\n  ls");

        let marked =
            item("old <!-- forgotten 2026-11-22 --> and <!--FORGOTTEN--> <!-- kept --> <!-- forgotten 2026-11-22 -->");
        assert!(!entries(&marked)[0].forgotten && marked.contains("<!-- kept -->"), "{marked}");
    }

    #[test]
    fn what_can_not_be_kept_is_refused_with_its_reason() {
        for (text, said) in [
            ("", "something to remember"),
            (" \n\t", "something to remember"),
            ("a\u{0}b", "'\\0' as character 2"),
            ("a\rb", "'\\r' as character 2"),
            ("red \u{1b}[31m", "control characters"),
            ("x\u{85}y", "control characters"),
            (&"é".repeat(1001), "1001 characters: must be at most 1000"),
        ] {
            let error = checked(text, 1000).expect_err(text).to_string();
            assert!(error.contains(said), "{error}");
        }
        assert_eq!(checked(&"é".repeat(1000), 1000).expect("long enough").chars().count(), 1000);

        assert_eq!(checked_topic(" ## Backups  and  restores ").expect("a topic"), "Backups and restores");
        for wrong in ["", "  ", "##", "a\nb", "---", "\u{1b}a", "a <!-- x", &"a".repeat(101)] {
            assert!(checked_topic(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn a_note_only_ever_changes_where_it_is_asked_to(
            parts in prop::collection::vec(prop::sample::select(vec![
                "- a\n", "- b\n  c\n", "\n", "text\n", "## T\n", "# D\n", "## U ##\n", "```\n", "> q\n", "1. x\n", "| a |\n|---|\n", "---\n", "\tx\n", "é", "\r\n",
                "- z <!-- forgotten 2026-11-22 -->\n", "<!-- c -->\n", "T\n===\n",
            ]), 0..20),
            topic in prop::option::of(prop::sample::select(vec!["T", "u", "new"])),
            line in 1_u32..30,
        ) {
            let note = parts.concat();
            if let Some(added) = append(&note, &NewEntry { stamp: "14:05", text: "fresh\nand more", topic }) {
                let found = entries(&added.text).into_iter().find(|entry| entry.start_line == added.lines.start);
                let text = found.map(|entry| entry.text.replace('\r', ""));
                prop_assert_eq!(text.as_deref(), Some("- 14:05 fresh\n  and more"));
                let gone = change(&added.text, added.lines.start, Change::Delete);
                prop_assert!(gone.is_none_or(|gone| stated(&entries(&gone.text)) == stated(&entries(&note))));
            }
            let day = date(2026, 11, 23);
            if let Some(marked) = change(&note, line, Change::Mark(day)) {
                let back = change(&marked.text, line, Change::Unmark).expect("what is marked can be remembered");
                if !entries(&note).iter().any(|entry| entry.start_line == line && entry.forgotten) {
                    prop_assert_eq!(back.text, note);
                }
            }
        }

        #[test]
        fn whatever_the_text_says_it_is_one_entry_that_is_remembered(
            parts in prop::collection::vec(prop::sample::select(vec![
                "a", "größe 漢字", "\n", "\n\n", "# ", "## b", "- ", "* c", "1. ", "```", "~~~", "````", "---", "===", "> ", "<!--", "-->",
                "<!-- forgotten 2026-11-22 -->", "<!-- forgotten -->", "    ", "\t", "| a |\n|---|", "[x]: y", "<div>", "<script>", "</script>", "\\", "***",
            ]), 1..30),
        ) {
            let Ok(text) = checked(&parts.concat(), 100_000) else { return Ok(()) };
            let note = format!("# Day\n\n- 09:00 before\n{}\n- 15:00 after\n", lines("14:05", &text).join("\n"));
            let found = entries(&note);
            prop_assert_eq!(found.len(), 3, "{}\n{:?}", &note, found);
            prop_assert!(found.iter().all(|entry| !entry.forgotten), "{}", &note);
            prop_assert_eq!(&found[2].text, "- 15:00 after");
        }
    }
}
