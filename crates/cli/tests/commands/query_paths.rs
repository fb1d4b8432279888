//! Paths after the query of a search.

use crate::support::{Tree, run};

/// Two directories with files on the same subject.
fn tree() -> Tree {
    let tree = Tree::empty();
    tree.write("mill/wheel.md", "# The water wheel\n\nThe water wheel turns with the stream.\n");
    tree.write("mill/oil.md", "# Oil\n\nOil the water wheel every spring.\n");
    tree.write("farm/barn/wheel.md", "# Barn\n\nA small water wheel drives the churn of the barn.\n");
    tree.write("farm/barn/oil.md", "# Grease\n\nGrease on a water wheel keeps off rust, as the smith says.\n");
    tree.write("farm/[old].md", "# Old\n\nThe old water wheel turned with the stream.\n");
    tree
}

/// The paths that a search prints, sorted.
fn found(tree: &Tree, arguments: &[&str]) -> Vec<String> {
    let all = [&["search", "--files", "--cut", "fixed:k=50", "--no-gate"], arguments].concat();
    let (code, out, error) = run(tree.tamis(&all));
    assert!(code < 2, "{arguments:?}: {error}");
    let mut paths: Vec<String> = out.lines().map(str::to_owned).collect();
    paths.sort();
    paths
}

#[test]
fn a_search_of_paths_finds_nothing_elsewhere() {
    let tree = tree();
    assert_eq!(found(&tree, &["water wheel"]).len(), 5);
    assert_eq!(found(&tree, &["water wheel", "mill"]), ["mill/oil.md", "mill/wheel.md"]);
    assert_eq!(found(&tree, &["water wheel", "mill/oil.md", "farm/barn"]).len(), 3);
    assert_eq!(found(&tree, &["water", "wheel", "mill/"]), ["mill/oil.md", "mill/wheel.md"]);
    assert_eq!(found(&tree, &["water wheel", "farm/[old].md"]), ["farm/[old].md"], "a path is no glob");
    assert_eq!(found(&tree, &["-e", "wheel", "mill"]), ["mill/oil.md", "mill/wheel.md"]);
    assert_eq!(found(&tree, &["water wheel", "."]).len(), 5);
}

#[test]
fn paths_count_from_the_working_directory() {
    let tree = tree();
    found(&tree, &["water wheel"]);
    let mut search = tree.tamis(&["search", "water wheel", ".", "--files", "--no-gate", "--cut", "fixed:k=50"]);
    search.current_dir(tree.root().join("farm"));
    let (_, out, error) = run(search);
    assert_eq!(out.lines().count(), 3, "{out}{error}");
    assert!(out.lines().all(|path| !path.contains("mill")), "{out}");
}

#[test]
fn a_word_that_is_a_path_by_chance_stays_a_word() {
    let tree = tree();
    let (code, out, error) = run(tree.tamis(&["search", "--files", "--no-gate", "wheel", "mill"]));
    assert_eq!(code, 0, "{out}");
    assert!(error.contains("mill, which is a path here too: -e QUERY mill searches below it"), "{error}");
    let (code, _, error) = run(tree.tamis(&["search", "--json", "water wheel", "--", "mill/oil.md"]));
    assert!(code < 2, "{error}");
    let answer = tree.json(&["search", "--json", "--no-gate", "water wheel", "nowhere"]);
    assert_eq!(answer["query"], "water wheel nowhere");
    let answer = tree.json(&["search", "--json", "--no-gate", "water wheel", "--", "mill"]);
    assert_eq!(answer["query"], "water wheel mill");
}

#[test]
fn a_path_outside_the_index_is_named() {
    let tree = tree();
    let outside = tempfile::tempdir().expect("a temporary directory");
    let outside = outside.path().to_str().expect("a plain path");
    let (code, _, error) = run(tree.tamis(&["search", "water wheel", outside]));
    assert!(code == 2 && error.contains(&format!("{outside}: outside the index of ")), "{error}");
    let (code, _, error) = run(tree.tamis(&["search", "-e", "water wheel", "nowhere"]));
    assert!(code == 2 && error.contains("nowhere: no such file or directory"), "{error}");
    let (code, _, _) = run(tree.tamis(&["search"]));
    assert_eq!(code, 2, "no query");
}

#[test]
fn a_path_that_begins_with_an_exclamation_mark_is_a_path_where_it_is_named_as_one() {
    let tree = Tree::new();
    tree.write("!odd/tide.md", "# Tide\n\nThe tide turns every six hours.\n");
    tree.tamis(&["index"]).assert().success();
    let found = |arguments: &[&str]| {
        let answer = tree.json(&[&["search", "--json", "--all"], arguments].concat());
        let results = answer["results"].as_array().expect("a list").iter();
        results.map(|one| one["path"].as_str().expect("a path").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&["-e", "tide", "!odd"]), ["!odd/tide.md"]);
    assert_eq!(found(&["tide", "--path", "./!odd"]), ["!odd/tide.md"]);
    assert!(!found(&["tide", "--path", "!/!odd/**"]).contains(&"!odd/tide.md".to_owned()));
    let files = |pattern: &str| run(tree.tamis(&["files", "-q", pattern])).1;
    assert_eq!([files("/!odd"), files("**/!odd")], ["!odd/tide.md\n", "!odd/tide.md\n"]);
    for others in [files("!/!odd"), files("!**/!odd")] {
        assert!(others.contains("README.md") && !others.contains("tide.md"), "{others}");
    }
    let mut inside = tree.tamis(&["search", "--json", "--all", "tide", "--path", "tide.md"]);
    inside.current_dir(tree.root().join("!odd"));
    let answer: serde_json::Value = serde_json::from_str(&run(inside).1).expect("JSON");
    assert_eq!(answer["results"].as_array().map(Vec::len), Some(1), "{answer}");
}
