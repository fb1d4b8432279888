//! Issues.

use crate::import::listing::{counts, listing};
use crate::support::{Tree, assert_says, opened_notes, refresh};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use tamis::import::{ImportInput, ImportSummary, IssueImport};
use tamis::{Error, Index, Observer, RunOptions, SearchRequest, SourceSettings, Stage};
use tamis_text::{Issue, IssueComment, IssueKind, IssueState};

const ORIGIN: &str = "github:ada/engine";

fn at(time: &str) -> Option<jiff::Timestamp> {
    Some(format!("{time}T12:00:00Z").parse().expect("a time"))
}

fn comment(author: &str, day: &str, body: &str) -> IssueComment {
    IssueComment { author: Some(author.into()), created_at: at(day), updated_at: at(day), ..IssueComment::new(body) }
}

fn issue(number: u64, title: &str, day: &str) -> Issue {
    let body = format!("What happened: {title}. Größe und Fluß bleiben gleich.");
    Issue { body, created_at: at("2024-01-01"), updated_at: at(day), ..Issue::new(number, title) }
}

/// A tracker: an open issue, a closed one with the answer in a comment, a merged pull request and one that was not
/// merged.
fn tracker() -> Vec<Issue> {
    let closed = |issue| Issue { state: IssueState::Closed, closed_at: at("2024-02-01"), ..issue };
    let pull = |issue: Issue, state| Issue { kind: IssueKind::PullRequest, state, ..issue };
    vec![
        issue(3, "The dashboard shows yesterday's numbers", "2024-01-03"),
        Issue {
            comments: vec![
                comment("bob", "2024-01-12", "Same here since the upgrade."),
                comment(
                    "ada",
                    "2024-01-13",
                    "The spool directory was full; remove the old snapshots and restart the pump.",
                ),
            ],
            ..closed(issue(12, "Engine stops without a word after a week", "2024-02-01"))
        },
        pull(issue(14, "Check the room left before writing a snapshot", "2024-02-02"), IssueState::Merged),
        pull(issue(15, "Rewrite everything in another language", "2024-02-03"), IssueState::Closed),
    ]
}

fn import(issues: Vec<Issue>) -> IssueImport {
    IssueImport { origin: ORIGIN.into(), issues, ..IssueImport::default() }
}

fn take_in(index: &Index, import: &IssueImport) -> ImportSummary {
    index.imports().issues(import, &()).expect("imported")
}

fn record(index: &Index, number: u64) -> Issue {
    let path = Issue::path(number);
    let state = index.contents().document(index.namespace(), &path).expect("read").expect("stored");
    let record = index.contents().records(&[state.document]).expect("read").remove(0).expect("a record");
    serde_json::from_str(&record).expect("an issue")
}

#[test]
fn a_comment_is_found_with_its_issue_and_the_same_again_changes_nothing() {
    let (_tree, index) = opened_notes(&[]);
    let summary = take_in(&index, &import(tracker()));
    assert_eq!((counts(&summary), summary.comments), ((4, 0, 0, 0), 2));
    index.complete(RunOptions::WHOLE, &()).expect("completed");
    let request = SearchRequest { collections: vec!["issues".into()], ..SearchRequest::new("spool directory full") };
    let hit = index.search(&request).expect("searched").results.remove(0);
    assert_eq!((hit.path.as_str(), hit.kind.as_str()), ("issue:12", "comment"));
    assert_eq!(hit.title.as_deref(), Some("Engine stops without a word after a week"));
    // The lines of a result are lines of the whole issue.
    let lines = index.get(&format!("issue:12:{}-{}", hit.start_line, hit.end_line)).expect("there").text;
    assert!(lines.contains("spool directory"), "{lines}");

    let before = listing(&index);
    let mut shuffled = tracker();
    shuffled.reverse();
    let summary = take_in(&index, &import(shuffled));
    assert_eq!((counts(&summary), summary.comments, summary.passages), ((0, 0, 4, 0), 0, 0));
    assert!(!summary.changed_anything());
    let run = index.complete(RunOptions::WHOLE, &()).expect("completed");
    assert!(run.embedded.is_empty(), "{run:?}");
    assert_eq!(listing(&index), before);

    let (_tree, index) = opened_notes(&[]);
    let dry = IssueImport { dry_run: true, ..import(tracker()) };
    let before = listing(&index);
    let said = take_in(&index, &dry);
    assert_eq!(listing(&index), before);
    let done = take_in(&index, &import(tracker()));
    assert_eq!((counts(&said), said.passages), (counts(&done), done.passages));

    let (_tree, index) = opened_notes(&[]);
    let before = listing(&index);
    let summary = index.imports().issues(&import(tracker()), &Stop::default()).expect("stopped");
    assert!(summary.interrupted && !summary.changed_anything());
    assert_eq!(listing(&index), before);
}

