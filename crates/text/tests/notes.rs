//! Memory notes: passages, their times, and forgotten entries.

use std::collections::HashSet;

use jiff::tz::{TimeZone, offset};
use proptest::prelude::*;
use tamis_text::{Document, Kind, NoteOptions, Options, entries, estimate_tokens, forgotten_mark, read, read_note};

fn note(path: &str, text: &str) -> Document {
    read_note(path, text.as_bytes(), &NoteOptions::default())
}

fn date(document: &Document) -> Option<String> {
    document.dated_ns.map(moment)
}

fn moment(nanoseconds: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(nanoseconds)).expect("a date in range").to_string()
}

fn texts(document: &Document) -> Vec<&str> {
    document.passages.iter().map(|passage| passage.text.as_str()).collect()
}

const DAY: &str = "# 2026-11-22

- 09:10 standup: the importer waits for the schema

## Backups

- 14:05 they run at night, to the second site
  and take an hour
- 15:30 kept for a year

We looked at prices as well.

## Ideas

A map of all ports.
Nothing urgent.
";

#[test]
fn entries_of_a_log_and_sections_are_passages_of_their_own() {
    let document = note("memory/2026-11-22.md", DAY);
    let expected = [
        "# 2026-11-22\n\n- 09:10 standup: the importer waits for the schema",
        "## Backups\n\n- 14:05 they run at night, to the second site\n  and take an hour",
        "- 15:30 kept for a year\n\nWe looked at prices as well.",
        "## Ideas\n\nA map of all ports.\nNothing urgent.",
    ];
    assert_eq!(texts(&document), expected);
    assert!(document.passages.iter().all(|passage| passage.kind == Kind::Note));
    let headings: Vec<_> = document.passages.iter().map(|passage| passage.heading.as_deref()).collect();
    let backups = Some("2026-11-22 > Backups");
    assert_eq!(headings, [Some("2026-11-22"), backups, backups, Some("2026-11-22 > Ideas")]);
    let dates: Vec<_> = document.passages.iter().map(|passage| passage.own.dated_ns.map(moment)).collect();
    let at = |time: &str| Some(format!("2026-11-22T{time}:00Z"));
    assert_eq!(dates, [at("09:10"), at("14:05"), at("15:30"), None]);
    let same = note("memory/2026-11-22.md", "- 14:05 one\n- 14:05 two\n- 14:06 three\n- 14:05 four\n");
    let dates: Vec<_> = same.passages.iter().map(|passage| passage.own.dated_ns.map(moment)).collect();
    let at = |time: &str| Some(format!("2026-11-22T{time}Z"));
    assert_eq!(dates, [at("14:05:00"), at("14:05:01"), at("14:06:00"), at("14:05:02")], "none hides another one");
    let topics: Vec<_> = document.attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(topics, ["topic=Backups", "topic=Ideas"]);
}

#[test]
fn trap_front_matter_dates_a_note_before_its_name_and_undated_notes_do_not_decay() {
    for (path, text, expected) in [
        ("memory/2026-11-22.md", "x\n", Some("2026-11-22T00:00:00Z")),
        ("memory/2026-11-22-backups.md", "x\n", Some("2026-11-22T00:00:00Z")),
        ("memory/2026_11_22.md", "x\n", Some("2026-11-22T00:00:00Z")),
        ("2026-11-22.md", "---\ndate: 2025-01-02\n---\nx\n", Some("2025-01-02T00:00:00Z")),
        ("a.md", "---\ncreated: 2025-01-02 10:30\nupdated: 2025-02-03 # again\n---\nx\n", Some("2025-02-03T00:00:00Z")),
        ("a.md", "+++\ndate = 2025-01-02T10:30:00+01:00\n+++\nx\n", Some("2025-01-02T09:30:00Z")),
        ("2026-11-22.md", "---\ndate: someday\n---\nx\n", Some("2026-11-22T00:00:00Z")),
        ("2026-11-221.md", "x\n", None),
        ("2026-02-30.md", "x\n", None),
        ("decisions.md", "- 14:05 x\n", None),
    ] {
        assert_eq!(date(&note(path, text)).as_deref(), expected, "{path}: {text}");
    }
    let dated = "---\ndate: 2020-01-01\n---\n## 2021-01-01\n\n- 14:05 lasting\n";
    let cases = [("MEMORY.md", dated), ("notes/memory.md", dated), ("ideas.md", "## 2021-01-01\n\n- 14:05 lasting\n")];
    for (path, text) in cases {
        let document = note(path, text);
        assert_eq!(document.dated_ns, None, "{path}");
        assert!(document.passages.iter().all(|passage| passage.own.dated_ns.is_none()), "{path}");
        assert!(document.passages.iter().any(|passage| passage.text.contains("lasting")));
    }
}

