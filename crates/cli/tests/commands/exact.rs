//! Exact finds: the definition of a name, and the text that makes a message.

use crate::support::{Tree, run};
use serde_json::Value;

/// A library in which everything speaks of the names, and more than a hundred files do.
fn tree() -> Tree {
    let tree = Tree::empty();
    tree.write(
        "src/extract/parts.rs",
        "/// Types that can be made from the parts of a request.\npub trait FromRequestParts<S> {\n    type Rejection;\n}\n",
    );
    tree.write("src/routing.rs", "pub struct Router;\n\nimpl Router {\n    /// Adds one.\n    pub fn route(self) {}\n}\n\npub struct MethodRouter;\n\nimpl MethodRouter {\n    /// Adds a route to the method router, a route for each method, route by route.\n    pub fn route(self) {}\n}\n");
    tree.write(
        "src/head.rs",
        "pub fn read(size: usize) -> Result<(), String> {\n    if size > 9 {\n        return Err(\"message head is too large\".into());\n    }\n    Ok(())\n}\n",
    );
    tree.write(
        "src/settings.rs",
        "pub fn load(path: &str) -> Result<String, String> {\n    std::fs::read_to_string(path).map_err(|error| format!(\"cannot open {}: {}\", path, error))\n}\n",
    );
    tree.write(
        "tests/parts.rs",
        "struct FromRequestParts;\n\n#[test]\nfn from_request_parts() { FromRequestParts; FromRequestParts; }\n",
    );
    for at in 0..120 {
        let words = if at % 8 == 0 { "a large message, a head" } else { "as every one of them" };
        tree.write(
            &format!("src/uses/u{at}.rs"),
            &format!("use crate::FromRequestParts;\n\n/// FromRequestParts for number {at}: {words}.\npub fn from_request_parts_{at}(wide: bool) {{ FromRequestParts; FromRequestParts; }}\n"),
        );
    }
    tree.write(
        "docs/head.md",
        "# The head of a message\n\nA message has a head. A large head is too much: the message is too large.\n",
    );
    tree
}

/// The first result and what the explanation calls it.
fn first(tree: &Tree, query: &str) -> (String, Value) {
    let answer = tree.json(&["search", "--json", "--explain", query]);
    let path = answer["results"][0]["path"].as_str().unwrap_or_default().to_owned();
    (path, answer["pool"][0]["exact"].clone())
}

#[test]
fn the_definition_of_a_name_comes_first() {
    let tree = tree();
    for query in [
        "FromRequestParts", "where is FromRequestParts implemented", "FromRequestParts trait",
        "how does FromRequestParts extract", "axum::extract::FromRequestParts", "`FromRequestParts`",
    ] {
        assert_eq!(first(&tree, query), ("src/extract/parts.rs".into(), "definition".into()), "{query}");
    }
    for query in ["Router::route", "Router.route", "what does Router::route() do"] {
        let answer = tree.json(&["search", "--json", query]);
        assert_eq!(answer["results"][0]["symbol"], "Router::route", "{query}");
    }
}

#[test]
fn a_message_finds_the_line_that_makes_it() {
    let tree = tree();
    for query in
        ["message head is too large", "error: message head is too large", "why is the message head is too large"]
    {
        assert_eq!(first(&tree, query), ("src/head.rs".into(), "message".into()), "{query}");
    }
    let query = "cannot open /tmp/x.toml: No such file";
    assert_eq!(first(&tree, query), ("src/settings.rs".into(), "message".into()));
    let (code, out, _) = run(tree.tamis(&["search", "--explain", "-n", "1", query]));
    assert!(code == 0 && out.contains("exact"), "{out}");
}

#[test]
fn an_ordinary_question_has_no_exact_find() {
    let tree = tree();
    for query in ["where is the message opened", "open", "how large is a head", "from request parts"] {
        let answer = tree.json(&["search", "--json", "--explain", "--no-gate", query]);
        let pool = answer["pool"].as_array().expect("a pool");
        assert!(pool.iter().all(|entry| entry["exact"].is_null()), "{query}: {}", pool[0]);
    }
}

#[test]
fn a_pool_holds_a_hundred_files() {
    let tree = tree();
    // One long file fills the first hundred passages of both legs.
    let section =
        |at: usize| format!("## Crane {at}\n\nThe crane of quay {at} lifts the large crate with a crane hook.\n\n");
    tree.write("docs/cranes.md", &(0..300).map(section).collect::<String>());
    for at in 0..110 {
        tree.write(
            &format!("docs/more/c{at}.md"),
            &format!("# Page {at}\n\nOnce, in year {at}, somebody saw a crane.\n"),
        );
    }
    let answer = tree.json(&["search", "--json", "--no-gate", "crane hook lifts crate"]);
    assert!(answer["cut"]["candidates"].as_u64().is_some_and(|count| count >= 100), "{}", answer["cut"]);
    let shorter = tree.json(&["search", "--json", "--no-gate", "-n", "2", "crane hook lifts crate"]);
    assert_eq!(shorter["cut"]["keep"], answer["cut"]["keep"], "the pool never follows the limit");
}
