//! Compares what a command printed with what the page shows.
//!
//! What differs from run to run is left open: identifiers of queries, durations, sizes, times of the day and the date of today. A
//! percentage may be one more or less, a number of two decimals .02 and one of three .01, since processors round the sums of an encoder
//! differently. An identifier or a date that the page shows stands for the one that was printed, also in the commands that follow. `…`
//! stands for any text, a line of nothing but `…` or `...` for any lines, and a page may break a long line at a space.

use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The most lines into which a page breaks one.
const BROKEN: usize = 8;

/// The parts of a shown line that stand for others.
static OPEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?P<query>(?:\[query |"query_id": ?"|"id":")(?P<id>[0-9a-z]{8})\b)"#,
        r"|(?P<date>\b\d{4}-\d\d-\d\d)(?P<time>[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?",
        r"|(?P<clock>\b\d\d:\d\d\b)",
        r"|(?P<duration>\b\d[\d,.]* (?:µs|ms|s|min)\b)",
        r"|(?P<rate>\b\d[\d,]* a second\b)",
        r"|(?P<size>\b\d[\d,.]* (?:bytes|[kMG]?B)\b)",
        r"|(?P<percent>\b\d{1,2})%",
        r"|(?P<digest>(?:\btamis_)?[0-9a-f]{64}\b)",
        r"|(?P<long>\b\d+\.\d{3})\d{3,}",
        r"|(?P<decimal>\b\d+\.\d{2,3})\b",
        r"|(?P<any>…)",
    ))
    .expect("a regular expression")
});

/// What stands for what in the rest of a page.
#[derive(Clone, Debug, Default)]
pub struct Aliases {
    shown_to_printed: BTreeMap<String, String>,
}

impl Aliases {
    /// Returns a command with what was printed in the place of what the page shows.
    pub fn apply(&self, command: &str) -> String {
        self.shown_to_printed.iter().fold(command.to_owned(), |text, (shown, printed)| text.replace(shown, printed))
    }

    /// Compares lines. Learns aliases from lines that are equal.
    pub fn equal(&mut self, shown: &[String], printed: &[String], today: &str) -> bool {
        let Some((line, shown)) = shown.split_first() else { return printed.is_empty() };
        if matches!(line.trim(), "…" | "...") {
            return (0..=printed.len()).any(|skipped| self.equal(shown, &printed[skipped..], today));
        }
        let Some((actual, printed)) = printed.split_first() else { return false };
        let mut joined = line.clone();
        for more in 0..BROKEN.min(shown.len() + 1) {
            if more > 0 {
                joined = format!("{} {}", joined.trim_end(), shown[more - 1].trim_start());
            }
            if let Some(learnt) = self.line(&joined, actual, today) {
                let before = self.shown_to_printed.clone();
                self.shown_to_printed.extend(learnt);
                if self.equal(&shown[more..], printed, today) {
                    return true;
                }
                self.shown_to_printed = before;
            }
        }
        false
    }

    /// Names the searches of lines that differ as the page does, so that its later commands still mean them.
    pub fn keep_queries(&mut self, shown: &[String], printed: &mut [String]) {
        let ids = |lines: &[String]| -> Vec<String> {
            let parts = lines.iter().flat_map(|line| OPEN.captures_iter(line));
            parts.filter_map(|part| Some(part.name("id")?.as_str().to_owned())).collect()
        };
        for (shown, id) in ids(shown).into_iter().zip(ids(printed)) {
            printed.iter_mut().for_each(|line| *line = line.replace(&id, &shown));
            self.shown_to_printed.insert(shown, id);
        }
    }

    /// Compares one line. Returns the aliases that follow from it if it is equal.
    fn line(&self, shown: &str, printed: &str, today: &str) -> Option<Vec<(String, String)>> {
        let mut pattern = String::from("^");
        let mut captured = Vec::new();
        let mut end = 0;
        for part in OPEN.captures_iter(shown) {
            let whole = part.get(0).expect("the whole");
            pattern += &regex::escape(&shown[end..whole.start()]);
            pattern += &self.open(&part, today, &mut captured);
            end = whole.end();
        }
        pattern += &regex::escape(shown[end..].trim_end());
        pattern += r"\s*$";
        let found = Regex::new(&pattern).expect("escaped").captures(printed)?;
        let groups = found.iter().skip(1).zip(captured);
        let learnt: Vec<_> = groups.filter_map(|(group, shown)| group.map(|it| (shown, it.as_str().into()))).collect();
        // A day or a search has one name on a page.
        let is_new = |(shown, printed): &(String, String)| {
            self.shown_to_printed.iter().all(|(other, same)| other == shown || same != printed)
        };
        learnt.iter().all(is_new).then_some(learnt)
    }

