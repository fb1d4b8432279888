//! `tamis search`: found and missing results, and every output form.

use crate::support::{Tree, run};
use serde_json::Value;

const OVEN: &str = "how hot should the oven be";

#[test]
fn the_first_search_indexes_and_finds() {
    let tree = Tree::new();
    let (code, out, err) = run(tree.tamis(&["search", "how hot should", "the oven be"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("docs/bread.md:"), "{out}");
    assert!(out.contains("│ Heat the oven to 240 degrees"), "{out}");
    let summary = out.lines().last().expect("a summary");
    assert!(
        summary.contains("relevant (") && summary.contains("%); the next has ") && summary.contains("[query "),
        "{summary}"
    );
}

#[test]
fn a_search_leaves_nothing_for_git_to_show() {
    let tree = Tree::new();
    std::fs::remove_dir(tree.root().join(".git")).expect("removed");
    let git = |arguments: &[&str]| {
        let done =
            std::process::Command::new("git").args(arguments).current_dir(tree.root()).output().expect("git runs");
        String::from_utf8(done.stdout).expect("UTF-8")
    };
    git(&["init", "-q"]);
    let before = git(&["status", "--short"]);
    for _ in 0..2 {
        assert_eq!(run(tree.tamis(&["search", OVEN])).0, 0);
        assert_eq!(git(&["status", "--short"]), before);
        // Nor does an index that lost the file.
        std::fs::remove_file(tree.root().join(".tamis/.gitignore")).expect("the index ignores itself");
    }
    tree.write(".tamis/config.toml", "");
    assert_eq!(run(tree.tamis(&["search", OVEN])).0, 0);
    assert!(git(&["status", "--short", "-uall"]).contains(".tamis/config.toml"));
}

#[test]
fn an_index_brings_the_file_by_which_git_ignores_it_up_to_date() {
    let tree = Tree::indexed();
    let ignore = ".tamis/.gitignore";
    let today = std::fs::read_to_string(tree.root().join(ignore)).expect("written");
    // Those of older versions and unfinished ones are ours, and one with other lines is the user's.
    for (text, is_ours) in
        [(today.replace("*", "*\n!.gitignore"), true), (String::new(), true), (today.clone() + "!notes\n", false)]
    {
        tree.write(ignore, &text);
        assert_eq!(run(tree.tamis(&["search", OVEN])).0, 0);
        let read = std::fs::read_to_string(tree.root().join(ignore)).expect("there");
        assert_eq!(&read, if is_ours { &today } else { &text });
    }
}

#[test]
fn a_search_sees_what_changed_since_unless_told_not_to() {
    let tree = Tree::indexed();
    tree.write("docs/cheese.md", "# Cheese\n\nA blue cheese ripens for ninety days in the cellar.\n");
    let ask = ["search", "--json", "--mode", "lexical", "cellar cheese"];
    assert_eq!(tree.json(&[&ask[..], &["--no-refresh"]].concat())["results"], Value::Array(vec![]));
    assert_eq!(tree.json(&ask)["results"][0]["path"], "docs/cheese.md");
    std::fs::remove_file(tree.root().join("docs/cheese.md")).expect("removed");
    assert_eq!(tree.json(&ask)["results"], Value::Array(vec![]));
}

#[test]
fn nothing_found_is_status_1_and_one_clear_line() {
    let tree = Tree::indexed();
    let (code, out, err) = run(tree.tamis(&["search", "--mode", "lexical", "zeppelin"]));
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("Nothing matches: no passage has \"zeppelin\"."), "{out}");
    assert_eq!(out.lines().count(), 1);
}

#[test]
fn what_the_gate_refuses_is_named_and_shown_on_request() {
    let tree = Tree::indexed();
    let query = "who won the football world cup of zeppelins";
    let (code, out, err) = run(tree.tamis(&["search", query]));
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("Nothing clearly relevant: ") && out.contains("\nNearest:\n  "), "{out}");
    assert!(out.contains("no passage has \"won\", \"football\", \"world\" or 2 more of the words."), "{out}");
    assert_eq!(out.lines().count(), 5, "three of the nearest: {out}");
    let (code, shown, err) = run(tree.tamis(&["search", "--no-gate", query]));
    assert_eq!(code, 0, "{err}");
    let summary = shown.lines().last().expect("a summary");
    assert!(summary.contains("the gate is off and would have refused all"), "{summary}");
    let answer = tree.json(&["search", "--json", "--no-gate", query]);
    assert_eq!(answer["cut"]["diagnostics"]["gate"], "off", "{answer}");
    let refused = tree.json(&["search", "--json", query]);
    assert_eq!(refused["nearest"][0]["path"], answer["results"][0]["path"], "what was named is what is shown");
    // On topic the gate changes nothing, and so nothing is said of it.
    let (_, on_topic, _) = run(tree.tamis(&["search", "--no-gate", OVEN]));
    assert!(!on_topic.contains("the gate is off"), "{on_topic}");
}

