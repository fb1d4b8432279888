//! `tamis judge` against a chat endpoint in this process.

use crate::support::endpoint::{Endpoint, message, passage};
use crate::support::{Tree, run};
use serde_json::Value;

/// A chat model that grades 3 what says "oven" and 0 the rest, and refuses whoever has no key.
fn grader() -> Endpoint {
    Endpoint::start(|request, _| {
        let score = if passage(request.prompt()).to_lowercase().contains("oven") { 3 } else { 0 };
        let text = format!("##reason: It says so \u{1b}[31m.\n##final score: {score}");
        Some(if request.has_key() { (200, message(&text)) } else { (401, "no key".to_owned()) })
    })
}

fn model(url: &str) -> String {
    format!(
        "[judge]\nmodel = \"grader\"\ndepth = 3\n\n[models.grader]\nprovider = \"openai\"\nurl = \"{url}\"\nmodel = \"m\"\n\
         api_key_env = \"GRADER_KEY\"\nmax_retries = 0\n"
    )
}

/// A tree whose project names the model, and a file of queries.
fn tree(url: &str) -> Tree {
    let tree = Tree::indexed();
    tree.write(".tamis/config.toml", &model(url));
    tree.write("queries.txt", "heat the oven\n");
    tree
}

#[test]
fn from_a_plan_to_judgements_and_back() {
    let grader = grader();
    let tree = tree(&grader.url);
    let queries = ["judge", "--queries", "queries.txt"];
    let (code, _, err) = run(tree.tamis(&queries));
    assert_eq!(code, 2);
    assert!(err.contains("sends text to") && err.contains("tamis trust"), "{err}");
    assert_eq!(run(tree.tamis(&["trust"])).0, 0);

    let (code, out, err) = run(tree.tamis(&[&queries[..], &["--dry-run"]].concat()));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("to send: 3 calls") && out.contains("an integer scale of 0 to 3"), "{out}");
    let (code, _, err) = run(tree.tamis(&queries));
    assert_eq!(code, 2);
    assert!(err.contains("set the environment variable GRADER_KEY"), "{err}");
    assert_eq!(grader.calls(), 0, "nothing was sent so far");

    let graded = |arguments: &[&str]| {
        let mut command = tree.tamis(&[&queries[..], arguments].concat());
        command.env("GRADER_KEY", "sesame");
        run(command)
    };
    let (code, out, err) = graded(&["--max-calls", "2"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("stopped: the calls of the budget are made"), "{err}");
    assert!(out.contains("2 candidates of 1 query") && out.contains("It says so [31m"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out:?}");
    let (code, out, _) = graded(&["--json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (code, &report["graded"], &report["reused"], &report["stopped"]),
        (0, &1.into(), &2.into(), &Value::Null)
    );
    assert_eq!(report["grades"][0]["grade"], 3, "{report}");
    assert_eq!(grader.calls(), 3);

    let listed = tree.json(&["judge", "--list", "--json"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(3));
    assert!(listed[0]["model"].as_str().expect("a model").starts_with("openai:m@127.0.0.1"), "{listed}");
    let (_, out, _) = run(tree.tamis(&["judge", "--list"]));
    assert!(out.contains("relevant") && out.contains("It says so"), "{out}");
    let (code, _, err) = run(tree.tamis(&["judge", "--remove"]));
    assert_eq!((code, err.contains("deleted 3 grades and 3 judgements")), (0, true), "{err}");
    assert_eq!(run(tree.tamis(&["judge", "--list"])).0, 1);
    assert_eq!(run(tree.tamis(&["judge", "--remove"])).0, 1);
}

#[test]
fn past_queries_are_graded_where_their_texts_are_kept() {
    let grader = grader();
    let tree = tree(&grader.url);
    assert_eq!(run(tree.tamis(&["trust"])).0, 0);
    let judge = |tree: &Tree| {
        let mut command = tree.tamis(&["judge", "--json"]);
        command.env("GRADER_KEY", "sesame");
        run(command)
    };
    assert_eq!(run(tree.tamis(&["search", "heat the oven"])).0, 0);
    let (code, _, err) = judge(&tree);
    assert_eq!(code, 2);
    assert!(err.contains("telemetry.queries = off") && err.contains("--queries"), "{err}");
    tree.write(".tamis/config.toml", &format!("[telemetry]\nqueries = \"on\"\n\n{}", model(&grader.url)));
    assert_eq!(run(tree.tamis(&["trust"])).0, 0);
    let (code, _, err) = judge(&tree);
    assert_eq!(code, 1, "the search before was kept without its text: {err}");
    assert_eq!(run(tree.tamis(&["search", "heat the oven"])).0, 0);
    let (code, out, err) = judge(&tree);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["grades"][0]["query"], "heat the oven");
}

#[test]
fn the_agreement_with_people_is_printed_with_its_counts() {
    let grader = grader();
    let tree = tree(&grader.url);
    assert_eq!(run(tree.tamis(&["trust"])).0, 0);
    let documents = ["the oven", "an oven", "a tide", "a heap"];
    let line = |(at, text): (usize, &&str)| format!("{{\"_id\": \"d{at}\", \"text\": \"{text}\"}}\n");
    let outside = tree.home().join("judged");
    std::fs::create_dir_all(outside.join("qrels")).expect("made");
    let corpus: String = documents.iter().enumerate().map(line).collect();
    std::fs::write(outside.join("corpus.jsonl"), corpus).expect("written");
    std::fs::write(outside.join("queries.jsonl"), "{\"_id\": \"q\", \"text\": \"what is hot\"}\n").expect("written");
    std::fs::write(outside.join("qrels/test.tsv"), "q\td0\t1\nq\td1\t0\nq\td2\t0\nq\td3\t0\n").expect("written");
    let mut command = tree.tamis(&["judge", "--check", &outside.to_string_lossy()]);
    command.env("GRADER_KEY", "sesame");
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("4 graded pairs of 4 that people judged") && out.contains("Cohen's kappa 0.50"), "{out}");
}
