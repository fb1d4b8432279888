//! One record of a log: the fields for speaker, text, time and session.
//!
//! Logs differ in the names of fields. A turn can be a record of its own or be in its `message` or `payload`, with
//! the time and the session beside it.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::Turn;
use crate::dates;

/// The kind of a record.
pub(super) enum Record {
    /// A turn, and its session.
    Turn(Turn, Option<String>),
    /// The beginning of a session, for later records without one.
    Session(String),
    /// A record that is not a turn.
    Other,
    /// An unreadable record, and the reason.
    Bad(String),
}

const SESSIONS: &[&str] = &[
    "session", "session_id", "sessionId", "conversation_id", "conversationId", "conversation", "thread_id", "threadId",
];
const TIMES: &[&str] =
    &["time", "timestamp", "ts", "created_at", "createdAt", "create_time", "sent_at", "datetime", "date"];
const SPEAKERS: &[&str] = &["speaker", "sender", "author", "from", "name", "role", "username", "user"];
const NAMES: &[&str] = &["name", "display_name", "real_name", "username", "login", "role"];
const TEXTS: &[&str] = &["text", "content", "message", "body", "parts"];
/// Parts of a turn that are text rather than tool calls, their results, pictures or thoughts.
const SAID: &[&str] = &["text", "input_text", "output_text", "multimodal_text", "markdown"];
/// Values of `type` that name the speaker where nothing else does.
const ROLES: &[&str] = &["user", "human", "assistant", "system"];
/// Greatest nesting of a turn's text.
const DEPTH: usize = 4;

/// Reads a record.
pub(super) fn record(value: &Value, zone: &TimeZone) -> Record {
    let Value::Object(outer) = value else {
        return Record::Bad(format!("expected an object with the fields of a turn, found {}", kind_of(value)));
    };
    let inner = ["message", "payload"].iter().find_map(|key| outer.get(*key)?.as_object()).unwrap_or(outer);
    let of_kind = kind(outer).or_else(|| kind(inner)).unwrap_or_default();
    let session = first(outer, inner, SESSIONS, name);
    if matches!(of_kind, "session" | "session_meta") {
        let id = first(inner, outer, &["id", "uuid"], name);
        return session.or(id).map_or(Record::Other, Record::Session);
    }
    let unsaid = outer.get("isMeta").and_then(Value::as_bool) == Some(true)
        || outer.get("subtype").and_then(Value::as_str).is_some_and(|subtype| {
            ["_join", "_leave", "_topic", "_purpose", "_name", "_archive"].iter().any(|end| subtype.ends_with(end))
        });
    if unsaid {
        return Record::Other;
    }
    let Some(text) = first(inner, outer, TEXTS, |value| text(value, DEPTH)) else {
        let is_known = !of_kind.is_empty() || TEXTS.iter().chain(&["role"]).any(|key| inner.contains_key(*key));
        return if is_known { Record::Other } else { Record::Bad(format!("no text ({})", fields_of(outer))) };
    };
    let time = match time(outer, inner, zone) {
        Ok(time) => time,
        Err(reason) => return Record::Bad(reason),
    };
    let profile = outer.get("user_profile").and_then(name_of);
    let speaker = profile.or_else(|| first(inner, outer, SPEAKERS, name_of));
    let speaker = speaker.or_else(|| Some(of_kind).filter(|kind| ROLES.contains(kind)).map(str::to_owned));
    Record::Turn(Turn { time, speaker, text }, session)
}

/// The value of the first of `keys` that `read` accepts, in `here` before `there`.
pub(super) fn first<T>(
    here: &Map<String, Value>,
    there: &Map<String, Value>,
    keys: &[&str],
    read: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    let find = |map: &Map<String, Value>| keys.iter().find_map(|key| read(map.get(*key)?));
    find(here).or_else(|| find(there))
}

/// A name or a number, on one line.
pub(super) fn name(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let text: String = text.chars().filter(|character| !character.is_control()).take(NAME_LENGTH).collect();
    (!text.is_empty()).then_some(text)
}

/// The longest name of a speaker or a session, in characters.
const NAME_LENGTH: usize = 120;

/// The name of a speaker: a text, or an object with one.
fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::Object(map) => NAMES.iter().find_map(|key| name(map.get(*key)?)),
        value => name(value),
    }
}

fn kind(map: &Map<String, Value>) -> Option<&str> {
    map.get("type").and_then(Value::as_str)
}

/// The text of a turn: a string, parts of which some are text, or an object with one of these.
fn text(value: &Value, depth: usize) -> Option<String> {
    let joined = match value {
        Value::String(text) => text.replace("\r\n", "\n"),
        Value::Array(parts) if depth > 0 => {
            let texts: Vec<String> = parts.iter().filter_map(|part| text(part, depth - 1)).collect();
            texts.join("\n")
        }
        Value::Object(map) if depth > 0 && kind(map).is_none_or(|kind| SAID.contains(&kind)) => {
            ["text", "parts", "content", "value"].iter().find_map(|key| text(map.get(*key)?, depth - 1))?
        }
        _ => return None,
    };
    let kept = joined.trim_end().trim_start_matches('\n');
    (!kept.trim().is_empty()).then(|| kept.to_owned())
}

