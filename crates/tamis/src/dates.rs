//! Dates and times as people write them: `2025-01-31`, `7d`, `yesterday`, `since monday`.
//!
//! Every interface reads dates here, so a flag, a tool's argument and a query string mean the same moment. Standard forms
//! are read first and never guessed; the rest is read as words.

use std::time::SystemTime;

use interim::{Dialect, parse_date_string};
use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};
use thiserror::Error;

/// Returns the present. A clock beyond the calendar, which ends with the year 9999, stands at its end.
///
/// ```
/// assert!(tamis::dates::present() <= tamis::dates::present());
/// ```
pub fn present() -> Timestamp {
    at_clock(SystemTime::now())
}

/// Returns the present in the system's time zone.
pub fn now() -> Zoned {
    present().to_zoned(TimeZone::system())
}

/// Returns the present in nanoseconds since 1970, as far as they can be counted.
pub(crate) fn present_ns() -> i64 {
    i64::try_from(present().as_nanosecond()).unwrap_or(i64::MAX)
}

/// A moment of the system's clock, within the calendar.
fn at_clock(time: SystemTime) -> Timestamp {
    let end = if time < SystemTime::UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(end)
}

/// The error for a text that does not name a moment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a date or time; write a date (2026-11-01, 2026-11), a date and time (2026-11-01T08:30), how long ago (7d, \
     2 weeks, 3 days ago), or words (yesterday, monday, last week, march 3)"
)]
#[non_exhaustive]
pub struct DateError {
    /// The text.
    pub text: String,
}

/// Returns the moment that a text names, seen from `now`, whose time zone is the writer's.
///
/// | text | moment |
/// | --- | --- |
/// | `2025-01-31`, `2025-01`, `2025` | its first instant |
/// | `2025-01-31T08:30`, `2025-01-31 08:30:15` | that time where the writer is |
/// | `2025-01-31T08:30Z`, `…+02:00` | that time anywhere |
/// | `7d`, `12h`, `2 weeks`, `1mo`, `3 days ago`, `last 7 days` | that long before now, with the calendar's months and days |
/// | `today`, `yesterday`, `monday`, `last monday` | its first instant; a weekday is the latest one, today included |
/// | `this week`, `last week`, `last month`, `last year` | where it began; a week begins on monday |
/// | `march`, `march 3`, `3 march 2024`, `March 3rd, 2024` | its first instant; without a year the latest one |
/// | `yesterday 8pm`, `monday 9:30` | that time of the day |
///
/// A leading word such as `since`, `after` or `before` is ignored. Dates with slashes are refused, since 3/4 can be two days.
///
/// # Errors
/// The text does not name a moment, or names one beyond the calendar.
///
/// ```
/// let now = "2026-11-22T12:00:00+01:00[Europe/Berlin]".parse()?;
/// assert_eq!(tamis::dates::moment("since monday", &now)?.to_string(), "2026-11-15T23:00:00Z");
/// assert_eq!(tamis::dates::moment("7d", &now)?.to_string(), "2026-11-15T11:00:00Z");
/// assert!(tamis::dates::moment("soon", &now).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn moment(text: &str, now: &Zoned) -> Result<Timestamp, DateError> {
    let words = plain(text);
    let read = parse_exact(&words, now).or_else(|| parse_words(&words, now));
    read.ok_or_else(|| DateError { text: text.trim().to_owned() })
}

/// Leading words that say how a moment is meant, which the caller already knows.
const LEADING: [&str; 7] = ["since", "from", "after", "until", "till", "before", "on"];

/// Returns the text with single spaces, without spaces around it and without a leading word.
fn plain(text: &str) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > 1 && LEADING.iter().any(|leading| words[0].eq_ignore_ascii_case(leading)) {
        words.remove(0);
    }
    words.join(" ")
}

