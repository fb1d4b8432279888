//! Counts, sizes and times in words, and other people's text made safe for a terminal.

use indicatif::{DecimalBytes, HumanCount};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use owo_colors::OwoColorize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;
use tamis_text::sanitize::for_terminal;

/// A whole number with separators.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A count with its noun: `1 file`, `2,048 files`, `3 queries`.
pub fn counted(number: u64, noun: &str) -> String {
    let noun = if number == 1 { Cow::Borrowed(noun) } else { Cow::Owned(plural(noun)) };
    format!("{} {noun}", count(number))
}

/// The lines of a passage: `6`, `6-9`.
pub fn line_range(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// The plural of a noun, or of several words that end with one.
fn plural(noun: &str) -> String {
    let before_y = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match before_y {
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with(['s', 'x', 'z']) || noun.ends_with("ch") || noun.ends_with("sh") => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

/// A size in decimal units.
pub fn bytes(number: u64) -> String {
    DecimalBytes(number).to_string()
}

/// A number with a useful count of digits.
pub fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.001 { format!("{value:.1e}") } else { format!("{value:.3}") }
}

/// A number, or a dash where it is missing.
pub fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), number)
}

/// A duration: in milliseconds below a second, else in seconds or minutes.
pub fn milliseconds(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.1} ms"),
        value if value < 1000.0 => format!("{value:.0} ms"),
        value if value < 60_000.0 => format!("{:.1} s", value / 1000.0),
        value => format!("{}:{:02} min", (value / 60_000.0) as u64, (value / 1000.0) as u64 % 60),
    }
}

/// The time since something happened, in its largest unit.
pub fn ago(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (number, unit) = match seconds {
        0..60 => return "just now".into(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{} ago", counted(number, unit))
}

/// Other people's text for a terminal: a character that would steer it, hide, or reorder the text shows as a sign.
pub fn visible(text: &str) -> Cow<'_, str> {
    for_terminal(text)
}

/// A name by other people, on one line: a newline in it must not pass for a line of this program.
pub fn label(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if shown.contains(['\n', '\t']) => Cow::Owned(shown.replace('\n', "␊").replace('\t', "␉")),
        shown => shown,
    }
}

/// A kind in words, followed by an author and a day.
pub fn origin_of(kind: String, author: Option<&str>, dated_at: Option<&str>) -> String {
    let mut words = kind;
    if let Some(author) = author {
        let _ = write!(words, " by {}", label(author));
    }
    if let Some(date) = dated_at {
        let _ = write!(words, ", {}", day(date, &TimeZone::system()));
    }
    words
}

/// The day of a date in a time zone. Midnight in UTC is a day without a time, as for `--since` and `--until`.
fn day(date: &str, zone: &TimeZone) -> String {
    match date.parse::<Timestamp>() {
        Ok(moment) if moment.as_second() % 86_400 != 0 => zone.to_datetime(moment).date().to_string(),
        _ => date.chars().take(10).collect(),
    }
}

/// One line of a snippet with the query's terms highlighted.
pub fn highlighted(snippet: &str, line: Range<usize>, highlights: &[Range<usize>]) -> String {
    let mut text = String::new();
    let mut at = line.start;
    for highlight in highlights {
        let (from, to) = (highlight.start.max(at), highlight.end.min(line.end));
        // A range that does not lie between characters is left plain.
        let (Some(before), Some(term)) = (snippet.get(at..from), snippet.get(from..to)) else { continue };
        if term.is_empty() {
            continue;
        }
        let _ = write!(text, "{}{}", visible(before), visible(term).red().bold());
        at = to;
    }
    text.push_str(&visible(&snippet[at..line.end]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_sizes_and_times_read_well_and_a_name_stays_on_its_line() {
        assert_eq!([counted(1, "file"), counted(20_480, "file")], ["1 file", "20,480 files"]);
        for case in [
            "query => 2 queries", "search => 2 searches", "match => 2 matches", "changed file => 2 changed files",
            "day => 2 days", "index => 2 indexes", "neutral edge => 2 neutral edges",
        ] {
            let (noun, several) = case.split_once(" => ").expect("two parts");
            assert_eq!(counted(2, noun), several);
        }
        assert_eq!([number(0.0), number(0.00012), number(12.34567)], ["0.000", "1.2e-4", "12.346"]);
        assert_eq!(maybe(None), "–");
        for (value, text) in [(0.42, "0.4 ms"), (48.6, "49 ms"), (2400.0, "2.4 s"), (125_000.0, "2:05 min")] {
            assert_eq!(milliseconds(value), text);
        }
        for (seconds, text) in [(3, "just now"), (60, "1 minute ago"), (7200, "2 hours ago"), (400_000, "4 days ago")] {
            assert_eq!(ago(Duration::from_secs(seconds)), text);
        }
        assert_eq!([label("docs/a b.md"), label("a\nb\u{1b}[2J")], ["docs/a b.md", "a␊b␛[2J"]);
        let east = TimeZone::fixed(jiff::tz::offset(2));
        let days = ["2023-07-07T22:30:00Z", "2023-07-07T00:00:00Z", "soon"].map(|date| day(date, &east));
        assert_eq!(days, ["2023-07-08", "2023-07-07", "soon"]);
    }
}