fn time(outer: &Map<String, Value>, inner: &Map<String, Value>, zone: &TimeZone) -> Result<Option<Timestamp>, String> {
    let Some(value) = first(outer, inner, TIMES, |value| (!value.is_null()).then(|| value.clone())) else {
        return Ok(None);
    };
    moment(&value, zone).map(Some).ok_or_else(|| {
        let shown: String = value.to_string().chars().take(80).collect();
        format!("{shown} is not a time: expected RFC 3339, or seconds or milliseconds since 1970")
    })
}

/// A date and a time, or a number since 1970.
fn moment(value: &Value, zone: &TimeZone) -> Option<Timestamp> {
    match value {
        Value::Number(number) => since_1970(number.as_f64()?),
        Value::String(text) => dates::parse(text, zone).or_else(|| since_1970(text.trim().parse().ok()?)),
        _ => None,
    }
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970, distinguished by size: each unit reaches beyond the
/// year 5000 before the next begins.
fn since_1970(number: f64) -> Option<Timestamp> {
    let divisor = match number.abs() {
        size if size < 1e11 => 1.0,
        size if size < 1e14 => 1e3,
        size if size < 1e17 => 1e6,
        size if size < 1e20 => 1e9,
        _ => return None,
    };
    // Doubles hold the milliseconds of these years exactly enough; finer than that is noise.
    let milliseconds = (number / divisor * 1e3).round();
    #[expect(clippy::cast_possible_truncation, reason = "at most 1e14")]
    Timestamp::from_millisecond(milliseconds as i64).ok()
}

/// The names of a record's fields, a few of them.
fn fields_of(map: &Map<String, Value>) -> String {
    let names: Vec<String> =
        map.keys().take(8).map(|key| format!("`{}`", key.chars().take(40).collect::<String>())).collect();
    if names.is_empty() { "no fields".to_owned() } else { format!("fields {}", names.join(", ")) }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Time, speaker, text and session.
    type ReadFields = (Option<String>, Option<String>, String, Option<String>);

    fn turn(value: &Value) -> Option<ReadFields> {
        match record(value, &TimeZone::UTC) {
            Record::Turn(turn, session) => {
                Some((turn.time.map(|time| time.to_string()), turn.speaker, turn.text, session))
            }
            _ => None,
        }
    }

    fn read_fields(time: &str, speaker: &str, text: &str, session: &str) -> Option<ReadFields> {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Some((some(time), some(speaker), text.to_owned(), some(session)))
    }

    #[test]
    fn reads_the_shapes_that_logs_have() {
        let noon = "2026-11-22T12:00:00Z";
        for (value, expected) in [
            (json!({"time": noon, "speaker": "Ann", "text": "a", "session": "s"}), read_fields(noon, "Ann", "a", "s")),
            (json!({"ts": 1_795_348_800, "role": "user", "content": "a"}), read_fields(noon, "user", "a", "")),
            (
                json!({"timestamp": 1_795_348_800_000_u64, "author": {"role": "tool", "name": "n"}, "body": "a"}),
                read_fields(noon, "n", "a", ""),
            ),
            (
                json!({"ts": "1795348800.000100", "type": "message", "user": "U1", "text": "a"}),
                read_fields(noon, "U1", "a", ""),
            ),
            (
                json!({"type": "user", "sessionId": "s", "timestamp": noon, "message": {"role": "user", "content": [
                    {"type": "text", "text": "a"}, {"type": "tool_result", "content": "hidden"}, {"type": "text", "text": "b"}
                ]}}),
                read_fields(noon, "user", "a\nb", "s"),
            ),
            (
                json!({"timestamp": noon, "type": "response_item", "payload": {"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": "a"}]}}),
                read_fields(noon, "assistant", "a", ""),
            ),
            (
                json!({"create_time": 1_795_348_800.0, "author": {"role": "user"}, "content": {"parts": ["a", "b"]}}),
                read_fields(noon, "user", "a\nb", ""),
            ),
            (
                json!({"sender": "human", "created_at": noon, "text": "", "content": [{"type": "text", "text": "a"}]}),
                read_fields(noon, "human", "a", ""),
            ),
            (json!({"text": "a"}), read_fields("", "", "a", "")),
        ] {
            assert_eq!(turn(&value), expected, "{value}");
        }
    }

    #[test]
    fn what_nobody_said_is_told_from_what_can_not_be_read() {
        for value in [
            json!({"type": "summary", "summary": "x"}),
            json!({"role": "assistant", "content": [{"type": "tool_use", "name": "x"}]}),
            json!({"speaker": "Ann", "text": ""}),
            json!({"type": "message", "subtype": "channel_join", "text": "Ann joined"}),
        ] {
            assert!(matches!(record(&value, &TimeZone::UTC), Record::Other), "{value}");
        }
        for (value, expected) in [
            (json!({"time": "2026-11-22", "who": "Ann"}), "no text (fields `time`, `who`)"),
            (
                json!({"time": "soon", "text": "a"}),
                "\"soon\" is not a time: expected RFC 3339, or seconds or milliseconds since 1970",
            ),
            (
                json!({"time": 1e300, "text": "a"}),
                "1e+300 is not a time: expected RFC 3339, or seconds or milliseconds since 1970",
            ),
            (json!([1]), "expected an object with the fields of a turn, found an array"),
        ] {
            match record(&value, &TimeZone::UTC) {
                Record::Bad(reason) => assert_eq!(reason, expected),
                _ => panic!("{value} was read"),
            }
        }
    }
}
