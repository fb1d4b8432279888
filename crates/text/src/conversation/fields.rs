//! One record of a log: the fields for speaker, text, time and session.
//!
//! Logs differ in the names of fields. A turn can be a record of its own or be in its `message` or `payload`, with
//! the time and the session beside it.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::Turn;
use crate::dates;
use crate::lines::{has_end, has_word, non_empty, one_line};

/// The kind of a record.
pub enum Record {
    /// A turn.
    Said(Said),
    /// The beginning of a session, for later records without one.
    Session(String),
    /// A record that is not a turn.
    Other,
    /// An unreadable record, and the reason.
    Bad(String),
}

/// A turn with what places it in its log.
pub struct Said {
    pub turn: Turn,
    pub session: Option<String>,
    pub form: Form,
    /// The name of its record, which a later version of it has too.
    pub record: Option<String>,
}

/// The forms in which a log holds a turn. Codex logs each once for the model and once for the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    Only,
    First,
    Second,
}

const SESSIONS: &str = "session session_id sessionId conversation_id conversationId conversation thread_id threadId";
const TIMES: &str = "\
    time timestamp ts created_at createdAt create_time sent_at datetime date_unixtime date origin_server_ts";
const SPEAKERS: &str = "speaker sender author from name role username user from_id";
const NAMES: &str = "name display_name real_name username login role";
const TEXTS: &str = "text content message body parts";
/// Words in the `type` of parts of a turn that nobody said: calls of tools, their results, thoughts, pictures and files.
const UNSAID: &str = "tool function call result think thought reason image audio video file document";
/// Values of `type` of words and phrases inside of a text.
const INLINE: &str = "\
    plain bold italic underline strikethrough spoiler link text_link mention mention_name hashtag cashtag \
    bot_command email phone bank_card code pre blockquote custom_emoji";
/// Values of `type` that name the speaker where nothing else does.
const ROLES: &str = "user human assistant system gemini model";
/// Values of `type` of records that are states of a program, unless somebody is named as their speaker, and of those that
/// always are.
const STATES: &str = "info error warning debug progress attachment";
const NO_TURNS: &str = "service queue-operation reasoning agent_reasoning turn_context";
/// Elements that programs put around what they add to the words of a user.
const ADDED: &str = "\
environment_context
user_instructions
INSTRUCTIONS
permissions instructions
collaboration_mode
turn_aborted
user_shell_command
skill
system-reminder
task-notification
command-name
command-message
local-command-caveat
local-command-stdout
local-command-stderr
bash-stdout
bash-stderr
ide_opened_file
ide_selection";
/// The speaker of a summary of what came before.
const SUMMARY: &str = "summary";
/// Greatest nesting of a turn's text.
const DEPTH: usize = 4;

