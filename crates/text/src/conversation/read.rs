//! Bytes to conversations: JSON Lines, arrays, and exports of whole sessions.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::fields::{Record, first, name, record};
use super::sessions::Sessions;
use super::{ConversationFormatError, ConversationLog, ConversationOptions};
use crate::BadRecord;
use crate::decode::decode;
use crate::mended_json::mended;

/// Fields of a session's record that hold its turns.
const TURNS: &[&str] = &["turns", "messages", "chat_messages", "contents"];

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
                reader.value(value, || format!("record {}", index + 1));
            }
        }
        Ok(value) => reader.value(&value, || "record 1".to_owned()),
        // A broken array is not a log of lines. Several values one after another are.
        Err(error) if text.starts_with('[') && !is_trailing(&error) => {
            return Err(ConversationFormatError::Broken { reason: error.to_string() });
        }
        Err(error) => {
            let mut any = false;
            let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
            while let Some((index, line)) = lines.next() {
                match parsed(line) {
                    Ok(value) => {
                        any = true;
                        reader.value(&value, || format!("line {}", index + 1));
                    }
                    Err(error) if any && error.is_eof() && !ended && lines.peek().is_none() => {
                        reader.log.unfinished += 1;
                    }
                    Err(error) => reader.bad(format!("line {}", index + 1), format!("no JSON: {error}")),
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
    fn bad(&mut self, position: String, reason: String) {
        self.records += 1;
        self.log.bad.push(BadRecord { position, reason });
    }

    /// Reads a turn, a whole session, or an export of many.
    fn value(&mut self, value: &Value, position: impl Fn() -> String) {
        let chats = value.get("chats").and_then(|chats| chats.get("list")?.as_array());
        match chats {
            Some(chats) => {
                for (index, chat) in chats.iter().enumerate() {
                    self.one(chat, &|| format!("{}, chat {}", position(), index + 1));
                }
            }
            None => self.one(value, &position),
        }
    }

    /// Reads a turn or a whole session.
    fn one(&mut self, value: &Value, position: &dyn Fn() -> String) {
        let Value::Object(map) = value else {
            return self.turn(value, None, position);
        };
        let turns = TURNS.iter().find_map(|key| map.get(*key)?.as_array());
        let graph = map.get("mapping").and_then(Value::as_object);
        if turns.is_none() && graph.is_none() {
            return self.turn(value, None, position);
        }
        let id = first(map, map, &["session", "session_id", "sessionId", "conversation_id", "id", "uuid"], name);
        let title = first(map, map, &["title", "name", "subject"], name);
        let session = self.sessions.whole(id.as_deref(), title);
        for (index, turn) in turns.into_iter().flatten().enumerate() {
            self.turn(turn, Some(session), &|| format!("{}, turn {}", position(), index + 1));
        }
        for (index, turn) in graph.map(|graph| branch(graph, map)).into_iter().flatten().enumerate() {
            self.turn(turn, Some(session), &|| format!("{}, turn {}", position(), index + 1));
        }
    }

    /// Reads a turn, of `session` if that is known.
    fn turn(&mut self, value: &Value, session: Option<usize>, position: &dyn Fn() -> String) {
        match record(value, &self.options.time_zone) {
            Record::Said(said) => {
                let id = said.session.clone().or_else(|| self.current.clone());
                let session = session.unwrap_or_else(|| self.sessions.of(id.as_deref()));
                self.sessions.add(session, said);
            }
            Record::Session(id) => {
                self.current = Some(id);
                self.log.other += 1;
            }
            Record::Other => self.log.other += 1,
            Record::Bad(reason) => return self.bad(position(), reason),
        }
        self.records += 1;
    }

    fn finish(mut self) -> Result<ConversationLog, ConversationFormatError> {
        self.log.repeated = self.sessions.repeated;
        self.log.conversations = self.sessions.finish(self.options);
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
