//! `tamis related`: from a result onwards.

use crate::support::{Tree, run};

fn tree() -> Tree {
    let tree = Tree::new();
    tree.write(
        "src/client.rs",
        "use crate::retry::with_backoff;\n\n/// Asks the server again and again.\npub fn ask() -> bool {\n    \
         with_backoff(|| true, 3)\n}\n",
    );
    tree.tamis(&["index"]).assert().success();
    tree
}

#[test]
fn what_is_like_a_passage_what_it_uses_and_what_uses_it() {
    let tree = tree();
    let (code, out, err) = run(tree.tamis(&["related", "src/retry.rs:2"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("src/retry.rs:1-") && out.contains("with_backoff  (function)"), "{out}");
    assert!(out.contains("\nUsed by\n  src/client.rs:1-6  ask  (function)  line 5\n"), "{out}");
    let (_, out, _) = run(tree.tamis(&["related", "src/client.rs:5", "--by", "reference"]));
    assert!(out.contains("\nUses\n  src/retry.rs:1-12  with_backoff  (function)  line 5\n"), "{out}");
    assert!(!out.contains("Similar"), "{out}");

    let found = tree.json(&["related", "src/client.rs:5", "--json", "-n", "1"]);
    assert_eq!(found["passage"]["symbol"], "ask");
    assert_eq!(found["references"][0]["definitions"][0]["symbol"], "with_backoff");
    assert!(found["similar"].as_array().is_some_and(|similar| similar.len() <= 1));
    let id = found["passage"]["id"].as_str().expect("an identifier");
    assert_eq!(tree.json(&["related", id, "--json"])["passage"], found["passage"]);
}

#[test]
fn nothing_related_is_an_exit_status_of_its_own_and_nothing_found_is_an_error() {
    let tree = tree();
    let (code, out, _) = run(tree.tamis(&["related", "docs/tides.md:3", "--by", "reference"]));
    assert_eq!(code, 1);
    assert!(out.contains("Nothing is related to it."), "{out}");
    for wrong in [vec!["related", "src/none.rs:3"], vec!["related", "src/retry.rs:2", "--by", "magic"], vec!["related"]]
    {
        assert_eq!(run(tree.tamis(&wrong)).0, 2, "{wrong:?}");
    }
}

#[test]
fn a_changed_file_is_read_first_unless_told_otherwise() {
    let tree = tree();
    tree.write(
        "src/other.rs",
        "use crate::retry::with_backoff;\n\nfn other() -> bool {\n    with_backoff(|| false, 1)\n}\n",
    );
    let used = |arguments: &[&str]| run(tree.tamis(arguments)).1.contains("src/other.rs");
    assert!(!used(&["related", "src/retry.rs:2", "--no-refresh", "--by", "reference"]));
    assert!(used(&["related", "src/retry.rs:2", "--by", "reference"]));
}