/// Reads a record.
pub fn record(value: &Value, zone: &TimeZone) -> Record {
    let Value::Object(outer) = value else {
        return Record::Bad(format!("expected an object with the fields of a turn, found {}", kind_of(value)));
    };
    let inner = ["message", "payload"].iter().find_map(|key| outer.get(*key)?.as_object()).unwrap_or(outer);
    let of_kind = kind(outer).or_else(|| kind(inner)).unwrap_or_default();
    let session = first(outer, inner, SESSIONS, name);
    let id = || first(inner, outer, "id uuid", name);
    if matches!(of_kind, "session" | "session_meta") {
        return session.or_else(id).map_or(Record::Other, Record::Session);
    }
    let (form, named) = match (of_kind, kind(inner)) {
        ("event_msg", Some("user_message")) => (Form::Second, Some("user")),
        ("event_msg", Some("agent_message")) => (Form::Second, Some("assistant")),
        ("event_msg", _) => return Record::Other,
        ("response_item", Some("message")) => (Form::First, None),
        ("response_item", _) => return Record::Other,
        ("compacted", _) => (Form::Only, Some(SUMMARY)),
        _ if is(outer, "isCompactSummary") => (Form::Only, Some(SUMMARY)),
        _ => (Form::Only, None),
    };
    if is_unsaid(of_kind, outer, inner, form) {
        return Record::Other;
    }
    let profile = outer.get("user_profile").and_then(name_of);
    let speaker = named.map(str::to_owned).or(profile).or_else(|| first(inner, outer, SPEAKERS, name_of));
    if speaker.is_none() && has_word(STATES, of_kind) {
        return Record::Other;
    }
    let speaker = speaker.or_else(|| Some(of_kind).filter(|kind| has_word(ROLES, kind)).map(str::to_owned));
    let mut said = first(inner, outer, TEXTS, |value| text(value, DEPTH));
    if let Some(poll) = outer.get("poll").and_then(poll) {
        said = Some(said.map_or_else(|| poll.clone(), |said| format!("{said}\n{poll}")));
    }
    if matches!(speaker.as_deref(), Some("user" | "human")) {
        said = said.and_then(|said| trimmed(&without_additions(said)));
    }
    let Some(text) = said else {
        let is_known = !of_kind.is_empty()
            || TEXTS.split(' ').chain(["role"]).any(|key| inner.contains_key(key))
            || (!outer.is_empty() && outer.keys().all(|key| key.starts_with('$')));
        // A line that only begins the log of a session.
        let begins = session.or_else(|| outer.get("instructions").and_then(|_| id()));
        return match begins.filter(|_| !is_known) {
            Some(session) => Record::Session(session),
            None if is_known => Record::Other,
            None => Record::Bad(format!("no text ({})", fields_of(outer))),
        };
    };
    let time = match time(outer, inner, zone) {
        Ok(time) => time,
        Err(reason) => return Record::Bad(reason),
    };
    // Without these, the `id` of several records can be that of their session.
    let is_of_turn = session.is_some() || kind(outer).is_some_and(|kind| has_word(ROLES, kind));
    let record = outer.get("id").filter(|_| is_of_turn).and_then(name);
    let speaker = match speaker {
        Some(speaker) if is(outer, "isSidechain") => Some(format!("{speaker} (side chain)")),
        speaker => speaker,
    };
    Record::Said(Said { turn: Turn { time, speaker, text }, session, form, record })
}

/// Returns `true` for a record of a state of the program, or of what it says by itself.
fn is_unsaid(of_kind: &str, outer: &Map<String, Value>, inner: &Map<String, Value>, form: Form) -> bool {
    let subtype = outer.get("subtype").and_then(Value::as_str);
    let role = inner.get("role").and_then(Value::as_str);
    is(outer, "isMeta")
        || is(outer, "isApiErrorMessage")
        || has_word(NO_TURNS, of_kind)
        || (of_kind == "system" && subtype.is_some())
        || (form == Form::First && matches!(role, Some("developer" | "system")))
        || subtype.is_some_and(|subtype| has_end(subtype, "_join _leave _topic _purpose _name _archive"))
}

fn is(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).and_then(Value::as_bool) == Some(true)
}

/// The question and the answers of a poll.
fn poll(value: &Value) -> Option<String> {
    let answers = value.get("answers").and_then(Value::as_array).into_iter().flatten();
    let answers = answers.filter_map(|answer| text(answer, DEPTH).map(|answer| format!("- {answer}")));
    let question = value.get("question").and_then(|question| text(question, DEPTH));
    trimmed(&question.into_iter().chain(answers).collect::<Vec<_>>().join("\n"))
}

/// What a user said, without the elements that a program added, each of which begins a line.
fn without_additions(mut said: String) -> String {
    for name in ADDED.lines() {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        if !said.contains(&open) {
            continue;
        }
        let (mut kept, mut rest) = (String::with_capacity(said.len()), said.as_str());
        while let Some(start) = rest.find(&open) {
            let (before, element) = rest.split_at(start);
            kept.push_str(before);
            if !(kept.is_empty() || kept.ends_with(['\n', '>'])) {
                kept.push_str(&open);
                rest = &element[open.len()..];
                continue;
            }
            rest = element;
            let Some(end) = element.find(&close) else { break };
            rest = &element[end + close.len()..];
        }
        kept.push_str(rest);
        said = kept;
    }
    let said = said.trim_start();
    let instructions = said.starts_with("# AGENTS.md instructions");
    let said = if instructions { said.split_once('\n').map_or("", |(_, rest)| rest) } else { said };
    said.replace("<command-args>", "").replace("</command-args>", "")
}

