//! Turns to sessions, and a session to a document of whole turns.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::fields::{Form, Said};
use super::{Conversation, ConversationOptions, Turn};
use crate::divide::pack;
use crate::document::{Document, MIN_TOKENS, OwnProperties, Passage};
use crate::languages::Category;
use crate::lines::{Lines, clamp, one_line};
use crate::prose::Prose;
use crate::{Kind, Role, dates, divide};

/// Sessions under construction.
#[derive(Default)]
pub struct Sessions {
    sessions: Vec<Session>,
    by_id: HashMap<String, usize>,
    seen: HashSet<(usize, Timestamp, [u8; 32])>,
    /// Turns of logs that hold each in two forms: how many of the first form wait for their second, negative for the reverse.
    pairs: HashMap<(usize, [u8; 32]), i64>,
    /// The places of turns by the names of their records.
    by_record: HashMap<(usize, String, Option<Timestamp>), usize>,
    pub repeated: usize,
}

/// One session, or all turns without a session.
struct Session {
    id: Option<String>,
    title: Option<String>,
    turns: Vec<Turn>,
    /// True if it is divided at long silences.
    loose: bool,
}

impl Sessions {
    /// The session `id` of the log. Turns without one are collected, to be divided by their times.
    pub fn index(&mut self, id: Option<&str>) -> usize {
        let key = id.unwrap_or_default();
        if let Some(index) = self.by_id.get(key) {
            return *index;
        }
        let index = self.open(id.map(str::to_owned), id.is_none());
        self.by_id.insert(key.to_owned(), index);
        index
    }

    /// A session that the log holds as a unit, with or without a name.
    pub fn whole(&mut self, id: Option<&str>, title: Option<String>) -> usize {
        let index = if id.is_some() { self.index(id) } else { self.open(None, false) };
        let known = &mut self.sessions[index].title;
        *known = known.take().or(title);
        index
    }

    fn open(&mut self, id: Option<String>, loose: bool) -> usize {
        self.sessions.push(Session { id, title: None, turns: Vec::new(), loose });
        self.sessions.len() - 1
    }

    /// Adds a turn, unless it repeats one of the same time (continued logs repeat their beginning), or one that the log also
    /// holds in its other form. A later version of a record replaces the text of the turn.
    pub fn add(&mut self, session: usize, said: Said) {
        let Said { turn, form, record, .. } = said;
        let speaker = turn.speaker.as_deref().unwrap_or_default();
        let digest = |text: &str| *blake3::hash(format!("{speaker}\0{text}").as_bytes()).as_bytes();
        if let Some(time) = turn.time
            && !self.seen.insert((session, time, digest(&format!("{}\0{form:?}", turn.text))))
        {
            self.repeated += 1;
            return;
        }
        if let Form::First | Form::Second = form {
            let words = one_line(&turn.text);
            let waiting = self.pairs.entry((session, digest(&words))).or_default();
            let (step, is_known) = if form == Form::First { (1, *waiting < 0) } else { (-1, *waiting > 0) };
            *waiting += step;
            if is_known {
                self.repeated += 1;
                return;
            }
        }
        let turns = &mut self.sessions[session].turns;
        if let Some(record) = record {
            let place = *self.by_record.entry((session, record, turn.time)).or_insert(turns.len());
            if let Some(earlier) = turns.get_mut(place) {
                *earlier = turn;
                self.repeated += 1;
                return;
            }
        }
        turns.push(turn);
    }

    /// The conversations, each with a name of its own.
    pub fn finish(self, options: &ConversationOptions) -> Vec<Conversation> {
        let gap = i128::try_from(options.gap.as_nanos()).unwrap_or(i128::MAX);
        let mut names = Names::default();
        let mut conversations = Vec::new();
        for mut session in self.sessions {
            in_order(&mut session.turns);
            let parts = if session.loose { divided(session.turns, gap) } else { vec![session.turns] };
            for turns in parts.into_iter().filter(|turns| !turns.is_empty()) {
                let name = session.id.clone().unwrap_or_else(|| by_time(&turns, options.name.as_deref()));
                conversations.push(Conversation { name: names.unique(name), title: session.title.clone(), turns });
            }
        }
        conversations
    }
}

/// Sorts by time. A turn without one stays behind the turn that it came after.
fn in_order(turns: &mut Vec<Turn>) {
    let mut last = Timestamp::MIN;
    let timed = turns.drain(..).map(|turn| {
        last = turn.time.unwrap_or(last);
        (last, turn)
    });
    let mut timed: Vec<(Timestamp, Turn)> = timed.collect();
    timed.sort_by_key(|(time, _)| *time);
    turns.extend(timed.into_iter().map(|(_, turn)| turn));
}

/// Divides turns at silences of more than `gap` nanoseconds between two that have a time.
fn divided(turns: Vec<Turn>, gap: i128) -> Vec<Vec<Turn>> {
    let mut parts: Vec<Vec<Turn>> = Vec::new();
    let mut last: Option<i128> = None;
    for turn in turns {
        let now = turn.time.map(Timestamp::as_nanosecond);
        let apart = matches!((last, now), (Some(last), Some(now)) if now - last > gap);
        last = now.or(last);
        match parts.last_mut().filter(|_| !apart) {
            Some(part) => part.push(turn),
            None => parts.push(vec![turn]),
        }
    }
    parts
}

/// The name of a session without one in the log: its first time, always in UTC, after the log's own name.
fn by_time(turns: &[Turn], log: Option<&str>) -> String {
    let time = turns.iter().find_map(|turn| turn.time).map(|time| time.strftime("%Y-%m-%dT%H:%MZ").to_string());
    let parts: Vec<String> = log.map(str::to_owned).into_iter().chain(time).collect();
    if parts.is_empty() { "log".to_owned() } else { parts.join("/") }
}

