//! The time that an entry states for itself: `14:05`, `2026-11-22`, `2026-11-22 14:05`.

use jiff::civil::{Date, Time};

use crate::dates;

/// A day, a time of the day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) day: Option<Date>,
    pub(super) time: Option<Time>,
}

/// The stamp that a line begins with, after the mark of a list item or heading and any decoration around the stamp.
pub(super) fn stamp(line: &str) -> Option<Stamp> {
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
    use jiff::civil::{date, time};

    use super::*;

    #[test]
    fn finds_what_an_entry_begins_with() {
        let at = |hour, minute| Some(Stamp { day: None, time: Some(time(hour, minute, 0, 0)) });
        for line in [
            "- 14:05 text", "* **14:05** text", "14:05: text", "## 14:05", "- [x] 14:05 text", "1. [14:05] x",
            "- 2:05 pm x",
        ] {
            assert_eq!(stamp(line), at(14, 5), "{line}");
        }
        assert_eq!(stamp("- 9:30 – text"), at(9, 30));
        let day = date(2026, 11, 22);
        assert_eq!(
            stamp("- 2026-11-22 14:05 text"),
            Some(Stamp { day: Some(day), time: at(14, 5).and_then(|at| at.time) })
        );
        assert_eq!(stamp("## 2026-11-22: backups"), Some(Stamp { day: Some(day), time: None }));
    }

    #[test]
    fn other_numbers_are_no_stamps() {
        for line in [
            "- 10:5 on", "- 25:00", "- 14:60", "- 3 of 5", "- 14:05h30", "- at 14:05", "", "- 16:9x", "- 13:05 pm",
            "-", "- é14:05",
        ] {
            assert_eq!(stamp(line), None, "{line}");
        }
    }
}