#[test]
fn the_json_answer_has_every_field_of_the_contract() {
    let tree = Tree::indexed();
    let answer = tree.json(&["search", "--json", OVEN]);
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    for key in [
        "query", "mode_used", "fallback_reason", "model", "results", "cut", "summary", "nearest", "missing_words",
        "timings_ms", "index",
    ] {
        assert!(keys(&answer).contains(&key.to_owned()), "{key}");
    }
    assert_eq!(answer["query"], OVEN);
    assert_eq!(answer["mode_used"], "hybrid");
    let first = &answer["results"][0];
    for key in [
        "rank", "id", "collection", "namespace", "path", "start_line", "end_line", "title", "symbol", "kind",
        "language", "bm25", "similarity", "score", "snippet",
    ] {
        assert!(keys(first).contains(&key.to_owned()), "{key}");
    }
    assert_eq!(
        (&first["rank"], &first["collection"], &first["language"]),
        (&1.into(), &"docs".into(), &"markdown".into())
    );
    for key in ["method", "keep", "threshold", "reason", "candidates", "dropped", "dropped_non_finite", "diagnostics"] {
        assert!(keys(&answer["cut"]).contains(&key.to_owned()), "{key}");
    }
    assert_eq!(answer["index"]["stale"], 0);
    assert_eq!(answer["index"]["passages"], answer["index"]["embedded"]);
    assert!(answer["timings_ms"]["total"].as_f64().is_some_and(|time| time > 0.0));
    assert!(answer.get("pool").is_none(), "the pool comes with --explain alone");
    assert!(tree.json(&["search", "--json", "--explain", OVEN])["pool"].is_array());
}

#[test]
fn json_lines_are_the_results_and_a_filter_reads_them() {
    let tree = Tree::indexed();
    let arguments = ["search", "--cut", "fixed:k=3", OVEN];
    let (code, out, err) = run(tree.tamis(&[&arguments[..], &["--jsonl"]].concat()));
    assert_eq!(code, 0);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let whole = tree.json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(lines, whole["results"].as_array().expect("results")[..]);
    assert!(err.contains("tamis: Kept "), "the summary goes to standard error: {err}");
}

#[test]
fn below_the_line_stands_what_is_less_likely() {
    let tree = Tree::indexed();
    let (code, out, err) = run(tree.tamis(&["search", OVEN]));
    assert_eq!(code, 0, "{err}");
    let (above, below) = out.split_once("\n\nLess likely:\n").expect("a lower part");
    assert!(above.starts_with("docs/bread.md:"), "{out}");
    let (lines, summary) = below.trim_end().split_once("\n\n").expect("the summary stands by itself");
    assert!((1..=5).contains(&lines.lines().count()) && lines.lines().all(|line| line.ends_with('%')), "{out}");
    let (_, strict, _) = run(tree.tamis(&["search", "--strict", OVEN]));
    let sentence = |text: &str| text.split(" [query ").next().unwrap_or_default().to_owned();
    assert_eq!(sentence(&strict), sentence(&format!("{above}\n\n{summary}")));
    for form in ["--files", "--jsonl", "--vimgrep"] {
        let out = run(tree.tamis(&["search", form, OVEN])).1;
        assert_eq!(out, run(tree.tamis(&["search", form, "--strict", OVEN])).1, "{form}");
    }
}