/// The value of the first of `keys` that `read` accepts, in `here` before `there`.
pub fn first<T>(
    here: &Map<String, Value>,
    there: &Map<String, Value>,
    keys: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    let find = |map: &Map<String, Value>| keys.split(' ').find_map(|key| read(map.get(key)?));
    find(here).or_else(|| find(there))
}

/// A name or a number, on one line.
pub fn name(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => one_line(text),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let text: String = text.chars().filter(|character| !character.is_control()).take(NAME_LENGTH).collect();
    non_empty(text)
}

/// The longest name of a speaker or a session, in characters.
const NAME_LENGTH: usize = 120;

/// The name of a speaker: a text, or an object with one.
fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::Object(map) => NAMES.split(' ').find_map(|key| name(map.get(key)?)),
        value => name(value),
    }
}

fn kind(map: &Map<String, Value>) -> Option<&str> {
    map.get("type").and_then(Value::as_str)
}

/// The text of a turn: a string, parts of which some are text, or an object with one of these.
fn text(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::String(text) => trimmed(&text.replace("\r\n", "\n")),
        Value::Array(parts) if depth > 0 => {
            let is_inline = |part: &Value| part.as_object().and_then(kind).is_some_and(|kind| has_word(INLINE, kind));
            if parts.iter().any(is_inline) {
                let words = |part: &Value| part.as_str().or_else(|| part.get("text")?.as_str()).map(str::to_owned);
                return trimmed(&parts.iter().filter_map(words).collect::<String>());
            }
            let texts: Vec<String> = parts.iter().filter_map(|part| text(part, depth - 1)).collect();
            trimmed(&texts.join("\n"))
        }
        Value::Object(map) if depth > 0 && is_said(map) => {
            ["text", "parts", "content", "value", "body"].iter().find_map(|key| text(map.get(*key)?, depth - 1))
        }
        _ => None,
    }
}

fn is_said(part: &Map<String, Value>) -> bool {
    let unsaid = |kind: &str| UNSAID.split(' ').any(|word| kind.contains(word));
    !is(part, "thought") && !kind(part).is_some_and(unsaid)
}

