//! `tamis feedback` and `tamis search --guarantee`: from an answer to a promise.

use crate::support::{Tree, run};
use serde_json::Value;
use std::path::PathBuf;

const SUBJECTS: &str = "anchor barrel candle drum easel feather gramophone hammer inkwell jug kite lantern mandolin needle \
                        oar pendulum quill ribbon saddle telescope umbrella violin wheel xylophone yoke zither compass \
                        thimble pitcher sundial";

/// Thirty notes, each with a query that it answers.
fn museum() -> (Tree, PathBuf) {
    let tree = Tree::empty();
    let (mut queries, mut qrels) = (String::new(), String::from("query-id\tcorpus-id\tscore\n"));
    let subjects: Vec<&str> = SUBJECTS.split_whitespace().collect();
    for (at, subject) in subjects.iter().enumerate() {
        let shelf = subjects[(at + 7) % subjects.len()];
        tree.write(
            &format!("notes/{subject}.md"),
            &format!("# The {subject}\n\nThe {subject} came in {} and stands beside the {shelf}.\n", 1700 + at),
        );
        queries.push_str(&format!("{{\"_id\": \"q{at}\", \"text\": \"when did the {subject} come\"}}\n"));
        qrels.push_str(&format!("q{at}\tnotes/{subject}.md\t1\nq{at}\tnotes/{shelf}.md\t0\n"));
    }
    let judged = tree.home().join("judged");
    std::fs::create_dir_all(judged.join("qrels")).expect("made");
    std::fs::write(judged.join("queries.jsonl"), queries).expect("written");
    std::fs::write(judged.join("qrels/test.tsv"), qrels).expect("written");
    tree.tamis(&["index"]).assert().success();
    (tree, judged)
}

fn query_id(tree: &Tree, query: &str) -> String {
    tree.json(&["search", "--json", query])["query_id"].as_str().expect("recorded").to_owned()
}

#[test]
fn from_an_answer_to_a_promise() {
    let (tree, judged) = museum();
    let (code, _, err) = run(tree.tamis(&["feedback", "--list"]));
    assert_eq!(code, 1);
    assert!(err.contains("no search is recorded yet"), "{err}");

    let (code, out, _) = run(tree.tamis(&["search", "where is the lantern"]));
    assert_eq!(code, 0);
    let id = out.trim_end().rsplit_once("[query ").expect("an identifier").1.trim_end_matches(']').to_owned();
    let (code, out, err) = run(tree.tamis(&["feedback", &id, "1", "--relevant"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("relevant: notes/lantern.md:1 (candidate 1)"), "{out}");
    assert_eq!(run(tree.tamis(&["feedback", &id, "2", "3", "--not"])).0, 0);
    let list = tree.json(&["feedback", "--list", "--json"]);
    assert_eq!(
        (&list[0]["id"], &list[0]["relevant"], &list[0]["not_relevant"]),
        (&id.clone().into(), &1.into(), &2.into())
    );
    let (code, out, _) = run(tree.tamis(&["feedback", "--list"]));
    assert_eq!(code, 0);
    assert!(out.lines().count() == 2 && out.contains(&id) && out.contains("just now"), "{out}");

    let ask = ["search", "--guarantee", "recall=0.9", "when did the violin come"];
    let (code, out, err) = run(tree.tamis(&ask));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("from 1 judged query") && err.contains("at least 9 are needed, 8 more"), "{err}");

    let (code, out, err) = run(tree.tamis(&["feedback", "--import", &judged.to_string_lossy()]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("30 judged queries with 30 passages relevant"), "{out}");

    let (code, out, err) = run(tree.tamis(&ask));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("notes/violin.md:"), "{out}");
    assert!(out.contains("at least 90% of what is relevant is kept, going by 31 judged queries"), "{out}");
    let (_, out, _) = run(tree.tamis(&[&ask[..], &["--explain"]].concat()));
    assert!(out.contains("guarantee threshold") && out.contains("rule keep"), "{out}");
    let answer = tree.json(&[&ask[..], &["--json"]].concat());
    assert_eq!(answer["cut"]["method"], "guarantee");
    assert_eq!(answer["cut"]["diagnostics"]["judged_queries"], 31);

    let (code, _, err) = run(tree.tamis(&["feedback", "--forget", &id]));
    assert_eq!(code, 0, "{err}");
    let answer = tree.json(&[&ask[..], &["--json"]].concat());
    assert_eq!(answer["cut"]["diagnostics"]["judged_queries"], 30);
}

#[test]
fn the_same_question_obeys_what_was_judged() {
    let tree = Tree::indexed();
    let question = "how hot should the oven be";
    let found = tree.json(&["search", "--json", question]);
    let id = found["query_id"].as_str().expect("recorded");
    let first = found["results"][0]["path"].as_str().expect("found").to_owned();
    assert_eq!(found["results"][0]["judged_relevant"], Value::Null);
    assert_eq!(run(tree.tamis(&["feedback", id, "1", "--relevant"])).0, 0);
    let (_, out, _) = run(tree.tamis(&["search", question]));
    let line = out.lines().next().expect("a result");
    assert!(line.starts_with(&first) && line.contains("judged relevant"), "{out}");
    assert_eq!(tree.json(&["search", "--json", question])["results"][0]["judged_relevant"], true);

    assert_eq!(run(tree.tamis(&["feedback", id, "1", "--not"])).0, 0);
    let (_, out, _) = run(tree.tamis(&["search", question]));
    let lines: Vec<&str> = out.lines().filter(|line| line.contains(&first)).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("  "), "below the line: {out}");
    assert!(lines[0].ends_with("Oven  judged not relevant"), "{out}");
    let (_, out, _) = run(tree.tamis(&["search", "--explain", question]));
    assert!(out.contains("judged not relevant"), "{out}");
    // Another question knows nothing of it.
    let (_, out, _) = run(tree.tamis(&["search", "oven how hot"]));
    assert!(out.starts_with(&first) && !out.contains("judged"), "{out}");
}

