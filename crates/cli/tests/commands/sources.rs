//! `tamis index DIR…`: several repositories in one index, through the binary.

use crate::support::{Tree, run};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const NAMES: [&str; 3] = ["api", "web", "kitchen"];

/// The sample files divided over three repositories in one directory, which also holds the index.
fn repositories() -> Tree {
    let tree = Tree::new();
    for (from, to) in [("src", "api/src"), ("tools", "web/tools"), ("docs", "kitchen/docs")] {
        fs::create_dir_all(tree.root().join(to).parent().expect("a parent")).expect("made");
        fs::rename(tree.root().join(from), tree.root().join(to)).expect("moved");
    }
    for name in NAMES {
        tree.write(&format!("{name}/README.md"), &format!("# {name}\n\nThe readme of {name}.\n"));
    }
    tree
}

fn indexed() -> Tree {
    let tree = repositories();
    let (status, out, error) = run(tree.tamis(&["index", "api", "./web", "api/../kitchen"]));
    assert_eq!(status, 0, "{error}");
    assert!(out.contains("  kitchen: 4 files: 4 added"), "{out}");
    tree
}

/// The results found from a directory, in the index around it. The gate is off, since a handful of passages is too few
/// for it to judge by.
fn found(tree: &Tree, directory: &str, query: &str) -> Vec<String> {
    let mut command = tree.tamis(&["search", query, "--files", "--quiet"]);
    command.current_dir(tree.root().join(directory)).env("TAMIS_SEARCH_GATE", "false");
    run(command).1.lines().map(str::to_owned).collect()
}

/// The first result.
fn first(tree: &Tree, directory: &str, query: &str) -> String {
    found(tree, directory, query).into_iter().next().unwrap_or_default()
}

fn absolute(tree: &Tree, path: &str) -> String {
    let root: PathBuf = dunce::canonicalize(tree.root()).expect("a path");
    root.join(path).to_string_lossy().into_owned()
}

#[test]
fn a_result_can_be_opened_from_where_it_was_printed() {
    let tree = indexed();
    assert_eq!(first(&tree, "", "how hot must the oven be for bread"), "kitchen/docs/bread.md");
    assert_eq!(first(&tree, "kitchen/docs", "how hot must the oven be for bread"), "bread.md");
    assert_eq!(first(&tree, "api", "exponential backoff between retries"), "src/retry.rs");
    assert_eq!(first(&tree, "web", "parse a settings file"), "tools/settings.py");
    // Nothing from another repository, whose owner shares nothing.
    let others = found(&tree, "web", "exponential backoff between retries");
    assert!(!others.iter().any(|path| path.ends_with("retry.rs")), "{others:?}");
    let mut command = tree.tamis(&["search", "exponential", "backoff", "--namespace", "api", "--files"]);
    command.current_dir(tree.root().join("web")).env("TAMIS_SEARCH_GATE", "false");
    assert_eq!(run(command).1.lines().next(), Some(absolute(&tree, "api/src/retry.rs").as_str()));

    let get = |directory: &str, wanted: &str| {
        let mut command = tree.tamis(&["get", wanted]);
        command.current_dir(tree.root().join(directory));
        run(command)
    };
    let lines = "# Bread\n";
    for (directory, wanted) in
        [("", "kitchen/docs/bread.md:1"), ("kitchen/docs", "bread.md:1"), ("api", "../kitchen/docs/bread.md:1")]
    {
        assert_eq!(get(directory, wanted).1, lines, "{directory} {wanted}");
    }
    assert_eq!(get("web", &absolute(&tree, "kitchen/docs/bread.md:1")).1, lines);
    assert_eq!(get("", "kitchen:docs/bread.md:1").1, lines);
    assert_eq!(get("", "docs/bread.md:1").1, lines, "only one has it");
    assert_eq!(get("web", "README.md:1").1, "# web\n", "the own one");
}

#[test]
fn a_path_that_several_have_is_told_with_their_namespaces() {
    let tree = indexed();
    let here = run(tree.tamis(&["get", "README.md"])).2;
    assert!(here.contains(&format!("{}: not in the index", absolute(&tree, "README.md"))), "the file here: {here}");
    fs::remove_file(tree.root().join("README.md")).expect("removed");
    let (status, _, error) = run(tree.tamis(&["get", "README.md"]));
    assert_eq!(status, 2);
    assert!(error.contains("api:README.md, web:README.md, kitchen:README.md"), "{error}");
}

