//! Pages of an answer: as many whole entries as fit into a number of characters.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::refusal_text::for_agent;
use crate::untrusted_text::{REST, backticks, clean, fenced, first, line, short};

/// Most characters of an answer by default.
pub(crate) const DEFAULT_MAX_CHARS: usize = 10_000;

/// Arguments of the tools that return pages.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PageArguments {
    /// Most characters.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    pub max_chars: usize,
    /// Continue here.
    #[schemars(range(min = 0, max = 99_999_999))]
    #[serde(default)]
    pub offset: usize,
}

/// The default of the argument `max_chars`.
pub(crate) fn max_chars() -> usize {
    DEFAULT_MAX_CHARS
}

/// Characters reserved for the line that names the next page.
pub(crate) const NEXT_CHARS: usize = 80;

/// Most characters of a warning.
const MAX_WARNING: usize = 400;

/// An entry of a list, as text that others wrote.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// What stands above the entry and need not be repeated below the same, such as the path of its file.
    pub heading: String,
    /// What stands before the entry's own fences.
    pub label: String,
    pub lead: String,
    /// The part that is shortened if the entry does not fit on a page of its own.
    pub body: String,
    /// The part that is left out then.
    pub rest: String,
}

impl Entry {
    /// The entry of a list in one pair of fences, on one line or more.
    pub fn line(body: String) -> Entry {
        Entry { body: body + "\n", ..Entry::default() }
    }

    /// The entry between its own fences.
    pub fn in_fences(&self) -> String {
        format!("{}{}", self.label, fenced(&format!("{}{}{}", self.lead, self.body, self.rest)))
    }

    fn shorten(&mut self, over: usize) {
        let over = over.saturating_sub(self.rest.chars().count()) + REST.chars().count() + 1;
        self.rest = String::new();
        self.body = first(&self.body, self.body.chars().count().saturating_sub(over)).to_owned() + REST + "\n";
    }
}

/// An answer with a list.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub entries: Vec<Entry>,
    /// The first text in the fences that all entries share; `None`: each entry has its own.
    pub shared: Option<String>,
    /// What follows the list.
    pub tail: String,
    pub warnings: Vec<String>,
}

/// The text between the fences of a list.
#[derive(Default)]
struct Fenced {
    text: String,
    characters: usize,
    backticks: usize,
}

impl Fenced {
    /// Characters with this text at the end, fences included.
    fn with(&self, text: &str) -> usize {
        self.characters + text.chars().count() + 2 * (self.backticks.max(backticks(text)).max(2) + 2)
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.characters += text.chars().count();
        self.backticks = self.backticks.max(backticks(text));
    }
}

impl List {
    /// The page that starts at an offset, in at most `max_chars` characters, and the numbers of its entries.
    pub fn page(self, page: &PageArguments) -> (String, Range<usize>) {
        let (most, all) = (page.max_chars, self.entries.len());
        let tail = short(&clean(&self.tail), most / 4).into_owned();
        let mut warnings = self.warnings;
        if page.offset > all {
            warnings.insert(0, format!("the offset {} is beyond the end, which is {all}", page.offset));
        }
        let warnings = warning_lines(&warnings, most / 4);
        let room = most.saturating_sub(tail.chars().count() + 1 + warnings.chars().count() + NEXT_CHARS);
        let mut text = Fenced::default();
        text.push(self.shared.as_deref().unwrap_or_default());
        // Entries that bring their own fences count them already.
        let with = |text: &Fenced, shown: &str| match self.shared {
            Some(_) => text.with(shown),
            None => text.characters + shown.chars().count(),
        };
        let start = page.offset.min(all);
        let mut end = start;
        let mut heading = String::new();
        for mut entry in self.entries.into_iter().skip(start) {
            let show = |entry: &Entry| match self.shared {
                None => entry.in_fences(),
                Some(_) if entry.heading == heading => format!("{}{}{}", entry.lead, entry.body, entry.rest),
                Some(_) => format!("{}{}{}{}", entry.heading, entry.lead, entry.body, entry.rest),
            };
            let mut shown = show(&entry);
            let over = with(&text, &shown).saturating_sub(room);
            if over > 0 && end > start {
                break;
            }
            if over > 0 {
                entry.shorten(over);
                shown = show(&entry);
            }
            text.push(&shown);
            heading = entry.heading;
            end += 1;
        }
        let mut text = if self.shared.is_some() && !text.text.is_empty() { fenced(&text.text) } else { text.text };
        text.push_str(&tail);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&warnings);
        if end < all {
            text.push_str(&format!("{} more: call again with offset = {end}.\n", all - end));
        }
        (text, start..end)
    }
}

