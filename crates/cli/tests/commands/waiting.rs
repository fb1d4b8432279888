//! Nothing waits for the better model unless the user asks for it, and no search complains about it.

use crate::support::{Tree, run};
use serde_json::{Value, json};

const OVEN: &str = "how hot should the oven be";

/// The sample files and more passages than the better model embeds while somebody waits.
fn large() -> Tree {
    let tree = Tree::new();
    for number in 0..100 {
        tree.write(&format!("moraines/{number}.md"), &format!("# Moraine {number}\n\nA glacier of number {number}.\n"));
    }
    tree
}

/// Runs the binary with both built-in models.
fn both(tree: &Tree, arguments: &[&str]) -> (i32, String, String) {
    let mut command = tree.tamis(arguments);
    command.env("TAMIS_INDEX_MODELS", "static,minilm").env("TAMIS_SEARCH_GATE", "false");
    run(command)
}

fn json_of(tree: &Tree, arguments: &[&str]) -> (Value, String) {
    let (code, out, err) = both(tree, arguments);
    assert_eq!(code, 0, "{arguments:?}: {err}");
    (serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}")), err)
}

#[test]
fn an_index_run_ends_with_the_first_model_and_says_so_once() {
    let tree = large();
    let (code, out, err) = both(&tree, &["index"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("static: ") && out.contains("not embedded yet; `tamis index --wait` embeds them"), "{out}");
    assert_eq!(out.matches("a second").count(), 1, "one model embedded: {out}");

    let (code, out, err) = both(&tree, &["search", "--fast", OVEN]);
    assert_eq!((code, err.as_str()), (0, ""), "a search warns of nothing");
    assert!(out.contains("docs/bread.md") && !out.contains("minilm"), "{out}");
    let (answer, _) = json_of(&tree, &["search", "--fast", "--json", OVEN]);
    assert_eq!((&answer["model"], &answer["fallback_reason"]), (&"static-256-v2".into(), &Value::Null), "{answer}");
    assert!(answer["pending_model"].as_str().is_some_and(|text| text.starts_with("minilm covers 0 of ")), "{answer}");
    let (_, out, _) = both(&tree, &["search", "--fast", "--explain", OVEN]);
    assert!(out.contains("better model") && out.contains("minilm covers 0 of "), "{out}");

    let (status, _) = json_of(&tree, &["status", "--json"]);
    assert_eq!(status["pending"], json!({ "minilm": status["passages"] }), "{status}");
    assert!(both(&tree, &["status"]).1.contains("not embedded yet; `tamis index --wait` embeds them"));
    for command in [&["related", "docs/bread.md:7"][..], &["pack", OVEN], &["recall", OVEN]] {
        let (_, _, err) = both(&tree, command);
        assert!(!err.contains("minilm"), "{command:?}: {err}");
    }
}

#[test]
fn a_model_asked_for_by_name_says_what_it_lacks() {
    let tree = large();
    both(&tree, &["index"]);
    let (code, _, err) = both(&tree, &["search", "--model", "minilm", OVEN]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning: answered with words alone: minilm covers 0 of "), "{err}");
    assert!(err.contains("`tamis index --wait`"), "{err}");
    let (answer, _) = json_of(&tree, &["search", "--json", "--model", "minilm", OVEN]);
    assert_eq!((&answer["mode_used"], &answer["pending_model"]), (&"lexical".into(), &Value::Null), "{answer}");
    assert!(answer["fallback_reason"].as_str().is_some_and(|reason| reason.contains("minilm covers 0 of")), "{answer}");
}

#[test]
fn who_waits_gets_every_model() {
    let tree = large();
    let (report, _) = json_of(&tree, &["index", "--wait", "--json"]);
    assert_eq!(report["pending"], json!({}), "{report}");
    assert_eq!(report["embedded"]["minilm"], report["embedded"]["static"], "{report}");
    let (answer, _) = json_of(&tree, &["search", "--json", OVEN]);
    assert!(answer["model"].as_str().is_some_and(|model| model.starts_with("minilm")), "{answer}");
    assert_eq!((&answer["fallback_reason"], &answer["pending_model"]), (&Value::Null, &Value::Null), "{answer}");
    assert_eq!(json_of(&tree, &["status", "--json"]).0["pending"], json!({}));
}

#[test]
fn an_import_ends_with_the_first_model_too() {
    let tree = large();
    both(&tree, &["index", "--wait"]);
    let issue =
        |number| json!({"number": number, "title": "Oven stays cold", "body": format!("It lacks heat {number}.")});
    tree.write("issues.json", &json!((1..=65).map(issue).collect::<Vec<_>>()).to_string());
    let (report, _) = json_of(&tree, &["import", "issues", "issues.json", "--json"]);
    assert_eq!(report["index"]["pending"], json!({ "minilm": 65 }), "{report}");
    let (_, out, _) = both(&tree, &["import", "issues", "issues.json"]);
    assert!(out.contains("minilm: 65 passages not embedded yet; `tamis index --wait` embeds them"), "{out}");
    let (report, _) = json_of(&tree, &["import", "issues", "issues.json", "--wait", "--json"]);
    assert_eq!((&report["index"]["pending"], &report["index"]["embedded"]), (&json!({}), &json!({ "minilm": 65 })));
}

#[test]
fn the_first_search_of_a_tree_says_once_what_is_left() {
    let tree = large();
    let (code, _, err) = both(&tree, &["search", OVEN]);
    assert_eq!(code, 0);
    assert!(err.contains("indexed 107 files") && err.contains("`tamis index --wait` embeds them"), "{err}");
    assert_eq!(both(&tree, &["search", OVEN]).2, "");
}

#[test]
fn a_few_passages_are_embedded_at_once_as_before_a_search() {
    let tree = Tree::new();
    let mut command = tree.tamis(&["index", "--json"]);
    command.env("TAMIS_INDEX_MODELS", "static,minilm");
    let report: Value = serde_json::from_str(&run(command).1).expect("JSON");
    assert_eq!(report["pending"], json!({}), "{report}");
    assert_eq!(report["embedded"]["minilm"], report["embedded"]["static"], "{report}");
}

#[test]
fn a_model_that_is_alone_is_waited_for() {
    let tree = large();
    let mut command = tree.tamis(&["index", "--json"]);
    command.env("TAMIS_INDEX_MODELS", "minilm");
    let report: Value = serde_json::from_str(&run(command).1).expect("JSON");
    assert_eq!(report["pending"], json!({}), "{report}");
    assert!(report["embedded"]["minilm"].as_u64() > Some(0), "{report}");
}
