//! Moments in standard forms: dates, times and durations.

use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp, Zoned};

/// Numbers that people write as words.
const NUMBERS: [(&str, &str); 13] = [
    ("a", "1"),
    ("an", "1"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twelve", "12"),
];

/// Reads a date, a time, or a duration before now. `None`: the text is something else, or a moment beyond the calendar.
pub(super) fn parse(text: &str, now: &Zoned) -> Option<Timestamp> {
    if let Some(span) = duration(text) {
        return now.checked_sub(span).ok().map(|then| then.timestamp());
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let local = day(text).map(|date| date.at(0, 0, 0, 0)).or_else(|| text.parse::<DateTime>().ok())?;
    local.to_zoned(now.time_zone().clone()).ok().map(|time| time.timestamp())
}

/// Reads a duration such as `7d`, `2 weeks`, `3 days ago`, `an hour ago` or `last 7 days`; never negative.
fn duration(text: &str) -> Option<Span> {
    if text.starts_with(['-', '+']) {
        return None;
    }
    let lower = text.to_lowercase();
    let mut words: Vec<&str> = lower.split(' ').collect();
    let counted = |word: Option<&&str>| word.is_some_and(|word| number(word).parse::<u32>().is_ok());
    if words.first() == Some(&"the") {
        words.remove(0);
    }
    // "last week" is a week of the calendar, "last 2 weeks" a length.
    if matches!(words.first(), Some(&"last" | &"past")) && counted(words.get(1)) {
        words.remove(0);
    }
    if words.len() > 1 {
        words[0] = number(words[0]);
    }
    let span = words.join(" ").parse::<Span>().ok()?;
    Some(span.abs())
}

/// Returns the digits that a word stands for, or the word.
fn number(word: &str) -> &str {
    NUMBERS.iter().find(|(name, _)| *name == word).map_or(word, |(_, digits)| digits)
}

/// Reads `2025-01-31`, or the first day of `2025-01` or `2025`.
fn day(text: &str) -> Option<Date> {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = match text.split_once('-') {
        None if digits(text, 4) => format!("{text}-01-01"),
        Some((year, month)) if digits(year, 4) && digits(month, 2) => format!("{text}-01"),
        // A time of day must not be ignored.
        _ if text.len() > "2025-01-31".len() => return None,
        _ => text.to_owned(),
    };
    whole.parse().ok()
}
