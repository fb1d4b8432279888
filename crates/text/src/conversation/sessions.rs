//! Turns to sessions.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::fields::{Form, Said};
use super::{Conversation, ConversationOptions, Turn};

/// Sessions under construction.
#[derive(Default)]
pub(super) struct Sessions {
    sessions: Vec<Session>,
    by_id: HashMap<String, usize>,
    seen: HashSet<(usize, Timestamp, [u8; 32])>,
    /// Turns of logs that hold each in two forms: how many of the first form wait for their second, negative for the reverse.
    pairs: HashMap<(usize, [u8; 32]), i64>,
    /// The places of turns by the names of their records.
    by_record: HashMap<(usize, String, Option<Timestamp>), usize>,
    pub(super) repeated: usize,
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
    pub(super) fn of(&mut self, id: Option<&str>) -> usize {
        let key = id.unwrap_or_default();
        if let Some(index) = self.by_id.get(key) {
            return *index;
        }
        let index = self.open(id.map(str::to_owned), None, id.is_none());
        self.by_id.insert(key.to_owned(), index);
        index
    }

    /// A session that the log holds as a unit, with or without a name.
    pub(super) fn whole(&mut self, id: Option<&str>, title: Option<String>) -> usize {
        let index = match id {
            Some(id) => self.of(Some(id)),
            None => self.open(None, None, false),
        };
        if self.sessions[index].title.is_none() {
            self.sessions[index].title = title;
        }
        index
    }

    fn open(&mut self, id: Option<String>, title: Option<String>, loose: bool) -> usize {
        self.sessions.push(Session { id, title, turns: Vec::new(), loose });
        self.sessions.len() - 1
    }

    /// Adds a turn, unless it repeats one of the same time (continued logs repeat their beginning), or one that the log also
    /// holds in its other form. A later version of a record replaces the text of the turn.
    pub(super) fn add(&mut self, session: usize, said: Said) {
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
            let words = turn.text.split_whitespace().collect::<Vec<_>>().join(" ");
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
    pub(super) fn finish(self, options: &ConversationOptions) -> Vec<Conversation> {
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
fn in_order(turns: &mut [Turn]) {
    let mut last = Timestamp::MIN;
    let mut keyed: Vec<(Timestamp, usize)> = Vec::with_capacity(turns.len());
    for (index, turn) in turns.iter().enumerate() {
        last = turn.time.unwrap_or(last);
        keyed.push((last, index));
    }
    if keyed.is_sorted() {
        return;
    }
    keyed.sort_unstable();
    let mut places = vec![0; turns.len()];
    for (place, (_, index)) in keyed.into_iter().enumerate() {
        places[index] = place;
    }
    for index in 0..turns.len() {
        while places[index] != index {
            let place = places[index];
            turns.swap(index, place);
            places.swap(index, place);
        }
    }
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
    match (log, time) {
        (Some(log), Some(time)) => format!("{log}/{time}"),
        (Some(log), None) => log.to_owned(),
        (None, Some(time)) => time,
        (None, None) => "log".to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once() {
        let mut names = Names::default();
        let given = ["a", "a-2", "a", "a"].map(|name| names.unique(name.to_owned()));
        assert_eq!(given, ["a", "a-2", "a-3", "a-4"]);
    }
}
