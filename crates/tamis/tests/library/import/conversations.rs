//! Conversations.

use crate::import::listing::{counts, listing};
use crate::support::{assert_says, opened_notes};
use tamis::import::{ConversationImport, ImportInput, ImportSummary};
use tamis::{Index, RunOptions, SearchRequest};

fn line(time: &str, speaker: &str, text: &str) -> String {
    serde_json::json!({ "time": time, "speaker": speaker, "text": text, "session": "backups" }).to_string()
}

/// A talk of three turns, the first `turns` of them.
fn log(name: &str, turns: usize) -> ImportInput {
    let lines = [
        line("2026-11-20T09:00:00Z", "Ann", "Where do the nightly archives go since the move?"),
        line("2026-11-20T09:01:00Z", "Ben", "To the second site, with the key of the operators."),
        line("2026-11-20T09:30:00Z", "Ann", "Danke, das genügt. I put it into the handbook."),
    ];
    ImportInput { name: name.into(), bytes: lines[..turns].join("\n").into_bytes() }
}

fn read(inputs: &[ImportInput]) -> ConversationImport {
    let zone = jiff::tz::TimeZone::UTC;
    ConversationImport::read(inputs, None, None, &zone).expect("read")
}

fn take_in(index: &Index, import: &ConversationImport) -> ImportSummary {
    index.imports().conversations(import, &()).expect("imported")
}

#[test]
fn a_conversation_is_found_goes_on_and_is_never_cut_short() {
    let (_tree, index) = opened_notes(&[]);
    let summary = take_in(&index, &read(&[log("team.jsonl", 2)]));
    assert_eq!((counts(&summary), summary.collection.as_str()), ((1, 0, 0, 0), "sessions"));
    index.complete(RunOptions::WHOLE, &()).expect("completed");
    let request =
        SearchRequest { collections: vec!["sessions".into()], ..SearchRequest::new("nightly archives second site") };
    let answer = index.search(&request).expect("searched");
    assert_eq!((answer.results[0].path.as_str(), answer.results[0].kind.as_str()), ("session:backups", "turns"));
    assert!(index.get("session:backups").expect("there").text.contains("key of the operators"));

    assert_eq!(counts(&take_in(&index, &read(&[log("team.jsonl", 2)]))), (0, 0, 1, 0));
    assert_eq!(counts(&take_in(&index, &read(&[log("team.jsonl", 3)]))), (0, 1, 0, 0));
    let before = listing(&index);
    assert!(before.iter().any(|line| line.contains("das genügt")));
    assert_eq!(counts(&take_in(&index, &read(&[log("team.jsonl", 1)]))), (0, 0, 0, 1));
    assert_eq!(listing(&index), before);
    let imported = index.imports().list().expect("listed");
    assert_eq!((imported[0].origin.as_str(), imported[0].documents), ("team.jsonl", 1));

    let sessions = |hours: &[u32]| {
        let line =
            |hour: &u32| format!(r#"{{"time":"2026-11-20T{hour:02}:00:00Z","speaker":"Ann","text":"At {hour}."}}"#);
        let bytes = hours.iter().map(line).collect::<Vec<_>>().join("\n").into_bytes();
        let (_tree, index) = opened_notes(&[]);
        take_in(&index, &read(&[ImportInput { name: "dir/day.jsonl".into(), bytes }])).added
    };
    assert_eq!((sessions(&[1, 3, 8, 9]), sessions(&[1, 3, 10, 11]), sessions(&[1, 8, 15])), (1, 2, 3));
}

#[test]
fn another_log_and_a_bad_turn_are_refused() {
    let (_tree, index) = opened_notes(&[]);
    take_in(&index, &read(&[log("team.jsonl", 2)]));
    let before = listing(&index);
    let error = index.imports().conversations(&read(&[log("other.jsonl", 3)]), &()).expect_err("refused");
    let error = error.to_string();
    assert!(error.contains("team.jsonl") && error.contains("namespace"), "{error}");
    let both = read(&[log("a.jsonl", 2), log("b.jsonl", 3)]);
    let apart = ConversationImport { namespace: Some("talks".into()), ..both };
    assert!(index.imports().conversations(&apart, &()).is_err(), "two logs in one import");
    assert_eq!(listing(&index), before);

    let (_tree, index) = opened_notes(&[]);
    let mut broken = log("team.jsonl", 2);
    // A last line without an end would be one that is still being written.
    broken.bytes.extend(b"\n{\"time\": \"2026-11-2\n");
    let import = read(&[broken]);
    let before = listing(&index);
    assert_says(
        index.imports().conversations(&import, &()).expect_err("refused"),
        &["team.jsonl: line 3", "leave them out"],
    );
    assert_eq!(listing(&index), before);
    let dry = ConversationImport { skip_bad: true, dry_run: true, ..import.clone() };
    assert_eq!(counts(&take_in(&index, &dry)), (1, 0, 0, 0));
    assert_eq!(listing(&index), before);
    let summary = take_in(&index, &ConversationImport { skip_bad: true, ..import });
    assert_eq!((counts(&summary), summary.bad.len()), ((1, 0, 0, 0), 1));
}