// Moments in standard forms: dates, times and durations.

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
pub(crate) fn parse_exact(text: &str, now: &Zoned) -> Option<Timestamp> {
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

// Moments in words: `yesterday`, `last week`, `march 3`.
//
// `interim` reads the words. It looks forward as calendars do: a friday is the coming one. Searches look back, so here a weekday
// or a date without a year is the latest one, and a day begins at midnight.

/// Longest name of a day, a month or a unit that the parser accepts, in letters; `wednesday` has nine.
const LONGEST_NAME: usize = 15;

/// Reads a moment in words. `None`: the words do not name one.
pub(crate) fn parse_words(text: &str, now: &Zoned) -> Option<Timestamp> {
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
        None if is_named_day(&words) && found > *now => latest(&words, &today, now)?,
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
    // The parser takes any word that begins so for yesterday.
    if lower.split(' ').any(|word| word.starts_with("yester") && word.trim_end_matches([',', '.']) != "yesterday") {
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
fn is_named_day(words: &str) -> bool {
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
        () if is_named_day(name) && !is_weekday(first) && present => found.checked_sub(1.year()).ok(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a Sunday, a few weeks after the clocks were put back.
    fn now() -> Zoned {
        "2026-11-22T12:00:00+01:00[Europe/Berlin]".parse().expect("a time")
    }

    fn at(text: &str) -> String {
        moment(text, &now()).unwrap_or_else(|error| panic!("{error}")).to_zoned(now().time_zone().clone()).to_string()
    }

    /// Returns the date and the time of day in Berlin.
    fn local(text: &str) -> String {
        at(text).split(['+', '[']).next().unwrap_or_default().to_owned()
    }

    /// Each text is read as what stands behind it, to the minute.
    fn read_as(cases: &[&str]) {
        for case in cases {
            let (text, time) = case.split_once(" = ").expect("a time");
            assert_eq!(local(text), format!("{time}:00"), "{text}");
        }
    }

    #[test]
    fn a_clock_beyond_the_calendar_stands_at_its_end() {
        let year = std::time::Duration::from_secs(366 * 86_400);
        for (time, expected) in [
            (SystemTime::UNIX_EPOCH, Timestamp::UNIX_EPOCH),
            (SystemTime::UNIX_EPOCH + year * 9000, Timestamp::MAX),
            (SystemTime::UNIX_EPOCH - year * 13_000, Timestamp::MIN),
        ] {
            let at = at_clock(time);
            assert_eq!(at, expected);
            // Whoever asks for dates at such a time gets one or an error.
            for zone in [TimeZone::UTC, TimeZone::fixed(jiff::tz::offset(14)), TimeZone::fixed(jiff::tz::offset(-12))] {
                let now = at.to_zoned(zone);
                for text in ["now", "tomorrow", "7d", "last month", "march 3", "2026", "monday", "99999999d"] {
                    let _ = moment(text, &now);
                }
            }
        }
    }

    #[test]
    fn what_is_written_out_and_how_long_ago() {
        assert_eq!(at("2026-11-01"), "2026-11-01T00:00:00+01:00[Europe/Berlin]");
        assert_eq!(at("2026-07"), "2026-07-01T00:00:00+02:00[Europe/Berlin]");
        assert_eq!(at("2025"), "2025-01-01T00:00:00+01:00[Europe/Berlin]");
        assert_eq!(local("2026-11-01T08:30"), "2026-11-01T08:30:00");
        assert_eq!(local("2026-11-01 08:30:15"), "2026-11-01T08:30:15");
        assert_eq!(local("2026-11-01T08:30Z"), "2026-11-01T09:30:00");
        assert_eq!(local("2026-11-01T08:30:00-05:00"), "2026-11-01T14:30:00");
        assert_eq!(local("  after 2026-11-01 "), "2026-11-01T00:00:00");
        read_as(&[
            "7d = 2026-11-15T12:00", "90m = 2026-11-22T10:30", "2 weeks = 2026-11-08T12:00",
            "3 days ago = 2026-11-19T12:00", "an hour ago = 2026-11-22T11:00", "two weeks ago = 2026-11-08T12:00",
            "last 7 days = 2026-11-15T12:00", "the past 3 months = 2026-08-22T12:00",
        ]);
        // A month is a calendar month: the clocks were put back in between.
        assert_eq!(at("1mo"), "2026-10-22T12:00:00+02:00[Europe/Berlin]");
    }

    #[test]
    fn days_and_months_by_name_and_where_weeks_months_and_years_begin() {
        read_as(&[
            "today = 2026-11-22T00:00", "Yesterday = 2026-11-21T00:00", "yesterday 8pm = 2026-11-21T20:00",
            "now = 2026-11-22T12:00", "tomorrow = 2026-11-23T00:00", "monday = 2026-11-16T00:00",
            "since monday = 2026-11-16T00:00", "last monday = 2026-11-16T00:00", "Fri = 2026-11-20T00:00",
            "monday 9:30 = 2026-11-16T09:30", "sunday = 2026-11-22T00:00", "last sunday = 2026-11-15T00:00",
            "last sunday 10am = 2026-11-15T10:00", "last saturday = 2026-11-21T00:00",
        ]);
        read_as(&[
            "this week = 2026-11-16T00:00", "last week = 2026-11-09T00:00", "this month = 2026-11-01T00:00",
            "last month = 2026-10-01T00:00", "last year = 2025-01-01T00:00", "this year = 2026-01-01T00:00",
        ]);
        let march: Zoned = "2026-03-31T12:00:00+02:00[Europe/Berlin]".parse().expect("a time");
        let found = moment("last month", &march).expect("february has no 31st");
        assert_eq!(found.to_string(), "2026-01-31T23:00:00Z");
        read_as(&[
            "march = 2026-03-01T00:00", "march 3 = 2026-03-03T00:00", "3 march = 2026-03-03T00:00",
            "december = 2025-12-01T00:00", "dec 24 = 2025-12-24T00:00", "24th of December = 2025-12-24T00:00",
            "November 22 = 2026-11-22T00:00", "March 2024 = 2024-03-01T00:00", "3 march 2024 = 2024-03-03T00:00",
            "march 3 2024 = 2024-03-03T00:00", "March 3rd, 2024 = 2024-03-03T00:00", "last march = 2026-03-01T00:00",
            "last november = 2025-11-01T00:00",
        ]);
    }

    #[test]
    fn trap_what_is_no_moment_is_told_what_is_and_a_long_word_is_no_panic() {
        for wrong in [
            "", " ", "soon", "-7d", "2026-13-01", "2026-02-30", "7", "3/4/2025", "since", "february 30", "99999 years",
            "19998 years", "monday mondayish", "yesteryear", "since yesterdays", "the", "2026-1", "next", "last",
            "märz 3", "3 days ago ago", "0x10",
        ] {
            let error = moment(wrong, &now()).expect_err(wrong);
            assert_eq!(error.text, wrong.trim());
            assert!(error.to_string().contains("3 days ago"), "{error}");
        }
        for letters in 1..40 {
            let word = "y".repeat(letters);
            for text in [format!("friday3{word}"), format!("friday 3 {word}"), format!("last march 3 3:{word}")] {
                assert!(moment(&text, &now()).is_err(), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = moment(&text, &now());
        }

        #[test]
        fn no_words_panic(words in proptest::collection::vec(
            prop_oneof![
                Just("last".to_owned()), Just("next".into()), Just("this".into()), Just("march".into()), Just("feb".into()),
                Just("friday".into()), Just("week".into()), Just("years".into()), Just("ago".into()), Just("yesterday".into()),
                Just(",".into()), Just("of".into()), Just("3rd".into()), Just("8pm".into()), Just("-".into()), Just(":".into()),
                (0u32..100_000).prop_map(|number| number.to_string()),
            ], 0..6), joined in any::<bool>()) {
            let _ = moment(&words.join(if joined { "" } else { " " }), &now());
        }

        #[test]
        fn days_and_durations_are_read_back(year in 1700i16..2200, month in 1i8..=12, day in 1i8..=28, days in 0u32..3000) {
            let date = jiff::civil::date(year, month, day);
            let midnight = date.to_zoned(now().time_zone().clone()).expect("in the calendar");
            prop_assert_eq!(moment(&date.to_string(), &now()), Ok(midnight.timestamp()));
            let written = date.strftime("%-d %B %Y").to_string();
            prop_assert_eq!(moment(&written, &now()), Ok(midnight.timestamp()));
            prop_assert_eq!(moment(&format!("{days}d"), &now()), moment(&format!("{days} days ago"), &now()));
        }
    }
}
