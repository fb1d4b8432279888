//! A session as a document: windows of whole turns.

use std::ops::Range;

use jiff::tz::TimeZone;

use super::{Conversation, ConversationOptions, Turn};
use crate::document::{Document, MIN_TOKENS, Passage};
use crate::languages::Category;
use crate::lines::Lines;
use crate::pack::{Piece, pack};
use crate::{Kind, Role, by_lines, dates};

/// The attribute that names the participants.
const SPEAKER: &str = "speaker";

/// At most this many speakers of one session.
const MAX_SPEAKERS: usize = 50;

impl Conversation {
    /// The path of a session of this name in a store: `session:NAME`.
    #[must_use]
    pub fn path(name: &str) -> String {
        format!("session:{name}")
    }

    /// The session as people read it: each turn as `Speaker (2026-11-22 14:05): text`, a blank line between two.
    #[must_use]
    pub fn rendered(&self, zone: &TimeZone) -> String {
        let turns: Vec<String> = self.turns.iter().map(|turn| turn.rendered(zone)).collect();
        turns.join("\n\n")
    }

    /// The lines of each turn in [`Conversation::rendered`], counted from 1, the last one inclusive. They are the same in
    /// every time zone.
    #[must_use]
    pub fn turn_lines(&self) -> Vec<(u32, u32)> {
        let mut next = 1_u32;
        let lines = self.turns.iter().map(|turn| {
            let more = u32::try_from(turn.rendered(&TimeZone::UTC).matches('\n').count()).unwrap_or(u32::MAX);
            let (first, last) = (next, next.saturating_add(more));
            next = last.saturating_add(2);
            (first, last)
        });
        lines.collect()
    }

    /// The turns on these lines of [`Conversation::rendered`], for finding the turns of a passage of the document and
    /// of its neighbours.
    #[must_use]
    pub fn turns_at(&self, start_line: u32, end_line: u32) -> Range<usize> {
        let lines = self.turn_lines();
        let first = lines.partition_point(|(_, last)| *last < start_line);
        let end = lines.partition_point(|(first, _)| *first <= end_line);
        first..end.max(first)
    }

    /// The session as a document. A passage holds as many whole turns as fit, and begins with the last turn of the one
    /// before if it fits. A turn that is too long is divided and does not share its passages.
    ///
    /// Passages are of kind [`Kind::Turns`] and dated as their last turn; `part` numbers the windows, which the pieces
    /// of a long turn share. The author is set if all turns have the same one. The attribute `speaker` lists the
    /// participants.
    #[must_use]
    pub fn document(&self, options: &ConversationOptions) -> Document {
        let rendered = self.rendered(&options.time_zone);
        let lines = Lines::new(&rendered);
        let rows: Vec<(usize, usize)> =
            self.turn_lines().iter().map(|(first, last)| (*first as usize - 1, *last as usize - 1)).collect();
        let max_tokens = options.max_tokens.max(MIN_TOKENS);
        let mut passages = Vec::new();
        for (part, window) in windows(&lines, &rows, max_tokens).into_iter().enumerate() {
            let (Some((first, _)), Some((_, last))) = (rows.get(window.start), rows.get(window.end - 1)) else {
                continue;
            };
            let pieces = if lines.tokens(*first, *last) > max_tokens {
                pack(&lines, (*first, *last), lines.token_sums(), max_tokens, |row| by_lines::badness(&lines, row))
            } else {
                lines.trim(*first, *last).map(|(first, last)| Piece { first, last, part: None }).into_iter().collect()
            };
            let turns = &self.turns[window];
            let speaker = turns.first().and_then(|turn| turn.speaker.clone());
            let author = speaker.filter(|one| turns.iter().all(|turn| turn.speaker.as_ref() == Some(one)));
            let dated_ns = turns.iter().rev().find_map(|turn| turn.time).and_then(dates::nanoseconds);
            passages.extend(pieces.iter().map(|piece| Passage {
                heading: self.title.clone(),
                author: author.clone(),
                dated_ns,
                part: Some(u32::try_from(part).unwrap_or(u32::MAX)),
                ..piece.passage(&lines, Kind::Turns, Role::Main)
            }));
        }
        let speakers = self.speakers();
        Document {
            language: None,
            category: Category::Prose,
            role: Role::Main,
            title: Some(self.title.clone().unwrap_or_else(|| self.described(&speakers, &options.time_zone))),
            severity: None,
            dated_ns: self.turns.iter().filter_map(|turn| turn.time).max().and_then(dates::nanoseconds),
            attributes: speakers.iter().map(|speaker| (SPEAKER.to_owned(), (*speaker).to_owned())).collect(),
            notes: Vec::new(),
            passages,
        }
    }