    /// The pattern for an open part. A group of the pattern is captured for the text pushed to `captured`.
    fn open(&self, part: &Captures<'_>, today: &str, captured: &mut Vec<String>) -> String {
        let text = |name| part.name(name).map(|part| part.as_str());
        if let (Some(query), Some(id)) = (text("query"), text("id")) {
            captured.push(id.to_owned());
            return format!("{}([0-9a-z]{{8}})", regex::escape(query.trim_end_matches(id)));
        }
        if let Some(date) = text("date") {
            let time = text("time").map_or(String::new(), |time| {
                let digits = Regex::new(r"\d+").expect("a regular expression");
                digits.replace_all(&regex::escape(time), r"\d+").into_owned()
            });
            if let Some(printed) = self.shown_to_printed.get(date) {
                return format!("{}{time}", regex::escape(printed));
            }
            captured.push(date.to_owned());
            return format!("({date}|{today}){time}");
        }
        if let Some(percent) = text("percent").and_then(|digits| digits.parse::<u32>().ok()) {
            return format!("(?:{}|{percent}|{})%", percent.saturating_sub(1), percent + 1);
        }
        if let Some((whole, fraction)) = text("decimal").and_then(|decimal| decimal.split_once('.')) {
            let unit = 10_u64.pow(fraction.len() as u32);
            let value = format!("{whole}{fraction}").parse::<u64>().expect("digits");
            let room = if fraction.len() == 2 { 2 } else { 10 };
            let near = (value.saturating_sub(room)..=value + room)
                .map(|value| format!(r"{}\.{:02$}", value / unit, value % unit, fraction.len()));
            return format!("(?:{})", near.collect::<Vec<_>>().join("|"));
        }
        match (text("long"), text("duration").or(text("rate")).or(text("size"))) {
            (Some(long), _) => format!(r"{}\d*", regex::escape(&long[..long.len() - 1])),
            (None, Some(measured)) => {
                let unit = measured.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',' || c == '.');
                match text("rate") {
                    Some(_) => format!(r"[\d,.]+{unit}"),
                    None => r"[\d,.]+ (?:µs|ms|s|min|bytes|[kMG]?B)".to_owned(),
                }
            }
            (None, None) if text("clock").is_some() => r"\d\d:\d\d".to_owned(),
            (None, None) if text("digest").is_some() => "(?:tamis_)?[0-9a-f]{64}".to_owned(),
            (None, None) => ".*".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(shown: &str, printed: &str) -> bool {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        Aliases::default().equal(&lines(shown), &lines(printed), "2030-01-02")
    }

    #[test]
    fn what_differs_from_run_to_run_is_left_open() {
        assert!(equal("a; 3 passages in 9.4 s [query abcdefgh]", "a; 3 passages in 12 ms [query 12345678]"));
        assert!(!equal("a; 3 passages in 9.4 s", "a; 4 passages in 9.4 s"));
        assert!(equal("memory/2026-11-23.md:3", "memory/2030-01-02.md:3") && equal("2026-11-23", "2026-11-23"));
        assert!(!equal("2026-11-23", "2026-11-24") && !equal("0.85", "0.88"));
        assert!(equal("0.66097086667", "0.66091") && !equal("0.66097086667", "0.672"));
        assert!(equal("0.99", "1.01") && equal("12.001", "11.999") && !equal("0.99", "0.999"));
        assert!(equal("(69%)", "(70%)") && !equal("(69%)", "(67%)"));
        assert!(equal("a\n…\nd", "a\nb\nc\nd") && equal("a …", "a b c") && equal("a\n…", "a"));
    }

    #[test]
    fn lines_may_be_left_out_and_broken() {
        assert!(equal("one\n  two\nthree", "one two\nthree") && !equal("one\ntwo", "one\ntwo\nthree"));
    }

    #[test]
    fn what_was_printed_stands_for_what_is_shown() {
        let mut aliases = Aliases::default();
        let (query, memory) = ("[query abcdefgh] 2026-11-23".into(), "[query 12345678] 2030-01-02".into());
        assert!(aliases.equal(&[query], &[memory], "2030-01-02"));
        assert!(!aliases.equal(&["2026-11-24".into()], &["2030-01-02".into()], "2030-01-02"), "another day");
        let judged = aliases.apply("tamis feedback abcdefgh memory/2026-11-23.md");
        assert_eq!(judged, "tamis feedback 12345678 memory/2030-01-02.md");
    }
}
