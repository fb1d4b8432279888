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

/// How to read a log of conversations and how to divide its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationOptions {
    /// The largest passage, in estimated tokens. Values under 32 count as 32.
    pub max_tokens: usize,
    /// Turns that say of no session are divided into sessions where nobody said anything for longer than this.
    pub gap: Duration,
    /// Where the speakers are: what a time without an offset means, and in which zone times are rendered.
    pub time_zone: TimeZone,
    /// What to call the log. It stands in front of the names of sessions that are named by their time, so that two logs of
    /// the same hour do not have the same.
    pub name: Option<String>,
}

impl Default for ConversationOptions {
    /// 400 tokens, sessions end after 6 hours of silence, times in UTC, no name.
    fn default() -> Self {
        Self { max_tokens: 400, gap: Duration::from_secs(6 * 60 * 60), time_zone: TimeZone::UTC, name: None }
    }
}

/// What one person or program said at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// When, where the log says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Who: a name, else a role such as `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// What, with `\n` line ends.
    pub text: String,
}

/// One session of a log: turns that belong together, in the order of their time.
///
/// Its JSON is the record that a store keeps of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// What it is called, once in its log: what the log calls it, else the time of its first turn.
    pub name: String,
    /// What it is about, where the log says it.
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
    /// How many records are no turns and were left out: calls of tools, states, turns without text.
    pub other: usize,
    /// How many turns came again word for word, at the same time in the same session, and were left out.
    pub repeated: usize,
    /// What could not be read.
    pub bad: Vec<BadRecord>,
}

/// Why an input holds no conversations at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConversationFormatError {
    /// There is nothing in it.
    #[error("it is empty; {KNOWN}")]
    Empty,
    /// It is one JSON document, and that is broken.
    #[error("its JSON is broken: {reason}; nothing of it was read")]
    Broken {
        /// What the parser says, with line and column.
        reason: String,
    },
    /// None of its records is a turn.
    #[error("none of its {records} records is a turn of a conversation (the first: {reason}); {KNOWN}")]
    NoTurns {
        /// How many records there are.
        records: usize,
        /// What the first of them is instead.
        reason: String,
    },
}

/// What a log may be, for whoever brought another file.
const KNOWN: &str = "a log is JSON Lines of {\"time\": …, \"speaker\": …, \"text\": …, \"session\": …}, or a JSON array of \
                     such turns or of sessions with `messages`";