#[test]
fn what_was_updated_later_holds_whatever_comes_last() {
    let (_tree, index) = opened_notes(&[]);
    take_in(&index, &import(tracker()));
    let newer = Issue {
        state: IssueState::Closed,
        closed_at: at("2024-03-01"),
        body: "Solved by an earlier refresh.".into(),
        comments: vec![comment("eve", "2024-03-01", "Fixed in 2.1.")],
        ..issue(3, "The dashboard is a day behind", "2024-03-01")
    };
    let summary = take_in(&index, &import(vec![newer.clone()]));
    assert_eq!((counts(&summary), summary.comments), ((0, 1, 0, 0), 1));
    assert_eq!(record(&index, 3), newer);

    let before = listing(&index);
    let summary = take_in(&index, &import(vec![tracker().remove(0)]));
    assert_eq!(counts(&summary), (0, 0, 0, 1), "the file is older than the index");
    assert_eq!(listing(&index), before);

    // An older page may still hold a comment that the index lacks.
    let older = Issue { comments: vec![comment("bob", "2024-01-02", "I see it too.")], ..tracker().remove(0) };
    let summary = take_in(&index, &import(vec![older]));
    assert_eq!((counts(&summary), summary.comments), ((0, 1, 0, 0), 1));
    let merged = record(&index, 3);
    assert_eq!((merged.title.as_str(), merged.state), ("The dashboard is a day behind", IssueState::Closed));
    assert_eq!(merged.comments.iter().filter_map(|one| one.author.as_deref()).collect::<Vec<_>>(), ["bob", "eve"]);

    let untimed = |title: &str, state| Issue { state, ..Issue::new(5, title) };
    take_in(&index, &import(vec![untimed("A long title of the first version", IssueState::Closed)]));
    let summary = take_in(&index, &import(vec![untimed("Short", IssueState::Open)]));
    assert_eq!(counts(&summary), (0, 1, 0, 0));
    let stored = record(&index, 5);
    assert_eq!((stored.title.as_str(), stored.state, stored.updated_at), ("Short", IssueState::Open, None));
}

#[test]
fn comments_that_come_alone_join_their_issues_and_strays_are_reported() {
    let (_tree, index) = opened_notes(&[]);
    take_in(&index, &import(tracker()));
    let late = comment("eve", "2024-02-05", "The pump needs a restart as well.");
    let comments = vec![(12, late.clone()), (99, late.clone()), (99, comment("eve", "2024-02-06", "And again."))];
    let alone = IssueImport { comments, ..import(Vec::new()) };
    let summary = take_in(&index, &alone);
    assert_eq!((counts(&summary), summary.comments), ((0, 1, 0, 0), 1));
    assert_eq!(summary.without_issue, BTreeMap::from([(99, 2)]));
    assert_eq!(record(&index, 12).comments.last(), Some(&late));
    assert_eq!(counts(&take_in(&index, &alone)), (0, 0, 1, 0));
    // With its issue in the same import, a comment is not a stray.
    let both = IssueImport { issues: vec![issue(99, "A new one", "2024-02-07")], ..alone };
    let summary = take_in(&index, &both);
    assert_eq!((counts(&summary), summary.comments), ((1, 0, 1, 0), 2));
    assert!(summary.without_issue.is_empty());
}

