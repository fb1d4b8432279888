//! Likely duplicates of issues.

use crate::support::issues::{closed, put, said};
use crate::support::{Tree, opened_notes, stop_everywhere};
use tamis::Index;
use tamis::duplicates::{Duplicates, DuplicatesRequest};
use tamis::telemetry::StatsRequest;
use tamis_text::{Issue, IssueKind, IssueState};

fn index() -> (Tree, Index) {
    let (tree, index) = opened_notes(&[]);
    let mut chatty = closed(5, "Colours of the chart are too pale", "On a bright screen the chart is hard to read.");
    chatty.comments = vec![said("eve", "Login fails with a bad token after the update, says everybody.")];
    put(
        &index,
        &[
            closed(
                1,
                "Login fails with a bad token",
                "Since the update the login page says bad token and nobody gets in.",
            ),
            Issue {
                state: IssueState::Open,
                ..closed(2, "Bad token after the update", "The login page says bad token since the update.")
            },
            closed(3, "Printer driver cannot find the paper tray", "The driver shows no tray of paper at all."),
            Issue {
                kind: IssueKind::PullRequest,
                state: IssueState::Merged,
                ..closed(
                    4,
                    "Login fails with a bad token",
                    "Since the update the login page says bad token and nobody gets in.",
                )
            },
            chatty,
            closed(6, "Ships wait outside of the harbour", "The pilot comes with the tide."),
        ],
    );
    (tree, index)
}

fn of(index: &Index, number: u64) -> Duplicates {
    index.duplicates().find(&DuplicatesRequest::issue(number), &()).expect("answered")
}

fn text(index: &Index, title: &str, body: &str) -> Duplicates {
    index.duplicates().find(&DuplicatesRequest::text(title, body), &()).expect("answered")
}

#[test]
fn of_two_alike_the_one_written_at_the_same_time_comes_first() {
    let (_tree, index) = opened_notes(&[]);
    let at = |number, date: &str| Issue {
        created_at: date.parse().ok(),
        ..closed(number, "Login fails with a bad token", "The login page says bad token.")
    };
    put(&index, &[at(1, "2024-06-01T00:00:00Z"), at(2, "2019-01-01T00:00:00Z"), at(3, "2024-05-20T00:00:00Z")]);
    assert_eq!(of(&index, 1).considered.iter().map(|one| one.number).collect::<Vec<_>>(), [3, 2]);
}

#[test]
fn duplicates_are_issues_in_other_words_and_never_the_issue_itself() {
    let (_tree, index) = index();
    of(&index, 1);
    text(&index, "Quarterly harvest of seaweed", "");
    let stats = index.statistics().summarize(&StatsRequest::default()).expect("counted");
    assert_eq!((stats.queries, stats.empty), (2, 1));
    assert_eq!(stats.entry_points[0].name, "duplicates");

    let found = of(&index, 1);
    assert_eq!(found.duplicates.first().map(|one| one.number), Some(2), "{found:?}");
    assert!(found.considered.iter().all(|one| one.number != 1), "left out of what is proposed, not of what is given");
    let alike = found.considered.iter().filter(|one| one.likeness >= found.min_likeness).count();
    assert!(found.duplicates.len() <= alike.max(3), "what is not like it is given only to have a few to compare");
    let scores: Vec<f64> = found.considered.iter().map(|one| one.score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b));
    assert_eq!(of(&index, 2).duplicates.first().map(|one| one.number), Some(1), "the same both ways");

    assert!(of(&index, 1).considered.iter().all(|one| one.kind == "issue"));
    assert!(of(&index, 4).considered.is_empty(), "there is one pull request");
    assert!(of(&index, 4).reason.contains("no other issue"), "{}", of(&index, 4).reason);

    let found = text(&index, "Quarterly harvest of seaweed", "How much kelp grows near the coast?");
    assert!(found.duplicates.is_empty());
    assert!(found.reason.contains("has likeness") && found.reason.contains("below"), "{}", found.reason);
    assert_eq!((found.cut.keep, found.cut.method.as_str()), (0, "likeness_floor"));

    let found = text(&index, "Login fails with a bad token after the update, says everybody", "");
    let chatty = found.considered.iter().find(|one| one.number == 5);
    assert!(chatty.is_none_or(|one| one.likeness < found.min_likeness), "{chatty:?}");

    let request = DuplicatesRequest { states: vec!["open".into()], ..DuplicatesRequest::issue(1) };
    let found = index.duplicates().find(&request, &()).expect("answered");
    assert_eq!(found.considered.iter().map(|one| one.number).collect::<Vec<_>>(), [2]);

    let ask = |request| index.duplicates().find(&request, &()).map(|found| found.reason);
    assert!(ask(DuplicatesRequest::issue(77)).expect_err("not there").to_string().contains("issue 77"));
    let empty = ask(DuplicatesRequest::text(" ", "")).expect_err("nothing asked").to_string();
    assert!(empty.contains("a title, or a body"));

    let request = DuplicatesRequest::issue(1);
    let places = stop_everywhere(|observer| index.duplicates().find(&request, observer));
    assert!(places > of(&index, 1).considered.len(), "{places}");
}
