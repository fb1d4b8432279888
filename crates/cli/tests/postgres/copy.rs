//! `tamis store copy` through the program: a directory to a database and back.

use crate::database::TestDatabase;
use crate::support::Root;
use crate::{decided, done, json_of, tamis, tree};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tamis_store::prelude::*;

const GRAPH: &str = r#"{"record":"task","id":"t1","question":"Does folic acid prevent strokes?"}
{"record":"work","id":"w1","title":"Vitamins and the heart","authors":["Ada Ek","Bo Berg"],"year":2015}
{"record":"page","id":"p1","url":"https://www.trials.example/folic","title":"A trial of vitamins","work_id":"w1"}
{"record":"fragment","id":"f1","page_id":"p1","text":"Strokes were a tenth rarer among those who took folic acid.","position":3}
{"record":"claim","id":"c1","task_id":"t1","text":"Folic acid makes strokes rarer.","type":"effect","confidence":0.7}
{"record":"edge","source_type":"fragment","source_id":"f1","target_type":"claim","target_id":"c1","relation":"supports"}
"#;

const QUESTIONS: [&[&str]; 5] = [
    &["search", "--json", "how hot should the oven be"],
    &["search", "--json", "the tide near the mill", "-n", "50"],
    &["search", "--json", "--mode", "semantic", "when does the water rise", "--no-gate"],
    &["search", "--json", "--mode", "lexical", "retry"],
    &["search", "--json", "--collection", "evidence", "--no-gate", "folic acid and strokes"],
];

