//! Dates as people and programs write them: in front matter, in file names, in logs.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::lines::file_name;

/// Front matter keys that say when a text was written or last changed.
pub const KEYS: &str = "\
    date created created_at published updated updated_at lastmod last_updated last_modified_at modified";

/// Further forms of a date with a time and an offset.
const FORMATS: &[&str] = &["%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S%.f %z", "%Y-%m-%d %H:%M %z"];

/// Parses a moment as RFC 3339 (also with a space instead of the `T`, and a space before the offset), `YYYY-MM-DD
/// HH:MM`, `YYYY-MM-DD` or `YYYY/MM/DD`. Without an offset it is in `zone`; a day is its first moment.
pub fn parse(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    if let Some(zoned) = FORMATS.iter().find_map(|format| Zoned::strptime(format, text).ok()) {
        return Some(zoned.timestamp());
    }
    let civil = match text.parse::<DateTime>() {
        Ok(civil) => civil,
        Err(_) => day(&text.replace('/', "-"))?.to_datetime(jiff::civil::Time::midnight()),
    };
    at(civil, zone)
}

/// `YYYY-MM-DD`, and nothing else.
pub fn day(text: &str) -> Option<Date> {
    let is_placed = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.parse().ok().filter(|_| text.len() == 10 && text.bytes().enumerate().all(is_placed))
}

/// The day that the name of a file begins with: `2026-11-22.md`, `2026-11-22-topic.md`, `2026_11_22.md`.
pub fn day_of_name(path: &str) -> Option<Date> {
    day(&in_name(path)?.replace('_', "-"))
}

/// The beginning of a file's name, if it is written as a day, be it a possible one or not.
pub fn in_name(path: &str) -> Option<&str> {
    let name = file_name(path);
    let head = name.get(..10).filter(|_| !name[10..].starts_with(|next: char| next.is_alphanumeric()))?;
    let is_placed = |(at, byte): (usize, u8)| match at {
        4 | 7 => matches!(byte, b'-' | b'_'),
        _ => byte.is_ascii_digit(),
    };
    head.bytes().enumerate().all(is_placed).then_some(head)
}

/// The first moment of a day in `zone`.
pub fn midnight(day: Date, zone: &TimeZone) -> Option<Timestamp> {
    at(day.to_datetime(Time::midnight()), zone)
}

/// The moment when a clock in `zone` shows `civil`.
pub fn at(civil: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    zone.to_ambiguous_timestamp(civil).compatible().ok()
}

/// Nanoseconds since 1970, if they fit: from 1677 to 2262.
pub fn nanoseconds(moment: Timestamp) -> Option<i64> {
    i64::try_from(moment.as_nanosecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> Option<String> {
        parse(text, &TimeZone::UTC).map(|moment| moment.to_string())
    }

    #[test]
    fn reads_what_people_and_programs_write() {
        for (text, expected) in [
            ("2026-11-22", "2026-11-22T00:00:00Z"),
            ("2026/11/22", "2026-11-22T00:00:00Z"),
            ("2026-11-22 14:05", "2026-11-22T14:05:00Z"),
            ("2026-11-22T14:05:30", "2026-11-22T14:05:30Z"),
            ("2026-11-22T14:05:30Z", "2026-11-22T14:05:30Z"),
            (" 2026-11-22T14:05:30+02:00 ", "2026-11-22T12:05:30Z"),
            ("2026-11-22 14:05:30 +0200", "2026-11-22T12:05:30Z"),
            ("2026-11-22 14:05 +0200", "2026-11-22T12:05:00Z"),
        ] {
            assert_eq!(utc(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in ["", "soon", "2026-02-30", "2026-13-01", "20261122", "2026-11-2x", "+026-11-22", "1.5.2026"] {
            assert_eq!(day(text), None, "{text}");
        }
        for text in ["", "soon", "2026-02-30", "2026-11-22 25:00"] {
            assert_eq!(utc(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_begins_where_its_writer_is() {
        let zone = TimeZone::fixed(jiff::tz::offset(-5));
        let moment = parse("2026-11-22", &zone).map(|moment| moment.to_string());
        assert_eq!(moment.as_deref(), Some("2026-11-22T05:00:00Z"));
    }

    #[test]
    fn far_dates_have_no_nanoseconds() {
        assert_eq!(parse("9000-01-01", &TimeZone::UTC).and_then(nanoseconds), None);
        assert_eq!(parse("1970-01-01", &TimeZone::UTC).and_then(nanoseconds), Some(0));
    }
}