#[test]
fn a_day_is_that_of_the_writers_place_and_an_impossible_date_is_told_and_the_note_is_read() {
    let options = NoteOptions { time_zone: TimeZone::fixed(offset(-5)), ..NoteOptions::default() };
    let document = read_note("2026-11-22.md", b"- 23:30 late\n", &options);
    assert_eq!(date(&document).as_deref(), Some("2026-11-22T05:00:00Z"));
    assert_eq!(document.passages[0].own.dated_ns.map(moment).as_deref(), Some("2026-11-23T04:30:00Z"));
    for (path, text) in [("a.md", "---\ndate: 2026-02-30\n---\nWords.\n"), ("2026-02-30-a.md", "Words.\n")] {
        let document = note(path, text);
        assert_eq!(document.notes.len(), 1);
        assert!(document.notes[0].to_string().contains("2026-02-30"), "{}", document.notes[0]);
        assert_eq!(texts(&document).last(), Some(&"Words."));
    }
}

#[test]
fn front_matter_dates_any_markdown_document_and_topics_come_from_front_matter_and_headings_once() {
    let document = read("docs/a.md", b"---\ntitle: A\nlastmod: 2026-11-22\n---\nWords.\n", &Options::default());
    assert_eq!(date(&document).as_deref(), Some("2026-11-22T00:00:00Z"));
    let document = read("docs/a.md", b"date: 2026-11-22\n\nNo front matter.\n", &Options::default());
    assert_eq!((document.dated_ns, document.notes.len()), (None, 0));
    let text = "---\ntopic: Backups\ntags: [ops, \"#cost\"]\n---\n# A\n\nx\n\n## backups\n\ny\n\n## 14:05 call\n\nz\n\n### Deep\n\nw\n";
    let document = note("a.md", text);
    let topics: Vec<_> = document.attributes.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(topics, ["Backups", "ops", "cost"]);
}

#[test]
fn a_long_section_is_divided_with_an_overlap_and_a_very_long_line_is_divided() {
    let text: String = std::iter::once("# Log\n\n".to_owned())
        .chain((0..120).map(|number| format!("Line {number} says a few more words than that.\n")))
        .collect();
    let document = note("a.md", &text);
    assert!(document.passages.len() > 2);
    for pair in document.passages.windows(2) {
        let lines: Vec<&str> = text.lines().collect();
        let shared = lines[pair[1].start_line as usize - 1..pair[0].end_line as usize].join("\n");
        let tokens = estimate_tokens(&shared);
        assert!((60..=120).contains(&tokens), "{tokens} tokens are shared");
        assert!(pair[0].text.ends_with(&shared) && pair[1].text.starts_with(&shared));
    }
    assert!(document.passages.iter().all(|passage| passage.heading.as_deref() == Some("Log")));
    assert!(document.passages.iter().all(|passage| estimate_tokens(&passage.text) <= 400));
    let document = note("a.md", &format!("# A\n\nShort.\n{}\nEnd.\n", "A sentence of some words. ".repeat(400)));
    let parts = document.passages.iter().filter(|passage| (passage.start_line, passage.end_line) == (4, 4)).count();
    assert!(parts > 3, "{parts}");
    assert_eq!(texts(&document).last(), Some(&"End."));
}

#[test]
fn what_was_forgotten_is_in_no_passage() {
    let text = "# Day\n\n- 14:05 the old address <!-- forgotten 2026-11-23 -->\n- 14:06 the new address\n\n## Gone\n\n- a secret\n  of two lines\n  <!-- forgotten 2026-11-23 -->\n\n## Kept\n\nBefore.\n\nA paragraph to forget. <!-- forgotten 2026-11-23 -->\n\nAfter.\n";
    let document = note("2026-11-22.md", text);
    assert_eq!(texts(&document), ["- 14:06 the new address", "## Kept\n\nBefore.", "After."]);
    assert_eq!(document.passages[0].heading.as_deref(), Some("Day"));
}