/// The text without what is blank around it; `None` if it is all blank.
fn trimmed(text: &str) -> Option<String> {
    let text = text.trim_end().trim_start_matches('\n');
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// A date and a time, or a number since 1970.
fn time(outer: &Map<String, Value>, inner: &Map<String, Value>, zone: &TimeZone) -> Result<Option<Timestamp>, String> {
    let Some(value) = first(outer, inner, TIMES, |value| (!value.is_null()).then(|| value.clone())) else {
        return Ok(None);
    };
    let moment = match &value {
        Value::Number(number) => number.as_f64().and_then(since_1970),
        Value::String(text) => dates::parse(text, zone).or_else(|| since_1970(text.trim().parse().ok()?)),
        _ => None,
    };
    moment.map(Some).ok_or_else(|| {
        let shown: String = value.to_string().chars().take(80).collect();
        format!("{shown} is not a time: expected RFC 3339, or seconds or milliseconds since 1970")
    })
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
    use super::*;

    /// Records, each with the time, speaker, text and session of its turn.
    const TURNS: &str = r##"
{"time": "2026-11-22T12:00:00Z", "speaker": "Ann", "text": "a", "session": "s"}
    noon, Ann, a, s
{"ts": 1795348800, "role": "user", "content": "a"}
    noon, user, a, -
{"timestamp": 1795348800000, "author": {"role": "tool", "name": "n"}, "body": "a"}
    noon, n, a, -
{"ts": "1795348800.000100", "type": "message", "user": "U1", "text": "a"}
    noon, U1, a, -
{"type": "user", "sessionId": "s", "timestamp": "2026-11-22T12:00:00Z", "message": {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "tool_result", "content": "hidden"}, {"type": "text", "text": "b"}]}}
    noon, user, a\nb, s
{"timestamp": "2026-11-22T12:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}}
    noon, assistant, a, -
{"create_time": 1795348800.0, "author": {"role": "user"}, "content": {"parts": ["a", "b"]}}
    noon, user, a\nb, -
{"sender": "human", "created_at": "2026-11-22T12:00:00Z", "text": "", "content": [{"type": "text", "text": "a"}]}
    noon, human, a, -
{"text": "a"}
    -, -, a, -
{"from": "Ann", "date": "2026-11-22T13:00:00", "date_unixtime": "1795348800", "text": ["a, see ", {"type": "link", "text": "https://weir.example"}, {"type": "bold", "text": " b"}, " c"]}
    noon, Ann, a, see https://weir.example b c, -
{"from": "Ann", "text": "", "poll": {"question": "When?", "answers": [{"text": "a"}, {"text": "b"}]}}
    -, Ann, When?\n- a\n- b, -
{"type": "gemini", "id": "m1", "timestamp": "2026-11-22T12:00:00Z", "content": [{"text": "hm", "thought": true}, {"text": "a"}, {"functionCall": {"name": "x"}}]}
    noon, gemini, a, -
{"sender": "@ann:weir.example", "origin_server_ts": 1795348800000, "type": "m.room.message", "content": {"msgtype": "m.text", "body": "a"}}
    noon, @ann:weir.example, a, -
{"type": "user", "isSidechain": true, "sessionId": "s", "message": {"role": "user", "content": "a"}}
    -, user (side chain), a, s
{"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "a"}}
    -, summary, a, -
{"type": "user", "message": {"role": "user", "content": "<command-name>/review</command-name>\n<command-args>the weir</command-args>\n<system-reminder>x</system-reminder>"}}
    -, user, the weir, -
{"type": "user", "message": {"role": "user", "content": "why does `<skill>x</skill>` fail?"}}
    -, user, why does `<skill>x</skill>` fail?, -"##;

    /// Records of what nobody said.
    const OTHERS: &str = r##"
{"type": "summary", "summary": "x"}
{"role": "assistant", "content": [{"type": "tool_use", "name": "x"}]}
{"speaker": "Ann", "text": ""}
{"type": "message", "subtype": "channel_join", "text": "Ann joined"}
{"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>a</INSTRUCTIONS>"}, {"type": "input_text", "text": "<environment_context>cwd</environment_context>"}]}}
{"type": "response_item", "payload": {"type": "message", "role": "developer", "content": "x"}}
{"type": "event_msg", "payload": {"type": "agent_reasoning", "text": "hm"}}
{"type": "system", "subtype": "local_command", "content": "x"}
{"type": "queue-operation", "content": "later"}
{"type": "info", "content": "signed in"}
{"$set": {"lastUpdated": "x"}}"##;

    /// Records that cannot be read, each with the reason.
    const BAD: &str = r##"
{"time": "2026-11-22", "who": "Ann"}
    no text (fields `time`, `who`)
{"time": "soon", "text": "a"}
    "soon" is not a time: expected RFC 3339, or seconds or milliseconds since 1970
{"time": 1e300, "text": "a"}
    1e+300 is not a time: expected RFC 3339, or seconds or milliseconds since 1970
[1]
    expected an object with the fields of a turn, found an array"##;

    fn of(json: &str) -> Record {
        record(&serde_json::from_str(json).expect("JSON"), &TimeZone::UTC)
    }

    /// The records of a list, each with the line below it.
    fn pairs(list: &str) -> impl Iterator<Item = (&str, &str)> {
        let lines: Vec<&str> = list.lines().skip(1).collect();
        lines.chunks(2).map(|pair| (pair[0], pair[1].trim())).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn reads_the_shapes_that_logs_have() {
        for (json, expected) in pairs(TURNS) {
            let Record::Said(Said { turn, session, .. }) = of(json) else { panic!("{json}") };
            let time = turn.time.map(|time| time.to_string().replace("2026-11-22T12:00:00Z", "noon"));
            let parts = [time, turn.speaker, Some(turn.text.replace('\n', "\\n")), session];
            assert_eq!(parts.map(|part| part.unwrap_or("-".to_owned())).join(", "), expected, "{json}");
        }
    }

    #[test]
    fn what_nobody_said_is_told_from_what_can_not_be_read() {
        for json in OTHERS.lines().skip(1) {
            assert!(matches!(of(json), Record::Other), "{json}");
        }
        for (json, expected) in pairs(BAD) {
            assert!(matches!(of(json), Record::Bad(reason) if reason == expected), "{json}");
        }
    }
}