#[test]
fn a_promise_in_the_configuration_holds_and_can_be_turned_off() {
    let (tree, judged) = museum();
    tree.tamis(&["feedback", "--import", &judged.to_string_lossy()]).assert().success();
    tree.write(".tamis/config.toml", "[search]\nguarantee = \"recall=0.8\"\n");
    let method = |arguments: &[&str]| {
        let answer = tree.json(&[&["search", "--json", "when did the kite come"][..], arguments].concat());
        answer["cut"]["method"].as_str().expect("a method").to_owned()
    };
    assert_eq!(method(&[]), "guarantee");
    assert_eq!(method(&["--guarantee", "off"]), "auto");
    tree.write(".tamis/config.toml", "[search]\nguarantee = \"f1=0.8\"\n");
    let (code, _, err) = run(tree.tamis(&["search", "kite"]));
    assert_eq!(code, 2);
    assert!(err.contains("search.guarantee = \"f1=0.8\"") && err.contains("use recall=0.9"), "{err}");
}

#[test]
fn telemetry_off_records_nothing_and_feedback_says_why() {
    let tree = Tree::indexed();
    let off = |arguments: &[&str]| {
        let mut command = tree.tamis(arguments);
        command.env("TAMIS_TELEMETRY_RECORD", "off");
        run(command)
    };
    let (code, out, err) = off(&["search", "--json", "how hot should the oven be"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).expect("JSON")["query_id"], Value::Null);
    assert!(!tree.root().join(".tamis/usage.db").exists());
    let (code, _, err) = off(&["feedback", "7k2m9qrt", "1", "--relevant"]);
    assert_eq!(code, 2);
    assert!(err.contains("telemetry is off"), "{err}");
    let (code, _, err) = off(&["feedback", "--list"]);
    assert_eq!(code, 1);
    assert!(err.contains("telemetry is off"), "{err}");
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_taken_down() {
    let tree = Tree::indexed();
    let id = query_id(&tree, "how hot should the oven be");
    for (arguments, part) in [
        (vec!["feedback", "nosuchid", "1", "--relevant"], "`tamis feedback --list` shows them"),
        (vec!["feedback", &id, "1", "999", "--relevant"], "a rank from 1 to"),
        (vec!["feedback", &id, "ffffffffffff", "--not"], "ffffffffffff: not in the index"),
        (vec!["feedback", &id, "1"], "--relevant"),
        (vec!["feedback", &id, "--relevant"], "PASSAGE"),
        (vec!["feedback", &id, "1", "--relevant", "--not"], "cannot be used with"),
        (vec!["feedback"], "QUERY_ID"),
        (vec!["feedback", "--forget", "nosuchid"], "`tamis feedback --list` shows them"),
        (vec!["feedback", "--import", "nowhere"], "nowhere"),
        (vec!["search", "--guarantee", "recall=2", "oven"], "above 0 and below 1"),
    ] {
        let (code, out, err) = run(tree.tamis(&arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    }
    assert_eq!(tree.json(&["feedback", "--list", "--json"])[0]["relevant"], 0);
    let empty = Tree::empty();
    let (code, _, err) = run(empty.tamis(&["feedback", "--list"]));
    assert_eq!(code, 2);
    assert!(err.contains("no index here yet"), "{err}");
}

#[test]
fn a_log_that_cannot_be_written_never_stops_a_search() {
    let tree = Tree::indexed();
    std::fs::create_dir(tree.root().join(".tamis/usage.db")).expect("made");
    let (code, out, err) = run(tree.tamis(&["search", "how hot should the oven be"]));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("docs/bread.md:") && !out.contains("[query "), "{out}");
    let (code, _, err) = run(tree.tamis(&["search", "-v", "how hot should the oven be"]));
    assert_eq!(code, 0);
    assert!(err.contains("could not be recorded, so it cannot be judged"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_read_only_index_answers_and_keeps_its_promises() {
    use std::os::unix::fs::PermissionsExt;
    let (tree, judged) = museum();
    if crate::support::ignores_permissions(tree.root()) {
        crate::support::skipped("a read-only log", "permissions do not stop this user");
        return;
    }
    tree.tamis(&["feedback", "--import", &judged.to_string_lossy()]).assert().success();
    let directory = tree.root().join(".tamis");
    let set = |mode| std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).expect("set");
    set(0o555);
    let plain = run(tree.tamis(&["search", "when did the violin come"]));
    let promised = run(tree.tamis(&["search", "--guarantee", "recall=0.9", "when did the violin come"]));
    set(0o755);
    assert_eq!(plain.0, 0, "{}", plain.2);
    assert!(plain.1.contains("notes/violin.md") && !plain.1.contains("[query "), "{}", plain.1);
    assert_eq!(promised.0, 0, "{}", promised.2);
    assert!(promised.1.contains("(guarantee)"), "{}", promised.1);
}

#[test]
fn results_that_are_opened_afterwards_are_counted() {
    let tree = Tree::indexed();
    let answer = tree.json(&["search", "--json", "heat the oven"]);
    let id = answer["results"][0]["id"].as_str().expect("found").to_owned();
    let opened = |tree: &Tree| tree.json(&["stats", "--json"])["opened"].clone();
    assert_eq!(opened(&tree)["passages"], 0);
    assert_eq!(run(tree.tamis(&["get", "docs/garden.md"])).0, 0);
    assert_eq!(opened(&tree)["passages"], 0, "it was not shown");
    let (code, text, err) = run(tree.tamis(&["get", &id]));
    assert_eq!((code, err.as_str()), (0, ""), "reading is as before");
    assert!(text.contains("240 degrees"), "{text}");
    assert_eq!(opened(&tree), serde_json::json!({ "searches": 1, "passages": 1 }));
    let (_, out, _) = run(tree.tamis(&["stats"]));
    assert!(out.contains("opened afterwards: 1 result of 1 search"), "{out}");
    // One key turns it off.
    let mut off = tree.tamis(&["search", "--json", "two tides a day"]);
    off.env("TAMIS_TELEMETRY_OPENED", "off");
    assert_eq!(run(off).0, 0);
    assert_eq!(run(tree.tamis(&["get", "docs/tides.md"])).0, 0);
    assert_eq!(opened(&tree)["passages"], 1);
}