#[test]
fn json_keeps_path_and_namespace_apart_and_says_no_root() {
    let tree = indexed();
    let answer = tree.json(&["search", "how hot must the oven be for bread", "--json"]);
    let hit = &answer["results"][0];
    assert_eq!((hit["namespace"].as_str(), hit["path"].as_str()), (Some("kitchen"), Some("docs/bread.md")));
    assert!(!answer.to_string().contains(&absolute(&tree, "")), "{answer}");
    let excerpt = tree.json(&["get", "docs/bread.md:1", "--json"]);
    assert_eq!((excerpt["namespace"].as_str(), excerpt["path"].as_str()), (Some("kitchen"), Some("docs/bread.md")));
}

#[test]
fn a_glob_that_names_something_here_is_meant_from_here() {
    let tree = indexed();
    let found = |directory: &str, path: &str| {
        let mut command = tree.tamis(&["search", "oven", "bread", "--files", "--quiet", "--path", path]);
        command.current_dir(tree.root().join(directory));
        run(command).1
    };
    assert!(found("", "kitchen/docs").starts_with("kitchen/docs/bread.md"));
    assert!(found("kitchen", "docs").starts_with("docs/bread.md"));
    assert!(found("", "bread.md").starts_with("kitchen/docs/bread.md"));
    assert_eq!(found("", "settings.py"), found("", "tools/settings.py"));
}