#[test]
fn all_lists_the_first_and_goes_with_no_cut() {
    let tree = Tree::indexed();
    let query = "who won the football world cup of zeppelins";
    let (code, out, err) = run(tree.tamis(&["search", "--all", "-n", "3", query]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\nThe first 3 of ") && !out.contains("Less likely"), "{out}");
    let paths = |cut: &[&str]| run(tree.tamis(&[&["search", "--files", "-n", "3"], cut, &[query]].concat())).1;
    assert_eq!(paths(&["--all"]).lines().count(), 3);
    assert_eq!(paths(&["--all"]), paths(&["--cut", "off"]));
    for other in [
        &["--cut", "otsu"][..],
        &["--want", "one"],
        &["--min-precision", "0.5"],
        &["--target-recall", "0.5"],
        &["--budget-tokens", "50"],
        &["--guarantee", "recall=0.9"],
    ] {
        let (code, _, err) = run(tree.tamis(&[&["search", "--all"], other, &[query]].concat()));
        assert!(code == 2 && err.contains("'--all'") && err.contains(other[0]), "{err}");
    }
}

#[test]
fn in_a_subdirectory_paths_are_written_from_there() {
    let tree = Tree::indexed();
    let here = tree.root().join("docs");
    let inside = |arguments: &[&str]| {
        let mut command = tree.tamis(arguments);
        command.current_dir(&here);
        run(command)
    };
    let (code, out, _) = inside(&["search", "--files", OVEN]);
    assert_eq!(code, 0);
    assert_eq!(out.lines().next(), Some("bread.md"));
    assert!(inside(&["search", OVEN]).1.contains("bread.md:"));
    let (_, json, _) = inside(&["search", "--json", OVEN]);
    assert!(json.contains("docs/bread.md"), "programs get paths from the root: {json}");
    assert_eq!(inside(&["search", "--path", "bread.md", "--files", OVEN]).0, 0);
    assert_eq!(inside(&["get", "bread.md:1"]).0, 0);
    assert_eq!(inside(&["get", "docs/bread.md:1"]).0, 0);
}

#[test]
fn files_are_paths_alone_each_once_best_first() {
    let tree = Tree::indexed();
    let (code, out, err) = run(tree.tamis(&["search", "--files", "--cut", "fixed:k=100", OVEN]));
    assert_eq!(code, 0);
    let paths: Vec<&str> = out.lines().collect();
    assert_eq!(paths[0], "docs/bread.md");
    let mut unique = paths.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), paths.len(), "{out}");
    assert!(paths.iter().all(|path| tree.root().join(path).is_file()), "{out}");
    assert!(err.contains("tamis: Kept "), "the summary goes to standard error: {err}");
}

#[test]
fn a_limit_shows_the_first_of_what_is_relevant_anyway() {
    let tree = Tree::indexed();
    let ask = |limit: &str| tree.json(&["search", "--json", "--cut", "fixed:k=5", "--limit", limit, OVEN]);
    let (two, many) = (ask("2"), ask("50"));
    assert_eq!(two["cut"]["keep"], many["cut"]["keep"]);
    assert_eq!(two["results"].as_array().expect("results")[..], many["results"].as_array().expect("results")[..2]);
    let (_, out, _) = run(tree.tamis(&["search", "--cut", "fixed:k=5", "-n", "2", OVEN]));
    assert!(out.contains("\nKept 5 of ") && out.contains(", the first 2 shown: "), "{out}");
}

#[test]
fn filters_hold_for_every_result() {
    let tree = Tree::indexed();
    let paths = |arguments: &[&str]| -> Vec<String> {
        let ask = ["search", "--json", "--cut", "fixed:k=100", "-n", "100", "water the file"];
        let mut command = tree.tamis(&[&ask[..], arguments].concat());
        // Relevance is not the subject of this test.
        command.env("TAMIS_SEARCH_GATE", "false");
        let answer: Value = serde_json::from_str(&run(command).1).expect("JSON");
        let results = answer["results"].as_array().expect("results").clone();
        results.iter().map(|hit| hit["path"].as_str().expect("a path").to_owned()).collect()
    };
    let all = |paths: Vec<String>, fits: fn(&str) -> bool| !paths.is_empty() && paths.iter().all(|path| fits(path));
    assert!(all(paths(&["--lang", "rs"]), |path| path.ends_with(".rs")));
    assert!(all(paths(&["--lang", "rust,Python"]), |path| path.ends_with(".rs") || path.ends_with(".py")));
    assert!(all(paths(&["--collection", "docs"]), |path| path.ends_with(".md")));
    assert!(all(paths(&["--path", "docs/**"]), |path| path.starts_with("docs/")));
    assert!(all(paths(&["--path", "!docs", "--path", "!*.md"]), |path| !path.ends_with(".md")));
}

