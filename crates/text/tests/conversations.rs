//! Logs of conversations: turns, sessions and passages.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use tamis_text::{
    Conversation, ConversationFormatError, ConversationLog, ConversationOptions, Kind, Turn, estimate_tokens,
    read_conversations,
};

fn log(text: &str) -> ConversationLog {
    read_conversations(text.as_bytes(), &ConversationOptions::default()).expect("a log")
}

fn fails(text: &str) -> ConversationFormatError {
    read_conversations(text.as_bytes(), &ConversationOptions::default()).expect_err("no log")
}

/// The name and the turns of each session.
fn told(log: &ConversationLog) -> Vec<(&str, Vec<&str>)> {
    log.conversations
        .iter()
        .map(|session| (session.name.as_str(), session.turns.iter().map(|turn| turn.text.as_str()).collect()))
        .collect()
}

const MIXED: &str = r#"{"type":"session","id":"harbour-42","timestamp":"2026-11-22T09:00:00Z"}
{"type":"user","timestamp":"2026-11-22T09:00:05Z","message":{"role":"user","content":"Where do the tide tables come from?"}}
{"type":"assistant","timestamp":"2026-11-22T09:00:09Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"From the hydrographic office."},{"type":"tool_use","name":"read"}]}}
{"type":"user","timestamp":"2026-11-22T09:00:10Z","message":{"role":"user","content":[{"type":"tool_result","content":"long output"}]}}
{"type":"summary","summary":"Tides"}
{"type":"assistant","timestamp":"2026-11-22T09:00:12Z","message":{"role":"assistant","content":[{"type":"text","text":"Updated each größere Flut."}]}}
"#;

#[test]
fn calls_of_tools_and_states_are_left_out_and_counted() {
    let log = log(MIXED);
    let said = ["Where do the tide tables come from?", "From the hydrographic office.", "Updated each größere Flut."];
    assert_eq!(told(&log), [("harbour-42", said.to_vec())]);
    assert_eq!((log.other, log.repeated, log.bad.len()), (3, 0, 0));
    assert_eq!(log.conversations[0].turns[1].speaker.as_deref(), Some("assistant"));
}

#[test]
fn turns_without_a_session_are_divided_by_silence() {
    let text = r#"{"time": "2026-11-22 22:00", "speaker": "Ann", "text": "a"}
{"time": "2026-11-23 03:59", "speaker": "Ben", "text": "b"}
{"time": "2026-11-23 10:00", "speaker": "Ann", "text": "c"}
{"speaker": "Ben", "text": "d"}
{"time": "2026-11-22 22:01", "speaker": "Ben", "text": "late"}"#;
    let sessions = [("2026-11-22T22:00Z", vec!["a", "late", "b"]), ("2026-11-23T10:00Z", vec!["c", "d"])];
    assert_eq!(told(&log(text)), sessions);
    let (gap, name) = (Duration::from_secs(60 * 60 * 24), Some("dock".to_owned()));
    let options = ConversationOptions { gap, name, ..ConversationOptions::default() };
    let log = read_conversations(text.as_bytes(), &options).expect("a log");
    assert_eq!(told(&log), [("dock/2026-11-22T22:00Z", vec!["a", "late", "b", "c", "d"])]);
}

#[test]
fn arrays_of_turns_and_of_sessions_are_read() {
    let turns = r#"[{"role": "user", "content": "a", "session_id": "x"}, {"role": "user", "content": "b", "session_id": "y"}, {"role": "user", "content": "c", "session_id": "x"}]"#;
    assert_eq!(told(&log(turns)), [("x", vec!["a", "c"]), ("y", vec!["b"])]);
    let sessions = r#"[{"uuid": "s1", "name": "Locks", "chat_messages": [{"sender": "human", "text": "a", "created_at": "2026-11-22T09:00:00Z"}]},
      {"title": "Sluices", "messages": [{"role": "user", "content": "b"}, 7]}]"#;
    let log = log(sessions);
    assert_eq!(told(&log), [("s1", vec!["a"]), ("log", vec!["b"])]);
    assert_eq!(log.conversations[1].title.as_deref(), Some("Sluices"));
    assert_eq!(log.bad.iter().map(|bad| bad.position.as_str()).collect::<Vec<_>>(), ["record 2, turn 2"]);
}

#[test]
fn of_a_graph_of_branches_the_current_one_is_read() {
    let text = r#"{"id": "g", "title": "Graph", "current_node": "c", "mapping": {
        "a": {"message": null, "parent": null},
        "b": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["first"]}, "create_time": 1795348800.5}, "parent": "a"},
        "x": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["other branch"]}}, "parent": "a"},
        "c": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["second"]}, "create_time": 1795348801}, "parent": "b"}}}"#;
    assert_eq!(told(&log(text)), [("g", vec!["first", "second"])]);
    // A circle ends when it closes.
    let circle = r#"{"id": "g", "current_node": "a", "mapping": {"a": {"message": {"role": "user", "content": "x"}, "parent": "a"}}}"#;
    assert_eq!(told(&log(circle)), [("g", vec!["x"])]);
}

