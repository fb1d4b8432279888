//! Logs of conversations: turns to sessions, sessions to passages of whole turns.

mod fields;
mod sessions;

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::BadRecord;
use crate::decode::{decode, mended, what_is_wrong};
use fields::{Record, first, name, record};
use sessions::Sessions;

/// Options for reading a log of conversations and dividing its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationOptions {
    /// The largest passage, in estimated tokens. Values under 32 count as 32.
    pub max_tokens: usize,
    /// Silence longer than this divides turns without a session into sessions.
    pub gap: Duration,
    /// Time zone of the speakers, for times without an offset and for rendering.
    pub time_zone: TimeZone,
    /// Name of the log, a prefix for sessions that are named by their time, so that two logs of
    /// the same hour do not have the same.
    pub name: Option<String>,
}

impl Default for ConversationOptions {
    /// 400 tokens, sessions end after 6 hours of silence, times in UTC, no name.
    fn default() -> Self {
        Self { max_tokens: 400, gap: Duration::from_secs(6 * 60 * 60), time_zone: TimeZone::UTC, name: None }
    }
}

/// One message of a person or program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its time, if the log gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Its speaker: a name, or else a role such as `user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Its text, with `\n` line ends.
    pub text: String,
}

/// One session of a log: turns that belong together, in the order of their time.
///
/// Its JSON is the record that a store keeps of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its name, unique in the log: the log's own, or else the time of its first turn.
    pub name: String,
    /// Its subject, if the log gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The turns.
    pub turns: Vec<Turn>,
}

/// A log of conversations, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConversationLog {
    /// The sessions, in the order in which the log first speaks of them.
    pub conversations: Vec<Conversation>,
    /// Number of records left out because they are not turns: tool calls, states, turns without text.
    pub other: usize,
    /// Number of records left out because they repeat a turn: word for word at the same time in the same session, as the
    /// other form in which a program logs it, or as a later version of its record, whose text counts.
    pub repeated: usize,
    /// 1 if the last line breaks off because the log is still being written; the next reading finds it whole.
    pub unfinished: usize,
    /// Unreadable records.
    pub bad: Vec<BadRecord>,
}

/// The reason an input holds no conversations at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConversationFormatError {
    /// The input is empty.
    #[error("it is empty; {KNOWN}")]
    Empty,
    /// The input is a single broken JSON document.
    #[error("its JSON is broken: {reason}; nothing of it was read")]
    Broken {
        /// The parser's message, with line and column.
        reason: String,
    },
    /// The records are not turns.
    #[error("none of its records ({records}) is a turn of a conversation (the first: {reason}); {KNOWN}")]
    NoTurns {
        /// Number of records.
        records: usize,
        /// The reason for the first of them.
        reason: String,
    },
}

/// The readable logs, for a message about another file.
const KNOWN: &str = "a log is JSON Lines of {\"time\": …, \"speaker\": …, \"text\": …, \"session\": …}, or a JSON array of \
                     such turns or of sessions with `messages`";

// Bytes to conversations: JSON Lines, arrays, and exports of whole sessions.

/// Fields of a session's record that hold its turns.
const TURNS: &str = "turns messages chat_messages contents";

/// Reads a log of conversations.
///
/// A log is JSON Lines of turns, a JSON array of turns, one session as an object or an array of sessions. The names of
/// fields are listed in `docs/notes.md`. Turns are put into sessions by their own fields, or else by silences longer than
/// [`ConversationOptions::gap`], and into the order of their times.
///
/// An unreadable record is reported by its line or number, and the others are read. A last line that breaks off is still
/// being written, and is counted as [`ConversationLog::unfinished`]. Takes time linear in the size of
/// the input, except for sorting turns that are out of order.
///
/// ```
/// use tamis_text::{ConversationOptions, read_conversations};
///
/// let log = br#"{"time": "2026-11-22T09:00:00Z", "speaker": "Ann", "text": "Where do backups go?"}
/// {"time": "2026-11-22T09:01:00Z", "speaker": "Ben", "text": "To the second site."}
/// {"time": "2026-11-23T09:00:00Z", "speaker": "Ann", "text": "Good morning."}"#;
/// let log = read_conversations(log, &ConversationOptions::default())?;
/// let names: Vec<_> = log.conversations.iter().map(|session| session.name.as_str()).collect();
/// assert_eq!(names, ["2026-11-22T09:00Z", "2026-11-23T09:00Z"]);
/// # Ok::<(), tamis_text::ConversationFormatError>(())
/// ```
///
/// # Errors
/// The input has no turns, or is a single broken JSON document. Nothing is read from such an input.
pub fn read_conversations(
    bytes: &[u8],
    options: &ConversationOptions,
) -> Result<ConversationLog, ConversationFormatError> {
    let (text, _) = decode(bytes);
    // Programs end each line that they have written.
    let ended = text.ends_with('\n');
    let text = text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}');
    if text.is_empty() {
        return Err(ConversationFormatError::Empty);
    }
    let mut reader =
        Reader { options, sessions: Sessions::default(), current: None, log: ConversationLog::default(), records: 0 };
    match parsed(text) {
        Ok(Value::Array(values)) => {
            for (index, value) in values.iter().enumerate() {
                reader.value(value, &format!("record {}", index + 1));
            }
        }
        Ok(value) => reader.value(&value, "record 1"),
        // A broken array is not a log of lines. Several values one after another are.
        Err(error) if text.starts_with('[') && !is_trailing(&error) => {
            return Err(ConversationFormatError::Broken { reason: error.to_string() });
        }
        Err(error) => {
            let mut any = false;
            let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
            while let Some((index, line)) = lines.next() {
                let place = format!("line {}", index + 1);
                match parsed(line) {
                    Ok(value) => {
                        any = true;
                        reader.value(&value, &place);
                    }
                    Err(error) if any && error.is_eof() && !ended && lines.peek().is_none() => {
                        reader.log.unfinished += 1;
                    }
                    Err(error) => {
                        reader.bad(&place, format!("column {}: {}", error.column(), what_is_wrong(&error)));
                    }
                }
            }
            // No line is JSON by itself, so it was one document over many lines.
            if !any && text.starts_with('{') {
                return Err(ConversationFormatError::Broken { reason: error.to_string() });
            }
        }
    }
    reader.finish()
}

