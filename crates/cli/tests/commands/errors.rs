//! Every bad argument is refused with status 2 and a message about the values allowed.

use crate::support::{Tree, ignores_permissions, run};

fn refused(tree: &Tree, arguments: &[&str], parts: &[&str]) {
    let (code, out, err) = run(tree.tamis(arguments));
    assert_eq!(code, 2, "{arguments:?}\n{out}\n{err}");
    assert_eq!(out, "", "{arguments:?}");
    for part in parts {
        assert!(err.contains(part), "{arguments:?}: {part:?} is not in:\n{err}");
    }
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_indexed() {
    let tree = Tree::new();
    let cases: [(&[&str], &[&str]); 17] = [
        (&["search", ""], &["query", "a question or some words"]),
        (&["search", " ", "\t"], &["query", "a question or some words"]),
        (&["search"], &["<QUERY>"]),
        (&["search", "x", "--cut", "knedle"], &["--cut", "knedle", "did you mean \"kneedle\"?", "background, max_gap"]),
        (&["search", "x", "--cut", "kneedle:sensitivty=1"], &["sensitivty", "sensitivity"]),
        (&["search", "x", "--cut", "fixed:k=0"], &["fixed:k", "from 1 to"]),
        (&["search", "x", "--cut", "relative:share=7"], &["relative"]),
        (&["search", "x", "--cut", "fixed:k"], &["PARAM=VALUE"]),
        (&["search", "x", "--limit", "0"], &["--limit", "from 1 to 1000"]),
        (&["search", "x", "-n", "1001"], &["from 1 to 1000"]),
        (&["search", "x", "--limit", "-3"], &["from 1 to 1000"]),
        (&["search", "x", "--lang", "pyton"], &["pyton", "did you mean python?"]),
        (&["search", "x", "--mode", "fuzzy"], &["hybrid, lexical, semantic"]),
        (&["search", "x", "--model", "minillm"], &["minillm", "static", "minilm"]),
        (&["search", "x", "--context", "many"], &["from 0 to 500"]),
        (&["search", "x", "--json", "--files"], &["cannot be used with"]),
        (&["search", "x", "-C", "nowhere"], &["nowhere"]),
    ];
    for (arguments, parts) in cases {
        refused(&tree, arguments, parts);
    }
    assert!(!tree.root().join(".tamis").exists(), "a refused question costs nothing");
}

#[test]
fn a_directory_that_is_a_file_is_refused() {
    let tree = Tree::new();
    refused(&tree, &["search", "x", "-C", "README.md"], &["README.md", "not a directory"]);
}

#[test]
fn a_path_that_is_not_in_the_index_is_refused() {
    let tree = Tree::indexed();
    refused(&tree, &["search", "x", "--path", "src/rtry.rs"], &["--path src/rtry.rs", "src/**/*.rs"]);
    refused(&tree, &["search", "x", "--path", "src/["], &["src/["]);
    refused(&tree, &["get", "src/rtry.rs"], &["src/rtry.rs", "did you mean src/retry.rs?"]);
    refused(&tree, &["get", "src/retry.rs:900"], &["900", "last line of src/retry.rs"]);
    refused(&tree, &["get", "src/retry.rs:9-3"], &["9-3", "FIRST-LAST"]);
    refused(&tree, &["get", "../secret"], &["../secret", "not in the index"]);
}

#[test]
fn without_an_index_nothing_is_made_and_the_way_out_is_named() {
    let tree = Tree::new();
    for arguments in [&["search", "--no-refresh", "x"][..], &["status"], &["get", "README.md"]] {
        refused(&tree, arguments, &["no index here yet", "`tamis index`"]);
    }
    assert!(!tree.root().join(".tamis").exists());
}

#[test]
fn a_wrong_setting_names_its_place_and_what_is_allowed() {
    let tree = Tree::new();
    let file = tree.write(".tamis/config.toml", "[search]\ntop_k = 0\n");
    refused(&tree, &["search", "x"], &["config.toml: search.top_k = 0: must be 1 to 100"]);
    std::fs::write(&file, "[search]\ntopk = 5\n").expect("written");
    refused(&tree, &["config"], &["search.topk: no such key (did you mean search.top_k?)"]);
    std::fs::write(&file, "[search\n").expect("written");
    refused(&tree, &["status"], &["not valid TOML"]);
    std::fs::remove_file(&file).expect("removed");
    let mut command = tree.tamis(&["config"]);
    command.env("TAMIS_SEARCH_TOPK", "5");
    let (code, _, err) = run(command);
    assert_eq!(code, 0);
    assert!(
        err.contains("warning: environment: TAMIS_SEARCH_TOPK: no such key (did you mean TAMIS_SEARCH_TOP_K?)"),
        "{err}"
    );
}

#[cfg(unix)]
#[test]
fn a_read_only_tree_is_searched_as_it_is_or_refused_with_the_way_out() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    if ignores_permissions(tree.home()) {
        crate::support::skipped("a read-only place", "permissions do not stop this user");
        return;
    }
    let set = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
    };
    set(tree.root(), 0o555);
    refused(&tree, &["search", "oven"], &["--index", "TAMIS_INDEX"]);
    set(tree.root(), 0o755);
    tree.tamis(&["index"]).assert().success();
    let index = tree.root().join(".tamis");
    let inside = || walk(&index);
    inside().iter().for_each(|path| set(path, if path.is_dir() { 0o555 } else { 0o444 }));
    set(&index, 0o555);
    let (code, out, err) = run(tree.tamis(&["search", "how hot should the oven be"]));
    set(&index, 0o755);
    inside().iter().for_each(|path| set(path, if path.is_dir() { 0o755 } else { 0o644 }));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("docs/bread.md:"), "{out}");
    assert!(err.contains("searched the index as it is"), "{err}");
}

#[cfg(unix)]
fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found
}
