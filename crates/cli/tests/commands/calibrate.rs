//! `tamis calibrate`: from symbols to the thresholds that the cut `language` applies.

use crate::support::{Tree, run};
use serde_json::Value;

/// Eight files of five functions each, all on one subject.
fn workshop() -> Tree {
    let tree = Tree::empty();
    for subject in ["oven", "anchor", "violin", "comet", "glacier", "parser", "invoice", "orchard"] {
        let function = |verb: &str| {
            format!(
                "/// {verb} the {subject} and say what became of the {subject}.\npub fn {verb}_{subject}({subject}: &str) -> \
                 String {{\n    let mut {subject}_state = {subject}.to_owned();\n    {subject}_state.push_str(\"{verb}\");\n    \
                 {subject}_state\n}}\n"
            )
        };
        let functions: Vec<String> = ["open", "measure", "repair", "describe", "release"].map(function).into();
        tree.write(&format!("src/{subject}.rs"), &functions.join("\n"));
    }
    tree.tamis(&["index"]).assert().success();
    tree
}

fn config(tree: &Tree) -> String {
    std::fs::read_to_string(tree.root().join(".tamis/config.toml")).unwrap_or_default()
}

#[test]
fn from_symbols_to_the_threshold_of_a_search() {
    let tree = workshop();
    let dry = tree.json(&["calibrate", "--dry-run", "--json"]);
    assert_eq!((&dry["languages"][0]["language"], &dry["languages"][0]["written"]), (&"rust".into(), &false.into()));
    assert_eq!(config(&tree), "");
    let comment = "# ours, and it stays\n[search] # here too\ntop_k = 7\n";
    tree.write(".tamis/config.toml", comment);

    let (code, out, err) = run(tree.tamis(&["calibrate"]));
    assert!(
        code == 0 && out.contains("nothing was written") && err.contains("`tamis calibrate --write`"),
        "{out}{err}"
    );
    assert_eq!(config(&tree), comment, "nobody agreed to anything");
    let (code, out, err) = run(tree.tamis(&["calibrate", "--write"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("rust") && out.contains("0.70 built-in") && out.contains("written to the index and"), "{out}");
    let written = config(&tree);
    assert!(
        written.starts_with(comment) && written.contains("[search.calibrated]\nprovider = \"static\""),
        "{written}"
    );
    let threshold = dry["languages"][0]["measured"]["threshold"].as_f64().expect("measured");
    assert!(written.contains(&format!("rust = {threshold}\n")), "the same seed, the same threshold: {written}");

    let (_, out, _) = run(tree.tamis(&["config", "search.thresholds"]));
    assert!(out.contains("rust = 0.7 ") && out.contains("# built-in"), "{out}");
    let (code, out, err) = run(tree.tamis(&["config"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("[search.calibrated]  # ") && out.contains(&format!("rust = {threshold}\n")), "{out}");

    let (code, _, err) = run(tree.tamis(&["calibrate", "--clear"]));
    assert_eq!(code, 0);
    assert!(err.contains("deleted 1 calibrated threshold"), "{err}");
    assert_eq!(config(&tree), comment);
}

#[test]
fn trap_a_manual_value_is_never_overwritten() {
    let tree = workshop();
    tree.write(".tamis/config.toml", "[search.thresholds]\nrust = 0.72  # measured by hand\n");
    let (code, out, err) = run(tree.tamis(&["calibrate", "--write"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("your own 0.72 stays in effect"), "{out}");
    assert!(config(&tree).contains("rust = 0.72  # measured by hand\n"), "{}", config(&tree));
    let (_, out, _) = run(tree.tamis(&["config", "search.thresholds.rust", "--origin"]));
    assert!(out.starts_with("0.72  # ") && out.contains("config.toml"), "{out}");
    let mut command = tree.tamis(&["config", "search.thresholds.rust", "--origin"]);
    command.env("TAMIS_SEARCH_THRESHOLDS_RUST", "0.8");
    assert_eq!(run(command).1, "0.8  # $TAMIS_SEARCH_THRESHOLDS_RUST\n");
}

#[test]
fn trap_thresholds_are_parsed_and_never_handed_on_to_a_search() {
    let tree = workshop();
    let found = |threshold: &str| -> Value {
        let mut command = tree.tamis(&["search", "--json", "--cut", "language:min_coverage=1.01", "open the oven"]);
        command.env("TAMIS_SEARCH_THRESHOLDS_RUST", threshold).env("TAMIS_SEARCH_GATE", "false");
        let (_, out, err) = run(command);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"))
    };
    let keep = |answer: &Value| answer["cut"]["keep"].as_u64().expect("a count");
    assert!(keep(&found("-1")) > keep(&found("0.5")), "{} and {}", found("-1")["cut"], found("0.5")["cut"]);
    assert_eq!(keep(&found("1")), 0);

    tree.write("docs/oven.md", "# Oven\n\nHow to open the oven.\n");
    let prose = |default: &str| {
        let cut = format!("language:default={default},min_coverage=1.01");
        let mut command = tree.tamis(&["search", "--json", "--cut", &cut, "open the oven"]);
        command.env("TAMIS_SEARCH_THRESHOLDS_RUST", "1").env("TAMIS_SEARCH_GATE", "false");
        let (_, out, err) = run(command);
        keep(&serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}")))
    };
    assert_eq!((prose("-1"), prose("1")), (1, 0), "the cut's own default holds where a language has no threshold");
}

#[test]
fn nothing_to_calibrate_is_no_failure() {
    let empty = Tree::empty();
    let (code, _, err) = run(empty.tamis(&["calibrate"]));
    assert_eq!(code, 0);
    assert!(err.contains("no symbols to calibrate") && err.contains("`tamis index`"), "{err}");
    assert!(!empty.root().join(".tamis").exists(), "asking makes no index");
    empty.write("notes.md", "# Notes\n\nProse alone.\n");
    empty.tamis(&["index"]).assert().success();
    let (code, out, err) = run(empty.tamis(&["calibrate"]));
    assert_eq!((code, out.as_str()), (0, ""));
    assert!(err.contains("no symbols to calibrate"), "{err}");
    assert_eq!(empty.json(&["calibrate", "--json"])["languages"], serde_json::json!([]));
}

#[test]
fn what_is_wrong_is_named() {
    let tree = workshop();
    for (arguments, part) in [
        (vec!["calibrate", "--model", "minilm"], "run `tamis index --wait` first"),
        (vec!["calibrate", "--model", "nosuch"], "one of static, minilm"),
        (vec!["calibrate", "--lang", "pyton"], "did you mean python?"),
        (vec!["calibrate", "--lang", "markdown"], "one with symbols: "),
        (vec!["calibrate", "--method", "median"], "midpoint, p10"),
        (vec!["calibrate", "--clear", "--force"], "cannot be used with"),
    ] {
        let (code, out, err) = run(tree.tamis(&arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    }
    assert_eq!(config(&tree), "");
}