#[test]
fn bad_lines_are_reported_by_number_and_the_rest_is_read() {
    let text = "{\"time\": \"2026-11-22\", \"speaker\": \"Ann\", \"text\": \"a\"}\n\nnot json\n{\"time\": \"soon\", \"text\": \"b\"}\n[1]\n{\"speaker\": \"Ben\", \"text\": \"c\"}\n{\"speaker\": \"Ben\", \"te";
    let log = log(text);
    assert_eq!(told(&log), [("2026-11-22T00:00Z", vec!["a", "c"])]);
    let positions: Vec<_> = log.bad.iter().map(|bad| bad.position.as_str()).collect();
    assert_eq!(positions, ["line 3", "line 4", "line 5"]);
    assert_eq!(log.unfinished, 1, "the last line is still being written");
    let ended = read_conversations(format!("{text}\n").as_bytes(), &ConversationOptions::default()).expect("a log");
    assert_eq!((ended.unfinished, ended.bad.len()), (0, 4));
    assert!(log.bad[1].reason.contains("soon"), "{}", log.bad[1].reason);
}

#[test]
fn what_is_no_log_says_what_one_is() {
    assert_eq!(fails(" \n"), ConversationFormatError::Empty);
    let broken = fails("[{\"text\": \"a\"},\n{\"te").to_string();
    assert!(broken.contains("line 2"), "{broken}");
    assert!(matches!(fails("{\n\"messages\": [\n{\"text\""), ConversationFormatError::Broken { .. }));
    let told = fails("{\"number\": 1, \"title\": \"an issue\"}").to_string();
    assert!(told.contains("`number`") && told.contains("speaker"), "{told}");
    assert!(matches!(fails("a plain text\nof lines"), ConversationFormatError::NoTurns { records: 2, .. }));
    assert!(matches!(fails("{\"type\": \"summary\"}"), ConversationFormatError::NoTurns { records: 1, .. }));
    let log = log(&format!("{MIXED}{MIXED}"));
    assert_eq!((log.conversations.len(), log.conversations[0].turns.len(), log.repeated), (1, 3, 3));
}

/// A log that holds each turn once for the model and once for the screen.
const TWO_FORMS: &str = r#"{"timestamp":"2026-11-22T09:00:00Z","type":"session_meta","payload":{"id":"c1"}}
{"timestamp":"2026-11-22T09:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"timestamp":"2026-11-22T09:00:02Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}}
{"timestamp":"2026-11-22T09:00:03Z","type":"event_msg","payload":{"type":"user_message","message":"Go on"}}
{"timestamp":"2026-11-22T09:00:04Z","type":"event_msg","payload":{"type":"agent_message","message":"Done"}}
{"timestamp":"2026-11-22T09:00:05Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"input_text","text":"Done"}]}}
}