/// The names in use.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    counts: HashMap<String, usize>,
}

impl Names {
    /// The name, with a number behind it if it is in use.
    fn unique(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) {
            return name;
        }
        let count = self.counts.entry(name.clone()).or_insert(1);
        loop {
            *count += 1;
            let numbered = format!("{name}-{count}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

// A session as a document: windows of whole turns.

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
        self.turns.iter().map(|turn| turn.rendered(zone)).collect::<Vec<_>>().join("\n\n")
    }

    /// The lines of each turn in [`Conversation::rendered`], counted from 1, the last one inclusive. They are the same in
    /// every time zone.
    #[must_use]
    pub fn turn_lines(&self) -> Vec<(u32, u32)> {
        let mut next = 1_u32;
        let lines = self.turns.iter().map(|turn| {
            let more = clamp(turn.rendered(&TimeZone::UTC).matches('\n').count());
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
            let here = (rows[window.start].0, rows[window.end - 1].1);
            let pieces = pack(&lines, here, lines.token_sums(), max_tokens, |row| divide::badness(&lines, row));
            let turns = &self.turns[window];
            let speaker = turns.first().and_then(|turn| turn.speaker.clone());
            let author = speaker.filter(|one| turns.iter().all(|turn| turn.speaker.as_ref() == Some(one)));
            let dated_ns = turns.iter().rev().find_map(|turn| turn.time).and_then(dates::nanoseconds);
            passages.extend(pieces.iter().map(|piece| Passage {
                heading: self.title.clone(),
                own: OwnProperties {
                    author: author.clone(),
                    dated_ns,
                    part: Some(clamp(part)),
                    ..OwnProperties::default()
                },
                ..piece.passage(&lines, Kind::Turns, Role::Main)
            }));
        }
        let speakers = self.speakers();
        let title = Some(self.title.clone().unwrap_or_else(|| self.described(&speakers, &options.time_zone)));
        let dated_ns = self.turns.iter().filter_map(|turn| turn.time).max().and_then(dates::nanoseconds);
        let prose = Prose { title, dated_ns, passages, ..Prose::default() };
        Document {
            attributes: speakers.iter().map(|speaker| (SPEAKER.to_owned(), (*speaker).to_owned())).collect(),
            ..prose.document(None, Category::Prose, Role::Main, Vec::new())
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
        let speaker = self.speaker.as_deref().map(one_line);
        match (speaker.filter(|name| !name.is_empty()), self.time.map(|time| clock(time, zone))) {
            (Some(speaker), Some(time)) => format!("{speaker} ({time}): {text}"),
            (Some(speaker), None) => format!("{speaker}: {text}"),
            (None, Some(time)) => format!("({time}): {text}"),
            (None, None) => text.to_owned(),
        }
    }
}

/// The time on a clock in `zone`, to the minute.
fn clock(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Windows of turns that fit. Each begins with the last turn of the one before, if the next turn fits beside it.
fn windows(lines: &Lines<'_>, rows: &[(usize, usize)], max_tokens: usize) -> Vec<Range<usize>> {
    let cost = |turn: usize| lines.tokens(rows[turn].0, rows[turn].1);
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

    #[test]
    fn names_are_given_once() {
        let mut names = Names::default();
        let given = ["a", "a-2", "a", "a"].map(|name| names.unique(name.to_owned()));
        assert_eq!(given, ["a", "a-2", "a-3", "a-4"]);
    }

    fn session(turns: &[(&str, &str)]) -> Conversation {
        let turns = turns.iter().zip(0..).map(|((speaker, text), minute)| Turn {
            time: jiff::Timestamp::from_second(1_795_348_800 + minute * 60).ok(),
            speaker: Some((*speaker).to_owned()),
            text: (*text).to_owned(),
        });
        Conversation { name: "s".to_owned(), title: None, turns: turns.collect() }
    }

    #[test]
    fn windows_hold_whole_turns_and_share_one_and_a_huge_turn_is_divided_and_keeps_its_number() {
        let words = "one two three four";
        let session = session(&[("Ann", words), ("Ben", words), ("Ann", words), ("Ben", words), ("Ben", words)]);
        let document = session.document(&ConversationOptions { max_tokens: 36, ..ConversationOptions::default() });
        let texts: Vec<_> = document.passages.iter().map(|one| (one.start_line, one.end_line, one.own.part)).collect();
        assert_eq!(texts, [(1, 3, Some(0)), (3, 5, Some(1)), (5, 7, Some(2)), (7, 9, Some(3))]);
        let text = "Ann (2026-11-22 12:00): one two three four\n\nBen (2026-11-22 12:01): one two three four";
        assert_eq!(document.passages[0].text, text);
        let authors: Vec<_> = document.passages.iter().map(|passage| passage.own.author.as_deref()).collect();
        assert_eq!(authors, [None, None, None, Some("Ben")]);
        assert_eq!(document.title.as_deref(), Some("Ann, Ben, 2026-11-22 12:00"));
        assert_eq!([session.turns_at(3, 5), session.turns_at(99, 99)], [1..3, 5..5]);
        let huge = "A sentence of six short words. ".repeat(40);
        let session = self::session(&[("Ann", "Short."), ("Ben", &huge), ("Ann", "Thanks.")]);
        let document = session.document(&ConversationOptions { max_tokens: 40, ..ConversationOptions::default() });
        let of_ben = document.passages.iter().filter(|passage| passage.own.author.as_deref() == Some("Ben"));
        assert!(of_ben.clone().count() > 5 && of_ben.clone().all(|passage| passage.own.part == Some(1)));
        assert_eq!(document.passages.last().map(|passage| passage.own.part), Some(Some(2)));
    }
}
