//! Turns the text of a note into a list item that its own content cannot end.

use crate::Error;
use tamis_text::FORGOTTEN;
use tamis_text::safe::{for_terminal, is_hidden};

/// Indentation of an item's lines after the first.
const INDENT: &str = "  ";

/// Indentation under which a line is neither a heading nor a fence: it continues the item's text.
const DEEP: &str = "      ";

/// Checks a text and trims it. Line ends become `\n`.
///
/// # Errors
/// An empty text, one over `most` characters, or a control character, with its position.
pub(super) fn checked(text: &str, most: usize) -> Result<String, Error> {
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
pub(super) fn checked_topic(topic: &str) -> Result<String, Error> {
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
pub(super) fn lines(stamp: &str, text: &str) -> Vec<String> {
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
pub(super) fn fence(line: &str) -> Option<(char, usize, &str)> {
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
    use proptest::prelude::*;
    use tamis_text::entries;

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