/// Warnings as lines of text, as many as fit into so many characters.
pub(crate) fn warning_lines(warnings: &[String], most: usize) -> String {
    let mut room = most;
    let mut lines = String::new();
    for warning in warnings {
        let warning = format!("Note: {}\n", short(&for_agent(&line(warning)), MAX_WARNING.min(most)));
        let length = warning.chars().count();
        if length <= room || room == most {
            lines.push_str(&warning);
        }
        room = room.saturating_sub(length);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(bodies: &[String], shared: bool) -> List {
        let entries = bodies.iter().map(|body| Entry::line(body.clone())).collect();
        List { entries, shared: shared.then(String::new), tail: "the reason".to_owned(), ..List::default() }
    }

    #[test]
    fn pages_hold_every_entry_once_and_stay_within_the_limit() {
        let bodies: Vec<String> = (0..40).map(|number| format!("{number} {}.", "ä\"\n".repeat(number))).collect();
        for (max_chars, shared) in [(700, true), (1000, false), (5000, true), (100_000, false)] {
            let (mut seen, mut offset) = (0, 0);
            while offset < bodies.len() {
                let (text, range) = list(&bodies, shared).page(&PageArguments { max_chars, offset });
                assert!(text.chars().count() <= max_chars, "{max_chars}: {}", text.chars().count());
                assert!(range.start == seen && range.end > seen, "{range:?}");
                assert!(bodies[range.clone()].iter().all(|body| text.contains(body)), "{text}");
                let next = format!("call again with offset = {}.\n", range.end);
                assert_eq!(text.ends_with(&next), range.end < bodies.len(), "{text}");
                (seen, offset) = (range.end, range.end);
            }
        }
    }

    #[test]
    fn an_entry_that_exceeds_a_page_is_shortened_and_marked() {
        for shared in [true, false] {
            for body in ["ä".repeat(9000), "`".repeat(300) + &"\"\\\u{1}".repeat(9000)] {
                let bodies = [body, "second".to_owned()];
                let (text, range) = list(&bodies, shared).page(&PageArguments { max_chars: 1500, offset: 0 });
                assert!(text.contains(REST) && !text.contains("second") && range == (0..1), "{text}");
                assert!(text.chars().count() <= 1500, "{}", text.chars().count());
            }
        }
    }

    #[test]
    fn a_heading_stands_once_above_its_entries_on_each_page_and_warnings_are_limited_in_length_and_number() {
        let entry = |heading: &str, body: &str| Entry { heading: heading.to_owned(), ..Entry::line(body.to_owned()) };
        let entries = || vec![entry("a.rs\n", "1"), entry("a.rs\n", "2"), entry("b.rs\n", "3")];
        let list = || List { entries: entries(), shared: Some(String::new()), ..List::default() };
        let page = |offset| list().page(&PageArguments { max_chars: 1000, offset }).0;
        assert_eq!([page(0), page(1)], ["```\na.rs\n1\n2\nb.rs\n3\n```\n", "```\na.rs\n2\nb.rs\n3\n```\n"]);
        assert!(page(9).contains("Note: the offset 9 is beyond the end, which is 3\n"));
        let warnings = vec!["w".repeat(900); 9];
        let lines = warning_lines(&warnings, 1000);
        assert_eq!(lines.lines().count(), 2, "{lines}");
        assert!(lines.chars().count() <= 1000);
    }
}