#[test]
fn an_import_has_one_origin_and_numbers_from_1() {
    let (_tree, index) = opened_notes(&[]);
    let zero = index.imports().issues(&import(vec![Issue::new(0, "Nothing")]), &()).expect_err("refused");
    assert!(matches!(zero, Error::Unreadable { .. }), "{zero}");

    let input = |name: &str, repository: &str, number: u64| {
        ImportInput {
        name: name.into(),
        bytes: format!(
            r#"[{{"number":{number},"title":"T","state":"open","html_url":"https://github.com/{repository}/issues/{number}"}}]"#
        )
        .into_bytes(),
    }
    };
    let one = [input("a.json", "ada/engine", 1), input("b.json", "ada/engine", 2)];
    let read = IssueImport::read(&one, None).expect("read");
    assert_eq!((read.origin.as_str(), read.issues.len()), (ORIGIN, 2));
    let two = [input("a.json", "ada/engine", 1), input("b.json", "bob/pump", 2)];
    assert_says(IssueImport::read(&two, None).expect_err("refused"), &["b.json", "one origin"]);
    assert_eq!(IssueImport::read(&two, Some("renamed")).expect("read").origin, "renamed");
    let silent = ImportInput { name: "dir/issues.jsonl".into(), bytes: br#"{"number":1,"title":"T"}"#.to_vec() };
    assert_eq!(IssueImport::read(&[silent], None).expect("read").origin, "issues.jsonl");
}

#[test]
fn the_tracker_of_another_name_or_host_is_refused_with_the_way_out() {
    let (_tree, index) = opened_notes(&[]);
    take_in(&index, &import(tracker()));
    let before = listing(&index);
    let other = IssueImport { origin: "github:bob/pump".into(), ..import(tracker()) };
    assert_says(index.imports().issues(&other, &()).expect_err("refused"), &["github:ada/engine", "namespace"]);
    assert_eq!(listing(&index), before);

    let apart = IssueImport { namespace: Some("pump".into()), ..other };
    assert_eq!(counts(&take_in(&index, &apart)), (4, 0, 0, 0));
    index.complete(RunOptions::WHOLE, &()).expect("completed");
    assert_eq!(index.get("pump:issue:12").expect("there").namespace, "pump");
    assert_eq!(index.get("issue:12").expect("there").namespace, index.namespace(), "one's own first");
    for name in ["", "a:b", "a/b"] {
        let odd = IssueImport { namespace: Some(name.into()), ..apart.clone() };
        assert!(index.imports().issues(&odd, &()).is_err(), "{name:?}");
    }
    let nowhere = IssueImport { origin: " ".into(), ..import(tracker()) };
    assert!(index.imports().issues(&nowhere, &()).is_err());

    let (_tree, index) = opened_notes(&[]);
    let read = |host: &str| {
        let record = format!(
            r#"[{{"number":1,"title":"Leak at {host}","state":"open","html_url":"https://{host}/acme/widget/issues/1",
            "user":{{"login":"ada"}},"body":"It drips."}}]"#
        );
        let input = ImportInput { name: "issues.json".into(), bytes: record.into_bytes() };
        IssueImport::read(&[input], None).expect("read")
    };
    let first = read("github.com");
    assert_eq!(first.origin, "github:acme/widget");
    take_in(&index, &first);
    let before = listing(&index);
    for (host, origin) in [
        ("ghe.corp.example", "github:ghe.corp.example/acme/widget"),
        ("codeberg.org", "gitea:codeberg.org/acme/widget"),
        ("gitlab.example", "gitlab:gitlab.example/acme/widget"),
    ] {
        let other = read(host);
        assert_eq!(other.origin, origin);
        assert_says(index.imports().issues(&other, &()).expect_err(host), &["github:acme/widget"]);
        assert_eq!(listing(&index), before);
    }
    assert_eq!(counts(&take_in(&index, &first)), (0, 0, 1, 0), "the same tracker");
}

#[test]
fn a_run_of_the_index_leaves_issues_alone() {
    use tamis_store::{AttributeCondition, Filter};
    let (tree, index) = opened_notes(&[]);
    take_in(&index, &import(tracker()));
    let paths = |filter: &Filter| -> Vec<String> {
        let found = crate::support::store(&index).select(filter).expect("selected");
        let ids: Vec<_> = found.into_iter().map(|found| found.passage).collect();
        let mut paths: Vec<String> = crate::support::store(&index)
            .passages(&[], &ids)
            .expect("read")
            .into_iter()
            .map(|passage| passage.path)
            .collect();
        paths.dedup();
        paths
    };
    let state =
        |state: &str| Filter { attributes: vec![AttributeCondition::new("state", [state])], ..Filter::default() };
    assert_eq!(paths(&state("resolved")), ["issue:12", "issue:14"]);
    assert_eq!(paths(&state("open")), ["issue:3"]);
    let of_ada = Filter { authors: vec!["ada".into()], ..Filter::default() };
    assert_eq!(paths(&of_ada), ["issue:12"]);

    refresh(&index);
    let issues = |index: &Index| -> Vec<String> {
        listing(index).into_iter().filter(|line| line.contains("path: \"issue:")).collect()
    };
    let before = issues(&index);
    assert_eq!(before.len(), 4);
    std::fs::remove_file(tree.root().join("oven.md")).expect("removed");
    let report = index.refresh_with(RunOptions { reread: true, ..RunOptions::WHOLE }, &()).expect("refreshed");
    assert_eq!((report.removed, index.stale().expect("looked")), (1, 0));
    assert_eq!(issues(&index), before);
    let status = index.status().expect("read");
    assert_eq!((status.imported.len(), status.imported[0].documents), (1, 4));
    assert_eq!(status.imported[0].origin, ORIGIN);
    assert_eq!(status.imported[0].updated, at("2024-02-03"));
}