#[test]
fn filters_that_leave_nothing_say_so() {
    let tree = Tree::indexed();
    let (code, out, err) = run(tree.tamis(&["search", "--lang", "cobol", OVEN]));
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("none passes the filters"), "{out}");
    assert!(err.contains("the languages here are") && err.contains("rust"), "{err}");
    let (code, _, err) = run(tree.tamis(&["search", "--collection", "wiki", OVEN]));
    assert_eq!(code, 1);
    assert!(err.contains("the collections here are code, docs"), "{err}");
    let (code, _, _) = run(tree.tamis(&["search", "--path", "nowhere/**", OVEN]));
    assert_eq!(code, 1, "a glob may match nothing");
}

#[test]
fn context_is_the_lines_around_the_best_one() {
    let tree = Tree::indexed();
    let lines = |context: &str| {
        let answer = tree.json(&["search", "--json", "--context", context, "retry with exponential backoff"]);
        assert_eq!(answer["results"][0]["path"], "src/retry.rs");
        answer["results"][0]["snippet"].as_str().expect("a snippet").lines().count()
    };
    assert_eq!(lines("0"), 1);
    assert_eq!(lines("2"), 5);
}

#[test]
fn an_explanation_shows_the_pool_the_curve_and_the_figures() {
    let tree = Tree::indexed();
    let (code, out, _) = run(tree.tamis(&["search", "--explain", "--cut", "fixed:k=2", OVEN]));
    assert_eq!(code, 0);
    for part in ["Candidates around the cut", "similarity", "coverage", "┃ cut: 2 kept", "Figures", "method ", "time "]
    {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
}

#[test]
fn a_search_starts_where_it_is_told_and_keeps_its_index_where_it_is_told() {
    let tree = Tree::new();
    let elsewhere = tree.home().join("elsewhere");
    let (root, index) = (tree.root().join("docs"), elsewhere.to_string_lossy().into_owned());
    let mut command = tree.tamis(&["search", "-C", &root.to_string_lossy(), "--index", &index, OVEN]);
    command.current_dir(tree.home());
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("docs/bread.md:"), "the root is the marked directory above: {out}");
    assert!(elsewhere.join("tamis.db").is_file() && !tree.root().join(".tamis").exists());
    let mut command = tree.tamis(&["status"]);
    command.env("TAMIS_INDEX", &index);
    assert_eq!(run(command).0, 0);
}

#[test]
fn filters_that_leave_nothing_only_together_are_not_called_missing() {
    let tree = Tree::indexed();
    let ask = |filters: &[&str]| run(tree.tamis(&[&["search", "oven", "--no-refresh"], filters].concat()));
    let (code, _, err) = ask(&["--path", "src/lock.rs", "--kind", "section"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("nothing matches all of them") && err.contains("--path src/lock.rs"), "{err}");
    assert!(!err.contains("no such file"), "{err}");
    let (code, _, err) = ask(&["--path", "src/lock.rs", "--lang", "python"]);
    assert!(code == 1 && err.contains("nothing matches all of them"), "{err}");
    for further in [&[][..], &["--kind", "function"], &["--lang", "rust"]] {
        let (code, _, err) = ask(&[&["--path", "src/nothing.rs"], further].concat());
        assert!(code == 2 && err.contains("no such file") && err.contains("src/nothing.rs"), "{further:?}: {err}");
    }
    let (code, _, err) = ask(&["--path", "src/lock.rs", "--symbol", "nowhere"]);
    assert!(code == 1 && err.contains("--symbol takes a whole name") && !err.contains("all of them"), "{err}");
}

#[test]
fn a_budget_below_the_best_passage_says_so() {
    let tree = Tree::indexed();
    let ask = |budget: &str| run(tree.tamis(&["search", OVEN, "--budget-tokens", budget]));
    let (code, out, err) = ask("3");
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("Nothing fits the budget: ") && out.contains("the budget is 3"), "{out}");
    assert!(!out.contains("keeping nothing has"), "{out}");
    let (code, out, _) = ask("4000");
    assert!(code == 0 && !out.contains("raise the budget"), "{out}");
}