#[test]
fn other_formats_are_read_too() {
    let document = note("memory/2026-11-22.txt", "One thing.\n\n- 14:05 another\n");
    assert_eq!(texts(&document), ["One thing.", "- 14:05 another"]);
    let document = note("memory/run.sh", "echo hello\n");
    let code = read("run.sh", b"echo hello\n", &Options::default()).passages[0].kind;
    assert_eq!((document.passages[0].kind, document.collection()), (code, "code"));
}

/// Pieces of notes that nest, break off and collide when strung together.
const SOURCE: &str = "(# Day\n|## Topic\n|### 14:05 deep\n|\n|\n\n|- 14:05 an entry\n|- item\n|  more\n|    code\n|```\n|> quoted\n|\
    Some words of a paragraph that goes on\\.\n|\\| a \\|\n\\|---\\|\n|---\n|---\ndate: 2026-11-22\n---\n|1\\. one\n|語語語。\n|word |\t|\
    - 2026-11-22 09:00 x\n|===\n|<div>\n|<!-- a comment -->\n|a longer sentence with a number of words in it, so that \
    sections fill up\\.\n){0,90}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_line_is_in_a_passage_and_neighbours_share_what_was_asked(
        text in SOURCE, max_tokens in 0_usize..120, overlap_tokens in 0_usize..60,
    ) {
        let options = NoteOptions { max_tokens, overlap_tokens, ..NoteOptions::default() };
        let document = read_note("2026-11-22.md", text.as_bytes(), &options);
        let lines: Vec<&str> = text.split('\n').collect();
        let mut seen = HashSet::new();
        let mut end = 0;
        for passage in &document.passages {
            let here = lines[passage.start_line as usize - 1..passage.end_line as usize].join("\n");
            prop_assert!(here.contains(&passage.text));
            prop_assert!(estimate_tokens(&passage.text) <= max_tokens.max(32));
            if passage.start_line < end {
                let shared = lines[passage.start_line as usize - 1..end as usize].join("\n");
                prop_assert!(estimate_tokens(&shared) * 2 <= overlap_tokens * 3, "{:?} is shared", shared);
            }
            prop_assert!(passage.end_line >= end, "passages are in order");
            end = passage.end_line;
            seen.extend(passage.start_line..=passage.end_line);
        }
        for (line, number) in lines.iter().zip(1..) {
            prop_assert!(line.trim().is_empty() || seen.contains(&number), "line {} is lost: {:?}", number, line);
        }
    }

    #[test]
    fn forgotten_entries_are_in_no_passage(
        parts in prop::collection::vec((SOURCE, "gone <!-- forgotten 2026-11-23 -->\n|- gone <!-- forgotten -->\n|<!-- forgotten 2026-11-23 -->\n"), 0..5),
    ) {
        let text: String = parts.into_iter().map(|(kept, forgotten)| kept + &forgotten).collect();
        let document = read_note("2026-11-22.md", text.as_bytes(), &NoteOptions::default());
        for entry in entries(&text).into_iter().filter(|entry| entry.forgotten) {
            for passage in &document.passages {
                prop_assert!(passage.end_line < entry.start_line || passage.start_line > entry.end_line, "{:?} in {:?}", entry, passage);
            }
        }
    }

    #[test]
    fn marking_an_entry_takes_it_and_nothing_else_out(text in SOURCE, choice in any::<prop::sample::Index>()) {
        let before = entries(&text);
        prop_assume!(!before.is_empty());
        let entry = choice.get(&before);
        // Code cannot end with a mark, so the mark is on a line of its own after it.
        let code = entry.text.ends_with("```") || entry.text.starts_with("    ") || entry.text.contains("```");
        prop_assume!(!code);
        let mut marked = text.clone();
        marked.insert_str(entry.range.end, &format!(" {}", forgotten_mark(jiff::civil::date(2026, 11, 23))));
        let after = entries(&marked);
        let place = after.iter().find(|found| found.start_line == entry.start_line);
        prop_assume!(place.is_some_and(|found| found.text == entry.text));
        prop_assert!(place.is_some_and(|found| found.forgotten));
    }
}
