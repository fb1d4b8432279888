//! Words of a query with a dash, which exclude, are options of a command, or look like flags.

use crate::mcp::Client;
use crate::support::{Tree, run};
use serde_json::json;

/// Pages that hold options of commands, and a draft.
fn tree() -> Tree {
    let tree = Tree::empty();
    for (path, text) in [
        ("java.md", "# Java\n\nStart it with `java -jar app.jar`, unless it says \"no main manifest attribute\".\n"),
        ("find.md", "# Find\n\nQuote the pattern: `find . -name '*.rs'`, or the shell expands it first.\n"),
        ("tar.md", "# Tar\n\nUnpack a release with `tar -xzf release.tar.gz` in an empty directory.\n"),
        ("git.md", "# Git\n\n`git diff --no-index a b` compares files outside a repository: the option needs both.\n"),
        ("heating/boiler.md", "# Boiler\n\nThe boiler heats the water to sixty degrees.\n"),
        ("heating/draft.md", "# Draft\n\nA draft of how the boiler heats the water.\n"),
    ] {
        tree.write(path, text);
    }
    tree
}

const OPTIONS: [(&str, &str, &str); 3] = [
    ("java -jar no main manifest attribute", "java.md", "\"-jar\" is a word here"),
    ("find -name pattern quote", "find.md", "\"-name\" is a word here"),
    ("tar -xzf unpack release", "tar.md", "\"-xzf\" is a word here"),
];

const EXCLUDES: &str = "how the boiler heats the water -draft";

#[test]
fn an_option_that_the_index_has_is_a_word() {
    let tree = tree();
    for (query, path, reason) in OPTIONS {
        for mode in ["hybrid", "lexical", "semantic"] {
            let answer = tree.json(&["search", "--json", "--no-gate", "--mode", mode, query]);
            assert_eq!(answer["results"][0]["path"], path, "{mode}: {query}");
            assert_eq!(answer["query"], query);
            assert!(answer["cut"]["reason"].as_str().is_some_and(|text| text.contains(reason)), "{answer}");
        }
    }
    let answer = tree.json(&["search", "--json", "java -\"jar\" no main manifest attribute"]);
    assert!(!answer["results"].to_string().contains("java.md"), "{answer}");
    // Where the filters leave no passage with the option, it excludes.
    let answer = tree.json(&["search", "--json", "--path", "heating", "boiler -jar"]);
    assert_eq!(answer["cut"]["diagnostics"]["excluded"], json!(["jar"]));
}

#[test]
fn what_is_excluded_is_named_even_if_nothing_is_left() {
    let tree = tree();
    let (code, out, error) = run(tree.tamis(&["search", EXCLUDES]));
    assert_eq!(code, 0, "{error}");
    assert!(!out.contains("draft.md") && out.contains("; without \"draft\"."), "{out}");
    let (code, out, _) = run(tree.tamis(&["search", "--mode", "lexical", "draft -\"boiler heats\""]));
    assert_eq!((code, out.lines().next()), (1, Some(out.trim_end())), "{out}");
    assert!(out.starts_with("Nothing matches without \"boiler heats\"."), "{out}");
    let answer = tree.json(&["search", "--json", "zeppelin -boiler"]);
    assert!(answer["cut"]["reason"].as_str().is_some_and(|text| text.contains("without \"boiler\"")), "{answer}");
    let answer = tree.json(&["search", "--json", "the boiler at -100 or -0.5"]);
    assert_eq!(answer["cut"]["diagnostics"].get("excluded"), None, "numbers are words");
}

#[test]
fn agents_get_the_same() {
    let tree = tree();
    tree.tamis(&["index"]).assert().success();
    let mut client = Client::of(&tree, &[]);
    for (query, path, reason) in OPTIONS {
        let (found, text) = client.good("search", json!({ "query": query }));
        assert_eq!(found["results"][0]["path"], path, "{found}");
        assert!(text.contains(reason), "{text}");
    }
    let (found, text) = client.good("search", json!({ "query": EXCLUDES }));
    assert!(text.contains("without \"draft\"") && !found["results"].to_string().contains("draft.md"), "{text}");
    let (found, text) = client.good("search", json!({ "query": "boiler heating/boilr.md" }));
    let warning = "heating/boilr.md: no such file in the index; searched as words; the nearest is heating/boiler.md";
    assert!(text.contains(warning) && found["warnings"].to_string().contains(warning), "{text} {found}");
}

#[test]
fn a_query_that_begins_with_a_dash_is_searched_or_its_command_is_given() {
    let tree = tree();
    for quoted in ["--no-index option", "-x option of git"] {
        let answer = tree.json(&["search", "--json", "--no-gate", quoted]);
        assert_eq!((&answer["query"], &answer["results"][0]["path"]), (&json!(quoted), &json!("git.md")), "{answer}");
    }
    for (arguments, command) in [
        (&["search", "--no-index", "option"][..], "tamis search -- \"--no-index option\""),
        (&["search", "-jar"], "tamis search -- \"-jar\""),
        (&["search", "--json", "find", "-name", "pattern"], "tamis search --json -- \"find -name pattern\""),
    ] {
        let (code, out, error) = run(tree.tamis(arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{error}");
        assert!(error.trim_end().ends_with(&format!("\n  {command}")), "{error}");
    }
    let answer = tree.json(&["search", "--json", "--no-gate", "--", "--no-index option"]);
    assert_eq!(answer["results"][0]["path"], "git.md");
}

#[test]
fn a_word_that_looks_like_a_path_and_is_none_gets_a_warning() {
    let tree = tree();
    for path in ["heatng/", "heatng/boiler.md", "./heating/boilr.md"] {
        let (_, _, error) = run(tree.tamis(&["search", "boiler", path]));
        let warning = format!("{path}: no such file in the index; searched as words; the nearest is heating");
        assert!(error.contains(&warning), "{error}");
        let answer = tree.json(&["search", "--json", &format!("boiler {path}")]);
        assert!(answer["warnings"][0].as_str().is_some_and(|text| text.starts_with(&warning)), "{answer}");
    }
    for query in ["boiler and/or TCP/IP 24/7", "boiler heating/boiler.md", "boiler https://a.example/b.md"] {
        assert_eq!(tree.json(&["search", "--json", query])["warnings"], json!([]), "{query}");
    }
}
