//! Logs of conversations: turns to sessions, sessions to passages of whole turns.

mod document;
mod fields;
mod read;
mod sessions;

pub use read::read_conversations;

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::BadRecord;

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Its speaker: a name, or else a role such as `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[error("found {records} records and not one turn of a conversation (the first: {reason}); {KNOWN}")]
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