/// An indexed tree with evidence and feedback.
fn filled() -> Root {
    let root = tree();
    fs::write(root.join("graph.jsonl"), GRAPH).expect("written");
    done(tamis(&root, None).args(["index", "-q"]));
    done(tamis(&root, None).args(["import", "evidence"]).arg(root.join("graph.jsonl")));
    let found = json_of(tamis(&root, None).args(QUESTIONS[0]));
    let (query, passage) = (text(&found["query_id"]), text(&found["results"][0]["id"]));
    done(tamis(&root, None).args(["feedback", query, "--relevant", passage]));
    root
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Copies, and returns the summary.
fn copied(root: &Path, from: &str, to: &str) -> Value {
    json_of(tamis(root, None).args(["store", "copy", "--json", from, to]))
}

/// What an index answers, without what differs at each call.
fn answers(root: &Path, url: Option<&str>, index: Option<&Path>) -> Vec<Value> {
    let ask = |words: &[&str]| {
        let mut command = tamis(root, url);
        if let Some(index) = index {
            command.env("TAMIS_INDEX", index);
        }
        command.args(words);
        command
    };
    let mut answers: Vec<Value> = QUESTIONS.iter().map(|words| decided(&json_of(&mut ask(words)))).collect();
    answers.push(json!(done(&mut ask(&["evidence", "export"]))));
    let sql = "SELECT c.text, e.relation, f.text FROM edges e JOIN claims c ON c.id = e.target_id JOIN fragments f ON f.id = e.source_id";
    answers.push(json!(done(&mut ask(&["sql", "--jsonl", sql]))));
    // The questions above are recorded as well.
    let mut judged = json_of(&mut ask(&["feedback", "--list", "--json"]));
    judged.as_array_mut().expect("a list").retain(|search| search["relevant"] != json!(0));
    assert_eq!(judged.as_array().map(Vec::len), Some(1), "{judged:#}");
    answers.push(judged);
    answers
}

#[test]
fn an_index_answers_the_same_after_it_went_to_a_database_and_back() {
    let Some(database) = TestDatabase::create() else { return };
    let (root, url) = (filled(), database.url());
    let there = copied(&root, ".", &url);
    assert_eq!(there["equal"], true, "{there:#}");
    assert_eq!(there["written"]["documents"], 84, "82 files, a fragment and a claim");
    let mill = &there["namespaces"][0];
    assert_eq!((&mill["evidence"]["from"], &mill["evidence"]["different"]), (&json!(6), &json!(0)), "{mill:#}");
    assert!(mill["vectors"][0]["vectors"]["from"].as_u64().expect("a number") > 80, "{mill:#}");
    let again = copied(&root, ".", &url);
    let nothing = again["written"].as_object().expect("an object").values().all(|number| *number == json!(0));
    assert!(nothing && again["equal"] == json!(true), "{again:#}");

    let back = root.join("back/.tamis");
    let returned = copied(&root, &url, root.join("back").to_str().expect("a path"));
    assert_eq!((&returned["equal"], &returned["settings_left"]), (&json!(true), &Value::Null), "{returned:#}");
    // Asking records searches, so all is copied before anything is asked.
    let here = answers(&root, None, None);
    assert_eq!(answers(&root, Some(&url), None), here);
    assert_eq!(answers(&root, None, Some(&back)), here);
    // The copies are whole indexes: nothing has to be read or embedded again.
    let run = json_of(tamis(&root, Some(&url)).args(["index", "--json"]));
    assert_eq!((&run["added"], &run["changed"]), (&json!(0), &json!(0)), "{run:#}");
    for check in [&["store", "check"][..], &["doctor", "--check-only"]] {
        done(tamis(&root, Some(&url)).args(check));
    }
}

#[test]
fn what_differs_is_updated_and_what_is_only_there_stays_unless_it_is_to_go() {
    let Some(database) = TestDatabase::create() else { return };
    let (root, url) = (filled(), database.url());
    copied(&root, ".", &url);
    fs::write(root.join("mill/oven.md"), "# Oven\n\nThe oven is cold.\n").expect("written");
    fs::remove_file(root.join("mill/tide-7.md")).expect("removed");
    done(tamis(&root, None).args(["index", "-q"]));
    let updated = copied(&root, ".", &url);
    assert_eq!((&updated["equal"], &updated["written"]["documents"]), (&json!(true), &json!(1)), "{updated:#}");
    assert_eq!(updated["namespaces"][0]["kept"], 1);
    let said = done(tamis(&root, None).args(["store", "copy", ".", &url]));
    assert!(said.contains("kept: 1 document that the source does not have; --delete deletes them"), "{said}");
    let said = done(tamis(&root, None).args(["store", "copy", "--delete", ".", &url]));
    assert!(said.contains("deleted 1 document") && !said.contains("kept"), "{said}");
    let unknown =
        tamis(&root, None).args(["store", "copy", ".", &url, "--namespace", "elsewhere"]).output().expect("runs");
    let message = String::from_utf8_lossy(&unknown.stderr);
    assert!(unknown.status.code() == Some(2) && message.contains("mill"), "{message}");
    let same = tamis(&root, None).args(["store", "copy", ".", "."]).output().expect("runs");
    assert!(same.status.code() == Some(2), "{}", String::from_utf8_lossy(&same.stderr));
}

#[test]
fn a_copy_that_is_killed_goes_on_where_it_was() {
    let Some(database) = TestDatabase::create() else { return };
    let (root, url) = (filled(), database.url());
    for number in 0..900 {
        let text = format!("# Ship {number}\n\nShip {number} left with {} barrels of flour.\n", number * 7);
        fs::write(root.join(format!("mill/ship-{number}.md")), text).expect("written");
    }
    done(tamis(&root, None).args(["index", "-q"]));
    let store = database.open("mill");
    let documents = || store.documents("mill").expect("read").len();
    for _ in 0..2 {
        let before = documents();
        let mut copy = tamis(&root, None).args(["store", "copy", "-q", ".", &url]).spawn().expect("it starts");
        // A batch is committed, and others are still to come.
        while documents() == before && copy.try_wait().expect("asked").is_none() {}
        copy.kill().expect("killed");
        copy.wait().expect("ended");
        let now = documents();
        assert!(before < now && now < 984, "killed with {before} documents before it and {now} after it");
    }
    let there = documents() as u64;
    let last = copied(&root, ".", &url);
    assert_eq!(last["equal"], true, "{last:#}");
    assert_eq!(last["written"]["documents"], json!(984 - there), "what was there is not written again");
    assert_eq!(last["namespaces"][0]["documents"], json!({ "from": 984, "to": 984, "different": 0 }));
    done(tamis(&root, Some(&url)).args(["store", "check"]));
}