#[test]
fn a_log_that_repeats_what_came_before_is_read_once() {
{"timestamp":"2026-11-22T09:00:06Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}}
{"timestamp":"2026-11-22T09:00:06Z","type":"event_msg","payload":{"type":"user_message","message":"Go on"}}
{"timestamp":"2026-11-22T09:00:07Z","type":"event_msg","payload":{"type":"agent_message","message":"Only on the screen"}}"#;

#[test]
fn a_turn_that_is_logged_in_two_forms_is_read_once() {
    let log = log(TWO_FORMS);
    assert_eq!(told(&log), [("c1", vec!["Go on", "Done", "Go on", "Only on the screen"])]);
    let speakers: Vec<_> = log.conversations[0].turns.iter().filter_map(|turn| turn.speaker.as_deref()).collect();
    assert_eq!((speakers, log.repeated), (vec!["user", "assistant", "user", "assistant"], 3));
}

#[test]
fn a_record_that_is_logged_again_has_its_last_text() {
    let text = r#"{"sessionId": "g1", "projectHash": "x", "startTime": "2026-11-22T09:00:00Z"}
{"id": "m1", "timestamp": "2026-11-22T09:00:00Z", "type": "user", "content": "Where?"}
{"id": "m2", "timestamp": "2026-11-22T09:00:01Z", "type": "gemini", "content": "To the"}
{"$set": {"lastUpdated": "x"}}
{"id": "m2", "timestamp": "2026-11-22T09:00:01Z", "type": "gemini", "content": "To the second site."}"#;
    let found = log(text);
    assert_eq!((told(&found), found.repeated), (vec![("g1", vec!["Where?", "To the second site."])], 1));
    let plain = log(
        "{\"session\": \"1\", \"id\": \"a\", \"text\": \"old\"}\n{\"session\": \"1\", \"id\": \"a\", \"text\": \"new\"}\n",
    );
    assert_eq!(told(&plain), [("1", vec!["new"])]);
}

#[test]
fn half_a_character_costs_no_record() {
    for text in [
        r#"{"name": "Locks", "id": 1, "messages": [{"from": "Ann", "text": "cut \ud83d off"}, {"from": "Ben", "text": "b"}]}"#,
        "{\"session\": \"1\", \"text\": \"cut \\ud83d off\"}\n{\"session\": \"1\", \"text\": \"b\"}\n",
        "{\"chats\": {\"list\": [{\"id\": 1, \"messages\": [\n{\"text\": \"cut \\ud83d off\"}, {\"text\": \"b\"}]}]}}",
    ] {
        assert_eq!(told(&log(text)), [("1", vec!["cut \u{fffd} off", "b"])], "{text}");
    }
}

#[test]
fn passages_of_a_session_say_who_and_when() {
    let log = log(MIXED);
    let session = &log.conversations[0];
    assert_eq!(Conversation::path(&session.name), "session:harbour-42");
    let document = session.document(&ConversationOptions::default());
    assert_eq!(document.passages.len(), 1);
    let passage = &document.passages[0];
    assert_eq!((passage.kind, passage.own.part, passage.own.author.as_deref()), (Kind::Turns, Some(0), None));
    assert!(passage.text.starts_with(
        "user (2026-11-22 09:00): Where do the tide tables come from?\n\nassistant (2026-11-22 09:00): From"
    ));
    assert_eq!(passage.own.dated_ns, Some(1_795_338_012_000_000_000));
    let speakers: Vec<_> = document.attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(speakers, ["speaker=user", "speaker=assistant"]);
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = (
        prop::option::of(0_i64..2_000_000_000),
        prop::option::of(prop::sample::select(vec!["Ann", "Ben", "größer Name", "two\nlines"])),
        "([a-zé語]{1,9}[ .\n]){1,60}",
    );
    let turn = turn.prop_map(|(time, speaker, text)| Turn {
        time: time.and_then(|time| Timestamp::from_second(time).ok()),
        speaker: speaker.map(str::to_owned),
        text,
    });
    prop::collection::vec(turn, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_turn_is_in_a_passage(turns in turns(), max_tokens in 0_usize..200) {
        let session = Conversation { name: "s".to_owned(), title: None, turns };
        let options = ConversationOptions { max_tokens, ..ConversationOptions::default() };
        let rendered = session.rendered(&options.time_zone);
        let lines: Vec<&str> = rendered.split('\n').collect();
        let document = session.document(&options);
        let mut held = vec![false; lines.len()];
        for passage in &document.passages {
            let here = lines[passage.start_line as usize - 1..passage.end_line as usize].join("\n");
            prop_assert!(here.contains(&passage.text));
            prop_assert!(estimate_tokens(&passage.text) <= max_tokens.max(32));
            held[passage.start_line as usize - 1..passage.end_line as usize].fill(true);
            let turns = &session.turns[session.turns_at(passage.start_line, passage.end_line)];
            prop_assert!(!turns.is_empty());
            if let Some(author) = &passage.own.author {
                prop_assert!(turns.iter().all(|turn| turn.speaker.as_ref() == Some(author)));
            }
        }
        for (line, held) in lines.iter().zip(held) {
            prop_assert!(held || line.trim().is_empty(), "{:?} is in no passage", line);
        }
        for (turn, (first, last)) in session.turns.iter().zip(session.turn_lines()) {
            let here = lines[first as usize - 1..last as usize].join("\n");
            prop_assert!(here.contains(turn.text.trim()));
        }
    }

    #[test]
    fn our_own_lines_are_read_back(turns in turns()) {
        let lines: Vec<String> = turns.iter().map(|turn| serde_json::to_string(turn).expect("a turn")).collect();
        let said: usize = turns.iter().filter(|turn| !turn.text.trim().is_empty()).count();
        match read_conversations(lines.join("\n").as_bytes(), &ConversationOptions::default()) {
            Ok(log) => {
                for session in &log.conversations {
                    let record = serde_json::to_string(session).expect("a record");
                    prop_assert_eq!(&serde_json::from_str::<Conversation>(&record).expect("the session"), session);
                }
                let read: usize = log.conversations.iter().map(|session| session.turns.len()).sum();
                prop_assert_eq!((read + log.repeated, log.bad.len()), (said, 0));
            }
            Err(error) => prop_assert!(said == 0, "{}", error),
        }
    }
}