/// Asks to stop as soon as the import has begun.
#[derive(Default)]
struct Stop(AtomicBool);

impl Observer for Stop {
    fn stage(&self, stage: Stage, _: u64) {
        self.0.fetch_or(stage == Stage::Import, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn what_came_from_an_origin_is_taken_out_again() {
    let (_tree, index) = indexed_notes(&[]);
    let before = listing(&index);
    take_in(&index, &import(tracker()));
    take_in(&index, &IssueImport { namespace: Some("elsewhere".into()), ..import(tracker()) });
    index.complete(RunOptions::WHOLE, &()).expect("completed");
    let imported = index.imports().list().expect("listed");
    let named: Vec<_> = imported.iter().map(|one| (one.namespace.as_str(), one.documents)).collect();
    assert_eq!(named.len(), 2);
    assert!(named.contains(&("elsewhere", 4)) && named.contains(&(index.namespace(), 4)), "{named:?}");

    assert_says(index.imports().remove("github:ada/car", None, &()).expect_err("not there"), &[ORIGIN]);
    assert!(index.imports().remove(ORIGIN, Some("nowhere"), &()).is_err());
    let removed = index.imports().remove(ORIGIN, Some("elsewhere"), &()).expect("removed");
    assert_eq!(removed.len(), 1);
    assert!(index.contents().namespaces().expect("read").iter().all(|known| known.name != "elsewhere"));
    assert!(index.get("issue:12").is_ok());
    index.imports().remove(ORIGIN, None, &()).expect("removed");
    assert_eq!(listing(&index), before);
    assert!(index.check().expect("checked").problems.is_empty());

    // Restored text is already embedded.
    take_in(&index, &import(tracker()));
    assert!(index.complete(RunOptions::WHOLE, &()).expect("completed").embedded.is_empty());
}

#[test]
fn a_namespace_without_a_directory_can_be_searched_read_and_removed() {
    let (_tree, mut index) = opened_notes(&[]);
    refresh(&index);
    take_in(&index, &IssueImport { namespace: Some("engine".into()), ..import(tracker()) });
    index.complete(RunOptions::WHOLE, &()).expect("completed");
    let search = |namespaces: &[&str]| {
        let namespaces = namespaces.iter().map(|&name| name.to_owned()).collect();
        let request = SearchRequest { namespaces, ..SearchRequest::new("spool directory full of snapshots") };
        let answer = index.search(&request).expect("searched");
        answer.results.iter().map(|hit| hit.path.clone()).collect::<Vec<_>>()
    };
    assert!(!search(&[]).contains(&"issue:12".to_owned()), "the tree's own namespace is searched by itself");
    assert_eq!(search(&["engine"])[0], "issue:12");
    assert_eq!(index.get("issue:12").expect("there").namespace, "engine", "nothing else is called so");
    assert_eq!((refresh(&index).removed, index.remove_source("engine").expect("removed")), (0, 4));
    assert!(index.get("issue:12").is_err() && index.imports().list().expect("listed").is_empty());
    assert!(index.remove_source("engine").is_err());
    assert_eq!(index.status().expect("read").sources[0].documents, 12);
}

#[test]
fn an_index_of_several_repositories_asks_which_one_is_meant() {
    let tree = Tree::new(&[("api/a.md", "# A\n\nText.\n"), ("web/b.md", "# B\n\nMore text.\n")]);
    let mut index = tree.open(&[]);
    take_in(&index, &import(tracker()));
    let directories = ["api", "web"].map(|name| tree.root().join(name));
    let added = index.add_sources(&directories, &SourceSettings::default()).expect("added");
    assert_eq!(added, ["api", "web"], "issues alone do not make the place of the index a repository");
    refresh(&index);
    assert_says(index.imports().issues(&import(tracker()), &()).expect_err("which one?"), &["namespace", "api, web"]);
    take_in(&index, &IssueImport { namespace: Some("api".into()), ..import(tracker()) });
    assert_eq!(index.get("api:issue:12").expect("there").namespace, "api");
    assert!(index.get("issue:12").is_err(), "it is in two namespaces");
    assert_eq!((refresh(&index).removed, index.imports().list().expect("listed").len()), (0, 2));
}
