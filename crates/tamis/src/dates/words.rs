//! Moments in words: `yesterday`, `last week`, `march 3`.
//!
//! `interim` reads the words. It looks forward as calendars do: a friday is the coming one. Searches look back, so here a weekday
//! or a date without a year is the latest one, and a day begins at midnight.

use interim::{Dialect, parse_date_string};
use jiff::civil::Weekday;
use jiff::{Timestamp, ToSpan, Zoned};

/// Longest name of a day, a month or a unit that the parser accepts, in letters; `wednesday` has nine.
const LONGEST_NAME: usize = 15;

/// Reads a moment in words. `None`: the words do not name one.
pub(super) fn parse(text: &str, now: &Zoned) -> Option<Timestamp> {
    let words = normal(text)?;
    if words == "now" {
        return Some(now.timestamp());
    }
    let today = now.start_of_day().ok()?;
    if let Some(start) = period(&words, &today) {
        return start.ok()?.start_of_day().ok().map(|day| day.timestamp());
    }
    let found = parse_date_string(&words, today.clone(), Dialect::Us).ok()?;
    let found = match words.strip_prefix("last ") {
        Some(name) => before(found, name, &today)?,
        None if named(&words) && found > *now => latest(&words, &today, now)?,
        None => found,
    };
    Some(found.timestamp())
}

/// Normalizes a text: lower case, ordinals as numbers, and the day before the month if a year follows. `None`: the text has
/// characters that no such text has, among them the slash.
fn normal(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    if !lower.chars().all(|character| character.is_ascii_alphanumeric() || " ,.:-".contains(character)) {
        return None;
    }
    // The parser asserts that every name is shorter than this. No valid name is as long.
    if lower.split(|character: char| !character.is_ascii_alphabetic()).any(|name| name.len() > LONGEST_NAME) {
        return None;
    }
    let spaced = lower.replace(',', " ");
    let words: Vec<&str> =
        spaced.split_whitespace().filter(|word| !["the", "of"].contains(word)).map(cardinal).collect();
    let year = |word: &str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    Some(match words.as_slice() {
        [month, number] if is_month(month) && year(number) => format!("1 {month} {number}"),
        [month, day, number] if is_month(month) && year(number) => format!("{day} {month} {number}"),
        // A number alone is not a date, and standard forms have already been read.
        [only] if !only.starts_with(|first: char| first.is_ascii_alphabetic()) => return None,
        words => words.join(" "),
    })
}

/// Returns `3rd` as `3`.
fn cardinal(word: &str) -> &str {
    let ending = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending));
    ending.filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(word)
}

/// Returns the beginning of `this week`, `last month` and the like.
fn period(words: &str, today: &Zoned) -> Option<Result<Zoned, jiff::Error>> {
    let (which, unit) = words.split_once(' ')?;
    let back = match which {
        "this" => 0,
        "last" | "previous" | "past" => 1,
        _ => return None,
    };
    Some(match unit {
        "week" => {
            let since_monday = i64::from(today.weekday().since(Weekday::Monday));
            today.checked_sub((since_monday + 7 * back).days())
        }
        "month" => today.first_of_month().and_then(|first| first.checked_sub(back.months())),
        "year" => today.first_of_year().and_then(|first| first.checked_sub(back.years())),
        _ => return None,
    })
}

/// Returns `true` if the words are a bare weekday or month.
fn named(words: &str) -> bool {
    let mut words_of = words.split(' ');
    let first = words_of.next().unwrap_or_default();
    let second = words_of.next().unwrap_or_default();
    let with_year = words.split(' ').any(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()));
    is_weekday(first) || (!with_year && (is_month(first) || is_month(second)))
}

/// Returns the occurrence before the present one, since the last day or month of a name is never the present one.
fn before(found: Zoned, name: &str, today: &Zoned) -> Option<Zoned> {
    let first = name.split(' ').next().unwrap_or_default();
    let present = (found.year(), found.month()) == (today.year(), today.month());
    match () {
        () if is_weekday(first) && found >= *today => found.checked_sub(1.week()).ok(),
        () if named(name) && !is_weekday(first) && present => found.checked_sub(1.year()).ok(),
        () => Some(found),
    }
}

/// Returns the latest occurrence of a day, a month or a date up to now.
fn latest(words: &str, today: &Zoned, now: &Zoned) -> Option<Zoned> {
    let last = parse_date_string(&format!("last {words}"), today.clone(), Dialect::Us).ok()?;
    (last <= *now).then_some(last)
}

fn is_month(word: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ];
    word.len() >= 3 && MONTHS.iter().any(|month| month.starts_with(word))
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    word.len() >= 3 && DAYS.iter().any(|day| day.starts_with(word))
}