#[test]
fn status_lists_the_repositories_and_one_can_be_taken_out() {
    let tree = indexed();
    run(tree.tamis(&["index", "kitchen", "--owner", "ada", "--shared"]));
    tree.write("web/new.md", "# New\n\nSomething new.\n");
    let (_, out, _) = run(tree.tamis(&["status"]));
    let row = |name: &str| {
        let line = out.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{out}"));
        line.split_whitespace().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("kitchen "), ["ada", "yes", "4", "7", "0"], "{out}");
    assert_eq!(row("web ")[..2], ["–", "no"], "{out}");
    assert_eq!(row("web ").last().map(String::as_str), Some("1"), "{out}");

    let (status, out, error) = run(tree.tamis(&["index", "--remove", "kitchen"]));
    assert_eq!((status, out.as_str()), (0, "removed kitchen from the index, with 4 documents\n"), "{error}");
    let namespaces = |status: Value| {
        let sources = status["sources"].as_array().expect("a list").clone();
        sources.iter().filter_map(|source| source["namespace"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(namespaces(tree.json(&["status", "--json"])), ["api", "web"]);
    let left = found(&tree, "", "how hot must the oven be for bread");
    assert!(!left.iter().any(|path| path.ends_with("bread.md")), "{left:?}");
    let (status, _, error) = run(tree.tamis(&["index", "--remove", "kitchen"]));
    assert_eq!(status, 2);
    assert!(error.contains("api, web"), "{error}");
}

#[test]
fn a_repository_that_is_renamed_is_told_of_and_taken_over_at_its_new_place() {
    let tree = indexed();
    fs::rename(tree.root().join("kitchen"), tree.root().join("bakery")).expect("renamed");
    let gone = "kitchen: gone; name its new place (`tamis index DIRECTORY`, or the configuration)";
    assert!(run(tree.tamis(&["index"])).1.contains(gone));
    assert!(run(tree.tamis(&["status"])).1.contains(gone));
    assert_eq!(first(&tree, "", "how hot must the oven be for bread"), "kitchen/docs/bread.md".to_owned());
    let (_, _, warned) = run(tree.tamis(&["search", "how hot must the oven be for bread"]));
    assert!(warned.contains("the directory of kitchen is gone"), "{warned}");
    let (_, out, error) = run(tree.tamis(&["index", "bakery"]));
    assert!(!out.contains("gone") && !out.contains("added"), "{out}{error}");
    assert_eq!(first(&tree, "", "how hot must the oven be for bread"), "bakery/docs/bread.md");
}

#[test]
fn the_configuration_names_repositories_once_it_is_trusted() {
    let tree = repositories();
    tree.write("project/main.md", "# Project\n\nThe project around the configuration.\n");
    tree.write(
        "project/.tamis/config.toml",
        "[[collection]]\npath = '../[aw]*'\n\n[[collection]]\npath = '../kitchen'\n",
    );
    let tamis = |arguments: &[&str]| {
        run({
            let mut command = tree.tamis(arguments);
            command.current_dir(tree.root().join("project"));
            command
        })
    };
    for command in [&["index"][..], &["search", "oven"], &["status"]] {
        let (status, _, error) = tamis(command);
        assert_eq!(status, 2, "{command:?}");
        assert!(error.contains("collection[1].path") && error.contains("tamis trust"), "{error}");
    }
    assert!(!tree.root().join("project/.tamis/tamis.db").exists());
    let (status, out, error) = tamis(&["trust"]);
    assert_eq!(status, 0, "{error}");
    assert!(out.contains(&format!("  reads {}\n", absolute(&tree, "kitchen"))), "{out}");
    let (_, out, _) = tamis(&["index"]);
    assert!(out.contains("  project: 1 file: 1 added") && out.contains("  web: 2 files: 2 added"), "{out}");
    let (status, _, error) = tamis(&["index", "--remove", "web"]);
    assert_eq!(status, 2);
    assert!(error.contains("config.toml"), "{error}");
}

#[test]
fn an_index_of_one_tree_shows_no_namespace() {
    let tree = Tree::new();
    let (status, out, _) = run(tree.tamis(&["index", "."]));
    assert_eq!(status, 0);
    assert_eq!(out.lines().count(), 2, "{out}");
    let (_, out, _) = run(tree.tamis(&["status"]));
    assert!(!out.contains("namespace"), "{out}");
    let report = tree.json(&["index", "--json"]);
    assert!(report.get("sources").is_none(), "{report}");
}

#[test]
fn the_index_is_the_same_however_its_directory_is_written() {
    let tree = indexed();
    let asked = |index: &str| {
        let mut command =
            tree.tamis(&["search", "exponential backoff between retries", "--files", "--quiet", "--index", index]);
        command.current_dir(tree.root().join("web")).env("TAMIS_SEARCH_GATE", "false");
        run(command).1
    };
    let whole = asked(&absolute(&tree, ".tamis"));
    assert!(!whole.contains("retry.rs"), "another owner's: {whole}");
    for written in ["../.tamis", "./../.tamis", "../web/../.tamis", "tools/../../.tamis"] {
        assert_eq!(asked(written), whole, "{written}");
    }
    let mut command = tree.tamis(&["search", "exponential backoff between retries", "--files", "--quiet"]);
    command.current_dir(tree.root().join("web")).env("TAMIS_SEARCH_GATE", "false").env("TAMIS_INDEX", "../.tamis");
    assert_eq!(run(command).1, whole);
}

#[cfg(unix)]
#[test]
fn an_index_in_the_tree_is_not_indexed_however_its_directory_is_written() {
    let tree = Tree::new();
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(tree.root(), &link).expect("linked");
    let index = link.join("kept").to_string_lossy().into_owned();
    for _ in 0..2 {
        let (code, out, error) = run(tree.tamis(&["index", "--index", &index]));
        assert_eq!(code, 0, "{error}");
        assert!(out.starts_with("7 files"), "{out}");
    }
}

/// Each command that reads shows the files of another tree's index under that tree's paths, and `index` refuses to write them.
#[test]
fn another_trees_index_shows_nothing_under_the_paths_of_ones_own() {
    let tree = Tree::new();
    for (name, text) in [("one", "# Oven\n\nHeat the oven before baking bread.\n"), ("two", "# Tide\n\nShips wait.\n")]
    {
        tree.write(&format!("{name}/note.md"), text);
        fs::create_dir_all(tree.root().join(name).join(".git")).expect("made");
    }
    let run_in = |name: &str, arguments: &[&str]| {
        let mut command = tree.tamis(arguments);
        command.current_dir(tree.root().join(name)).env("TAMIS_INDEX", tree.root().join("kept"));
        command.env("TAMIS_SEARCH_GATE", "false");
        run(command)
    };
    assert_eq!(run_in("one", &["index"]).0, 0);
    let (one, two) = (absolute(&tree, "one"), absolute(&tree, "two"));
    let note = format!("{one}/note.md");
    for arguments in [
        &["search", "oven", "bread"][..],
        &["search", "oven", "bread", "--files"],
        &["grep", "oven"],
        &["files"],
        &["outline"],
        &["pack", "oven", "bread"],
    ] {
        let (_, out, error) = run_in("two", arguments);
        // What is packed names the namespace, as the server does.
        let named = if arguments[0] == "pack" { "one:note.md" } else { &note };
        assert!(out.contains(named), "{arguments:?}: {out}{error}");
    }
    let (_, out, _) = run_in("two", &["status"]);
    assert!(out.starts_with(&format!("{one}\n")) && !out.contains(&two), "{out}");
    let (_, out, _) = run_in("two", &["doctor", "--check-only"]);
    assert!(out.contains(&format!("holds the files of {one}, not of {two}")), "{out}");
    let (status, out, _) = run_in("two", &["get", "note.md"]);
    assert_eq!((status, out.as_str()), (2, ""), "one's own file is not in the index");
    assert!(run_in("two", &["get", &note]).1.contains("Heat the oven"));
    for arguments in [&["index"][..], &["remember", "Buy flour."]] {
        let (status, _, error) = run_in("two", arguments);
        assert!(status == 2 && error.contains(&format!("{one}, not of {two}")), "{arguments:?}: {error}");
    }
}
