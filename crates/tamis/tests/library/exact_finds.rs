//! Lines that many texts repeat are no exact finds.

use crate::support::issues::{closed, put};
use crate::support::{Tree, ask_for_all};
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