/// Reads a value, after mending its strings and numbers if they are not quite JSON.
fn parsed(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match is_trailing(&error) {
        true => Err(error),
        false => serde_json::from_str(&mended(text)),
    })
}

/// Returns `true` if a value was read and more came after it.
fn is_trailing(error: &serde_json::Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("trailing characters")
}

struct Reader<'options> {
    options: &'options ConversationOptions,
    sessions: Sessions,
    /// The session that a record began, for later records without one.
    current: Option<String>,
    log: ConversationLog,
    records: usize,
}

impl Reader<'_> {
    fn bad(&mut self, position: &str, reason: String) {
        self.records += 1;
        self.log.bad.push(BadRecord { position: position.to_owned(), reason });
    }

    /// Reads a turn, a whole session, or an export of many.
    fn value(&mut self, value: &Value, position: &str) {
        match value.get("chats").and_then(|chats| chats.get("list")?.as_array()) {
            Some(chats) => {
                for (index, chat) in chats.iter().enumerate() {
                    self.one(chat, &format!("{position}, chat {}", index + 1));
                }
            }
            None => self.one(value, position),
        }
    }

    /// Reads a turn or a whole session.
    fn one(&mut self, value: &Value, position: &str) {
        let Value::Object(map) = value else {
            return self.turn(value, None, position);
        };
        let turns = TURNS.split(' ').find_map(|key| map.get(key)?.as_array());
        let graph = map.get("mapping").and_then(Value::as_object);
        if turns.is_none() && graph.is_none() {
            return self.turn(value, None, position);
        }
        let id = first(map, map, "session session_id sessionId conversation_id id uuid", name);
        let title = first(map, map, "title name subject", name);
        let session = self.sessions.whole(id.as_deref(), title);
        for turns in [turns.map(|turns| turns.iter().collect()), graph.map(|graph| branch(graph, map))] {
            for (index, turn) in turns.into_iter().flatten().enumerate() {
                self.turn(turn, Some(session), &format!("{position}, turn {}", index + 1));
            }
        }
    }

    /// Reads a turn, of `session` if that is known.
    fn turn(&mut self, value: &Value, session: Option<usize>, position: &str) {
        match record(value, &self.options.time_zone) {
            Record::Said(said) => {
                let id = said.session.clone().or_else(|| self.current.clone());
                let session = session.unwrap_or_else(|| self.sessions.index(id.as_deref()));
                self.sessions.add(session, said);
            }
            Record::Session(id) => {
                self.current = Some(id);
                self.log.other += 1;
            }
            Record::Other => self.log.other += 1,
            Record::Bad(reason) => return self.bad(position, reason),
        }
        self.records += 1;
    }

    fn finish(mut self) -> Result<ConversationLog, ConversationFormatError> {
        self.log.repeated = self.sessions.repeated;
        self.log.conversations = self.sessions.finish(self.options);
        if self.records == 0 {
            return Err(ConversationFormatError::Empty);
        }
        if self.log.conversations.is_empty() {
            let first = self.log.bad.first();
            let reason = first.map_or_else(|| "it has no text".to_owned(), |bad| bad.reason.clone());
            return Err(ConversationFormatError::NoTurns { records: self.records, reason });
        }
        Ok(self.log)
    }
}

/// The messages of an export that keeps the branches of a conversation as a graph: those that lead to its current node,
/// or else all of them.
fn branch<'log>(graph: &'log Map<String, Value>, session: &'log Map<String, Value>) -> Vec<&'log Value> {
    let message = |node: &'log Value| node.get("message").filter(|message| message.is_object());
    let mut seen = HashSet::new();
    let mut messages = Vec::new();
    let mut next = session.get("current_node").and_then(Value::as_str);
    while let Some(node) = next.filter(|id| seen.insert(*id)).and_then(|id| graph.get(id)) {
        messages.extend(message(node));
        next = node.get("parent").and_then(Value::as_str);
    }
    messages.reverse();
    if messages.is_empty() {
        messages = graph.values().filter_map(message).collect();
    }
    messages
}
