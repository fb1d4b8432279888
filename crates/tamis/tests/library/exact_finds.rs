//! Exact finds: definitions of a name, files that the query names, and lines of messages, unless many texts repeat them.

use crate::support::issues::{closed, put};
use crate::support::{Tree, ask, ask_for_all, notes, paths};
use tamis_text::Issue;

const AGENT: &str = "User Agent: Mozilla/5.0 (X11; Linux; rv:41.0) Gecko Firefox";

/// Reports by one form. Those of most programs have the same line about the browser.
fn reports() -> Vec<Issue> {
    let parts =
        ["toolbar", "address bar", "sidebar", "download list", "bookmark menu", "history", "print dialog", "zoom"];
    let faults = ["flickers", "is cut off", "loses its focus", "ignores the keyboard", "draws the wrong colour"];
    let report = |(number, (part, fault)): (u64, (&str, &str))| {
        let body = format!(
            "{AGENT}\n\nSteps to reproduce:\n\nOpen the {part} on a page with long text.\n\nActual results:\n\nThe {part} {fault}.\n"
        );
        closed(number, &format!("The {part} {fault}"), &body)
    };
    let all = parts.iter().flat_map(|part| faults.iter().map(move |fault| (*part, *fault)));
    (1..).zip(all).map(report).collect()
}

#[test]
fn a_line_that_reports_repeat_is_no_exact_find() {
    let mut issues = reports();
    assert_eq!(issues.len(), 40);
    let body = "User Agent: Safari on a tablet\n\nSteps to reproduce:\n\nPut the tablet to sleep and wake it.\n\n\
                Actual results:\n\nThe open tabs are gone after waking up.\n";
    issues.push(closed(99, "Tabs vanish when the device wakes up", body));
    let tree = Tree::new(&[]);
    let index = tree.indexed(&[("search.gate", "false")]);
    put(&index, &issues);
    let pasted = format!(
        "Open tabs are gone after sleep\n{AGENT}\nSteps to reproduce:\nLet the device sleep with some tabs, and wake it up.\n\
         Actual results:\nAll tabs are gone.\n"
    );
    let answer = ask_for_all(&index, &pasted);
    assert_eq!(answer.results[0].path, "issue:99", "{:?}", answer.results[0]);
    let pool = answer.pool.as_ref().expect("a pool");
    assert!(pool.iter().all(|entry| entry.exact.is_none()), "{:?}", pool[0]);

    // The line alone is what is asked for, and still 40 reports say it.
    let pool = ask_for_all(&index, AGENT).pool.expect("a pool");
    assert!(pool.iter().all(|entry| entry.exact.is_none()), "{:?}", pool[0]);
    // What one of them says is rare.
    let found = ask_for_all(&index, "The print dialog ignores the keyboard");
    let exact = found.pool.expect("a pool")[0].exact.clone();
    assert_eq!(
        (exact.as_deref(), found.results[0].title.as_deref()),
        (Some("mention"), Some("The print dialog ignores the keyboard"))
    );
}

fn exact_of<'a>(answer: &'a tamis::Answer, path: &str) -> Option<&'a str> {
    answer.pool.as_ref()?.iter().find(|entry| entry.path == path)?.exact.as_deref()
}

#[test]
fn of_several_definitions_the_one_in_the_file_of_the_name_comes_first() {
    let tree = Tree::new(&[
        ("src/a.rs", "/// The Router: a Router of Routers.\npub struct Router;\n"),
        (
            "src/router.rs",
            "use std::net;\n\n/// Sends each message on its way.\npub struct Router {\n    table: Vec<u8>,\n}\n",
        ),
        ("src/b.rs", "pub fn close() {}\n"),
    ]);
    let index = tree.indexed(&[]);
    let answer = ask_for_all(&index, "Router");
    assert_eq!(paths(&answer)[..2], ["src/router.rs", "src/a.rs"]);
    assert_eq!(exact_of(&answer, "src/a.rs"), Some("definition"));
}

#[test]
fn a_plain_word_in_a_sentence_is_no_exact_find_elsewhere() {
    let tree = Tree::new(&[
        ("src/a.rs", "/// Begins.\npub fn open() {}\n"),
        ("docs/a.md", "# Speed\n\nThe first `open` is slow on a disk that sleeps.\n"),
        ("docs/b.md", "# Other\n\nNothing of the kind.\n"),
    ]);
    let index = tree.indexed(&[]);
    assert_eq!(exact_of(&ask_for_all(&index, "why is `open` so slow"), "src/a.rs"), None);
    assert_eq!(exact_of(&ask_for_all(&index, "where is `open` defined"), "src/a.rs"), Some("definition"));
    tree.write("src/open.rs", b"/// Begins.\npub fn open() {}\n");
    index.refresh().expect("refreshed");
    let answer = ask_for_all(&index, "why is `open` so slow");
    assert_eq!((exact_of(&answer, "src/open.rs"), exact_of(&answer, "src/a.rs")), (Some("definition"), None));
}

#[test]
fn a_file_that_the_query_names_is_among_the_results() {
    let notes = notes();
    let mut files: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("deep/zz.md", "# Bees\n\nThe beekeeper opens the hive.\n"));
    files.push(("AGENTS.md", "# Rules\n\nSay it in few words.\n"));
    let tree = Tree::new(&files);
    let index = tree.indexed(&[]);
    for (query, path) in [
        ("update `zz.md` before the glacier moves", "deep/zz.md"),
        ("which instruments does deep/zz.md list?", "deep/zz.md"),
        ("does AGENTS.md speak of the tax return", "AGENTS.md"),
    ] {
        assert!(paths(&ask(&index, query)).contains(&path), "{query}: {:?}", paths(&ask(&index, query)));
    }
    assert!(!paths(&ask(&index, "before the glacier moves a metre")).contains(&"deep/zz.md"));
}

#[test]
fn a_question_in_plain_words_prefers_no_code() {
    let code: Vec<(String, String)> = (0..9)
        .map(|at| {
            (
                format!("src/part{at}.rs"),
                format!("/// Checks the limit of retries, part {at}.\npub fn check{at}() {{}}\n"),
            )
        })
        .collect();
    let mut files: Vec<(&str, &str)> = code.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("docs/retries.md", "# Retries\n\nThe limit of retries is checked before each attempt.\n"));
    let tree = Tree::new(&files);
    let index = tree.indexed(&[]);
    let prefers = |query: &str| ask_for_all(&index, query).cut.diagnostics.get("lean").cloned();
    assert_eq!(prefers("where is the limit of retries checked"), None);
    assert_eq!(prefers("where is check3() called"), Some("code".into()));
}