    /// The participants, in the order of their first turns.
    fn speakers(&self) -> Vec<&str> {
        let mut speakers: Vec<&str> = Vec::new();
        for speaker in self.turns.iter().filter_map(|turn| turn.speaker.as_deref()) {
            if speakers.len() < MAX_SPEAKERS && !speakers.contains(&speaker) {
                speakers.push(speaker);
            }
        }
        speakers
    }

    /// `Ann, Ben, 2026-11-22 14:05`, for a session without a title.
    fn described(&self, speakers: &[&str], zone: &TimeZone) -> String {
        let when = self.turns.iter().find_map(|turn| turn.time).map(|time| clock(time, zone));
        let parts: Vec<&str> = speakers.iter().take(4).copied().chain(when.as_deref()).collect();
        if parts.is_empty() { self.name.clone() } else { parts.join(", ") }
    }
}

impl Turn {
    /// `Speaker (2026-11-22 14:05): text`, as far as these are known.
    fn rendered(&self, zone: &TimeZone) -> String {
        let text = self.text.replace("\r\n", "\n");
        let text = text.trim_end().trim_start_matches('\n');
        let speaker = self.speaker.as_deref().map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
        match (speaker.filter(|name| !name.is_empty()), self.time.map(|time| clock(time, zone))) {
            (Some(speaker), Some(time)) => format!("{speaker} ({time}): {text}"),
            (Some(speaker), None) => format!("{speaker}: {text}"),
            (None, Some(time)) => format!("({time}): {text}"),
            (None, None) => text.to_owned(),
        }
    }
}

/// The time on a clock in `zone`, to the minute.
fn clock(time: jiff::Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Windows of turns that fit. Each begins with the last turn of the one before, if the next turn fits beside it.
fn windows(lines: &Lines<'_>, rows: &[(usize, usize)], max_tokens: usize) -> Vec<Range<usize>> {
    let cost = |turn: usize| rows.get(turn).map_or(0, |(first, last)| lines.tokens(*first, *last));
    let mut windows = Vec::new();
    let mut start = 0;
    while start < rows.len() {
        let mut end = start + 1;
        let mut total = cost(start);
        while end < rows.len() && total + cost(end) <= max_tokens {
            total += cost(end);
            end += 1;
        }
        windows.push(start..end);
        let shares = end - start > 1 && end < rows.len() && cost(end - 1) + cost(end) <= max_tokens;
        start = if shares { end - 1 } else { end };
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(turns: &[(&str, &str)]) -> Conversation {
        let turns = turns.iter().zip(0..).map(|((speaker, text), minute)| Turn {
            time: jiff::Timestamp::from_second(1_795_348_800 + minute * 60).ok(),
            speaker: Some((*speaker).to_owned()),
            text: (*text).to_owned(),
        });
        Conversation { name: "s".to_owned(), title: None, turns: turns.collect() }
    }

    #[test]
    fn windows_hold_whole_turns_and_share_one() {
        let words = "one two three four";
        let session = session(&[("Ann", words), ("Ben", words), ("Ann", words), ("Ben", words), ("Ben", words)]);
        let document = session.document(&ConversationOptions { max_tokens: 36, ..ConversationOptions::default() });
        let texts: Vec<_> =
            document.passages.iter().map(|passage| (passage.start_line, passage.end_line, passage.part)).collect();
        assert_eq!(texts, [(1, 3, Some(0)), (3, 5, Some(1)), (5, 7, Some(2)), (7, 9, Some(3))]);
        assert_eq!(
            document.passages[0].text,
            "Ann (2026-11-22 12:00): one two three four\n\nBen (2026-11-22 12:01): one two three four"
        );
        let authors: Vec<_> = document.passages.iter().map(|passage| passage.author.as_deref()).collect();
        assert_eq!(authors, [None, None, None, Some("Ben")]);
        assert_eq!(document.title.as_deref(), Some("Ann, Ben, 2026-11-22 12:00"));
        assert_eq!(session.turns_at(3, 5), 1..3);
        assert_eq!(session.turns_at(99, 99), 5..5);
    }

    #[test]
    fn a_huge_turn_is_divided_and_keeps_its_number() {
        let huge = "A sentence of six short words. ".repeat(40);
        let session = session(&[("Ann", "Short."), ("Ben", &huge), ("Ann", "Thanks.")]);
        let document = session.document(&ConversationOptions { max_tokens: 40, ..ConversationOptions::default() });
        let of_ben = document.passages.iter().filter(|passage| passage.author.as_deref() == Some("Ben"));
        assert!(of_ben.clone().count() > 5 && of_ben.clone().all(|passage| passage.part == Some(1)));
        assert_eq!(document.passages.last().map(|passage| passage.part), Some(Some(2)));
    }
}
