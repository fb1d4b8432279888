//! Opened results through the library.

use crate::support::{indexed_notes, search, store};
use tamis::feedback::Opened;
use tamis::related::RelatedRequest;
use tamis::search::SearchCaller;
use tamis::telemetry::{OpenedCount, StatsRequest};
use tamis::{Answer, Index, SearchRequest};
use tamis_store::LoggedSearch;

fn somebody() -> SearchCaller {
    SearchCaller::session(&["test", "somebody"])
}

/// Searches as a caller, with so many results shown.
fn ask(index: &Index, caller: SearchCaller, query: &str, shown: usize) -> Answer {
    let request = SearchRequest {
        caller: Some(caller),
        limit: Some(shown),
        cut: Some(index.config().cut("fixed:k=6").expect("a cut")),
        ..SearchRequest::new(query)
    };
    search(index, request)
}

fn opened(index: &Index) -> Vec<LoggedSearch> {
    let logged = store(index).usage().expect("a log").logged_searches(0, 99).expect("read");
    logged.into_iter().filter(|one| !one.openings.is_empty()).collect()
}

#[test]
fn openings_are_recorded_for_what_the_caller_was_shown() {
    let (_tree, index) = indexed_notes(&[("search.gate", "false")]);
    let answer = ask(&index, somebody(), "how hot must the oven be", 3);
    let (second, third) = (&answer.results[1], &answer.results[2]);
    // By path, by identifier, by a line, and by what is related to it; each counts once.
    assert_eq!(index.feedback().opened(&index.get(&second.path).expect("read"), &somebody(), "test get"), 1);
    assert_eq!(index.feedback().opened(&index.get(&second.id).expect("read"), &somebody(), "test get"), 0);
    let line = format!("{}:{}", third.path, third.start_line);
    assert_eq!(index.feedback().opened(&index.get(&line).expect("read"), &somebody(), "test get"), 1);
    let related = index.related().find(&RelatedRequest::new(&answer.results[0].id), &()).expect("related");
    assert_eq!(index.feedback().opened(&related, &somebody(), "test related"), 1);

    let log = opened(&index);
    assert_eq!(log.len(), 1);
    assert_eq!(Some(&log[0].search.id), answer.query_id.as_ref());
    let passages: Vec<&String> = log[0].openings.iter().map(|opening| &opening.passage).collect();
    assert_eq!(passages, [&second.id, &third.id, &answer.results[0].id]);
    assert_eq!(log[0].search.query_text, None);
    let stats = index.statistics().summarize(&StatsRequest::default()).expect("read");
    assert_eq!(stats.opened, OpenedCount { searches: 1, passages: 3 });

    let (_tree, index) = indexed_notes(&[("search.gate", "false")]);
    let answer = ask(&index, somebody(), "oven", 2);
    let hidden = ask(&index, SearchCaller::connection(), "oven", 6).results[4].id.clone();
    let open = |id: &str, caller: &SearchCaller| index.feedback().opened(Opened::Passage(id), caller, "test get");
    assert_eq!(open(&hidden, &somebody()), 0, "a candidate below the limit");
    assert_eq!(open(&answer.results[0].id, &SearchCaller::session(&["test", "other"])), 0);
    assert_eq!(open(&answer.results[0].id, &SearchCaller::command_line()), 0);
    assert_eq!(open("ffffffffffff", &somebody()), 0);
    // Only the beginning of this answer reached the caller.
    index.feedback().shown_in_part(answer.query_id.as_deref().expect("recorded"), &[&answer.results[0].id]);
    assert_eq!((open(&answer.results[1].id, &somebody()), open(&answer.results[0].id, &somebody())), (0, 1));
    // A search that names no caller is credited with nothing.
    let violin = crate::support::ask(&index, "violin").results[0].id.clone();
    assert_eq!(open(&violin, &somebody()), 0);
}

#[test]
fn openings_are_off_by_a_key_and_fail_nothing() {
    for off in [("telemetry.opened", "off"), ("telemetry.record", "off")] {
        let (tree, index) = indexed_notes(&[off]);
        let answer = ask(&index, somebody(), "oven", 3);
        assert_eq!(index.feedback().opened(&index.get("oven.md").expect("read"), &somebody(), "test get"), 0);
        assert_eq!(index.feedback().recording_problem(), None);
        if answer.query_id.is_some() {
            let on = tree.open(&[]);
            let later = on.feedback().opened(&on.get("oven.md").expect("read"), &somebody(), "test get");
            assert_eq!((later, opened(&on).len()), (0, 0), "what was shown meanwhile is not known either");
        }
    }

    let (tree, index) = indexed_notes(&[]);
    std::fs::create_dir(tree.root().join(".tamis/usage.db")).expect("made");
    assert_eq!(index.feedback().opened(&index.get("oven.md").expect("read"), &somebody(), "test get"), 0);
    assert!(index.feedback().recording_problem().expect("a problem").contains("usage.db"));
}
