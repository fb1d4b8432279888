//! Kinds, symbols, languages: filters of a search of code, and mere preferences.

use crate::support::{Tree, assert_says, paths, refresh, search};
use tamis::SearchRequest;

fn tree() -> Tree {
    Tree::new(&[
        (
            "src/store.rs",
            "/// Keeps rows.\npub struct Store;\n\nimpl Store {\n    /// Opens the store of rows.\n    pub fn open() -> Store { Store }\n\n    /// Closes the store of rows.\n    pub fn close(self) {}\n}\n",
        ),
        ("src/door.rs", "/// Opens the door of the store.\npub fn open_door() {}\n"),
        ("docs/store.md", "# Store\n\nHow the store of rows is opened and closed.\n"),
        ("lib/store.py", "def open_store():\n    \"\"\"Opens the store of rows.\"\"\"\n"),
    ])
}

fn ask(request: SearchRequest) -> Vec<String> {
    let tree = tree();
    let index = tree.indexed(&[("search.gate", "false"), ("search.cut", "fixed:k=20")]);
    let mut found: Vec<String> =
        search(&index, request).results.into_iter().map(|hit| hit.symbol.unwrap_or(hit.path)).collect();
    found.sort();
    found
}

#[test]
fn symbols_and_kinds_narrow_a_search() {
    let of = |symbol: &str| ask(SearchRequest { symbols: vec![symbol.into()], ..SearchRequest::new("open the store") });
    assert_eq!(of("open"), ["Store::open"]);
    assert_eq!(of("Store::open"), ["Store::open"]);
    assert_eq!(of("open*"), ["Store::open", "open_door", "open_store"]);
    assert!(of("nothing_of_the_kind").is_empty());

    let found = ask(SearchRequest { kinds: vec!["function".into()], ..SearchRequest::new("open the store") });
    assert_eq!(found, ["open_door", "open_store"]);
    let wrong = SearchRequest { kinds: vec!["fonction".into()], ..SearchRequest::new("x") };
    assert_says(wrong.check().expect_err("no kind"), &["fonction", "function, method"]);
}

#[test]
fn a_definition_comes_before_what_uses_it_and_tests_can_be_left_out() {
    let tree = Tree::new(&[
        (
            "src/limit.rs",
            "/// Lets so many requests through in a while, and no more than that.\npub struct TokenBucket {\n    rate: f64,\n}\n",
        ),
        ("src/a.rs", "/// Makes a TokenBucket.\npub fn make() -> TokenBucket { TokenBucket { rate: 1.0 } }\n"),
        ("src/b.rs", "/// TokenBucket or none: TokenBucket.\npub fn maybe() -> Option<TokenBucket> { None }\n"),
        (
            "tests/bucket.rs",
            "#[test]\nfn lets_through() { let bucket = TokenBucket::new(); assert!(TokenBucket::is(bucket)); }\n",
        ),
    ]);
    let index = tree.indexed(&[("search.gate", "false"), ("search.cut", "fixed:k=20")]);
    for query in ["TokenBucket", "where is TokenBucket defined"] {
        assert_eq!(paths(&search(&index, SearchRequest::new(query)))[0], "src/limit.rs", "{query}");
    }
    let main = SearchRequest { roles: vec!["main".into()], ..SearchRequest::new("TokenBucket") };
    assert!(paths(&search(&index, main)).iter().all(|path| path.starts_with("src/")));
    let wrong = SearchRequest { roles: vec!["prod".into()], ..SearchRequest::new("x") };
    assert!(wrong.check().is_err_and(|error| error.to_string().contains("one of main, test")));
}

#[test]
fn the_callers_file_and_a_filter_of_one_language_are_hints_too() {
    let tree = tree();
    let index = tree.indexed(&[("search.gate", "false"), ("search.cut", "fixed:k=20")]);
    let hint = |request: SearchRequest| search(&index, request).language_hint;
    assert_eq!(hint(SearchRequest::new("open the store")), None);
    let from =
        SearchRequest { caller_path: Some("tools/x.PY".into()), ..SearchRequest::new("opens the store of rows") };
    let answer = search(&index, from);
    assert_eq!(answer.language_hint.as_deref(), Some("python"));
    assert_eq!(paths(&answer)[0], "lib/store.py");
    assert!(answer.results.len() > 1, "a hint leaves nothing out");
    let only = SearchRequest { languages: vec!["rust".into()], ..SearchRequest::new("open the store") };
    assert_eq!(hint(only).as_deref(), Some("rust"));
    let unknown = SearchRequest { language_hint: Some("C++".into()), ..SearchRequest::new("x") };
    assert!(unknown.check().is_err(), "a display name is not the stored one");
}

/// The trap: the thresholds reject every candidate found by meaning, and the answer silently becomes lexical.
#[test]
fn trap_an_answer_by_words_alone_says_so() {
    let tree = tree();
    let index =
        tree.open(&[("search.gate", "false"), ("search.cut", "language"), ("search.thresholds.default", "0.99")]);
    refresh(&index);
    let high = tree.open(&[
        ("search.gate", "false"),
        ("search.cut", "language"),
        ("search.thresholds.default", "0.99"),
        ("search.thresholds.rust", "0.99"),
        ("search.thresholds.python", "0.99"),
    ]);
    let answer = search(&high, SearchRequest::new("opens the store of rows"));
    assert_eq!(answer.mode_used, "lexical");
    let reason = answer.fallback_reason.expect("a reason");
    assert!(reason.contains("below the threshold of its language") && reason.contains("0.99"), "{reason}");
    assert!(!answer.results.is_empty(), "a hit by words is not held to a similarity");
    assert_eq!(answer.cut.diagnostics["by_similarity"], 0);

    let low = tree.open(&[
        ("search.gate", "false"),
        ("search.cut", "language:min_coverage=1.01"),
        ("search.thresholds.default", "0.1"),
        ("search.thresholds.rust", "0.1"),
        ("search.thresholds.python", "0.99"),
    ]);
    let answer = search(&low, SearchRequest::new("opens the store of rows"));
    assert_eq!((answer.mode_used.as_str(), answer.fallback_reason), ("hybrid", None));
    assert!(
        answer.results.iter().all(|hit| hit.language.as_deref() != Some("python")),
        "each against its own language"
    );
    let hinted = search(&low, SearchRequest::new("opens the store of rows lang:python"));
    assert_eq!(hinted.cut.keep, 0, "with a hint its threshold holds for all");
}
