//! The imported issues, and the requests of the next import.

use super::gh::{World, comment, issue, minute, pull, review};
use super::{Bench, held, try_import, world};
use crate::support::{ask, assert_says};
use serde_json::json;
use tamis::import::{GithubImport, IssueStates};

fn issues_of(targets: &[String]) -> Vec<&String> {
    targets.iter().filter(|target| target.starts_with("repos/ada/engine/issues?")).collect()
}

#[test]
fn issues_come_in_with_comments_and_reviews_and_are_found() {
    let (bench, index, report) = Bench::imported(world());
    assert_eq!((report.counts.added, report.counts.comments, report.counts.reviewed), (5, 6, 1), "{report:?}");
    assert_eq!((report.counts.pending, report.counts.left_out, report.stopped), (0, 0, None), "{report:?}");
    assert_eq!((report.origin.as_str(), report.bad.len()), ("github:ada/engine", 0));
    let held = held(&index);
    assert_eq!(held.keys().collect::<Vec<_>>(), ["issue:1", "issue:2", "issue:3", "issue:4", "issue:5"]);
    for text in ["Oil the valve", "Thank you for the oil.", "This line leaks oil.", "Works on the test bench."] {
        assert!(held["issue:3"].contains(text), "{text}: {}", held["issue:3"]);
    }
    assert_eq!(ask(&index, "graphite grease below zero degrees").results[0].path, "issue:2");
    let attributes = |number: &str| {
        let document = index.contents().document(index.namespace(), number).expect("read").expect("there");
        index.contents().attributes(&[document.document]).expect("read").remove(0)
    };
    let states = |number| {
        let all = attributes(number).into_iter().filter(|attribute| attribute.name == "state");
        all.map(|attribute| attribute.value).collect::<Vec<_>>()
    };
    assert!(states("issue:3").contains(&"merged".to_owned()), "{:?}", states("issue:3"));
    assert_eq!(states("issue:1"), ["open"]);

    index.imports().remove("github:ada/engine", None, &()).expect("removed");
    assert!(self::held(&index).is_empty());
    assert_eq!(bench.import(&index).counts.added, 5);
}

#[test]
fn gh_is_only_asked_to_read_and_prints_nothing_else() {
    let (bench, index, _) = Bench::imported(world());
    let requests = bench.gh.requests();
    assert!(requests.len() > 5, "{requests:?}");
    for request in requests {
        let (target, before) = request.split_last().expect("arguments");
        let version = "X-GitHub-Api-Version: 2022-11-28";
        let arguments = ["11", "api", "--method", "GET", "--include", "--hostname", "github.com", "--header", version];
        assert_eq!(before, arguments);
        assert!(target.starts_with("repos/ada/engine/"), "{target}");
    }

    let request = GithubImport { host: "git.example.org".into(), namespace: Some("own".into()), ..bench.request() };
    let report = try_import(&index, &request, &()).expect("imported");
    assert_eq!(report.origin, "github:git.example.org/ada/engine");
    assert!(bench.gh.requests()[0].contains(&"git.example.org".to_owned()));
    for host in ["", "-x", "git.example.org/api", "a b", "https://git.example.org"] {
        let request = GithubImport { host: host.into(), ..bench.request() };
        assert_says(try_import(&index, &request, &()).expect_err("refused"), &["not a host name"]);
    }
}

#[test]
fn the_next_import_asks_only_for_what_changed_unless_it_is_full() {
    let (bench, index, _) = Bench::imported(world());
    let before = held(&index);
    bench.gh.requests();
    let second = bench.import(&index);
    assert_eq!((second.counts.added, second.counts.updated, second.counts.comments), (0, 0, 0), "{second:?}");
    let targets = bench.gh.targets();
    assert_eq!(targets.len(), 3, "one request a list, and none for reviews: {targets:?}");
    assert!(targets[0].contains("since=2025-01-01T04:09:59Z"), "a second before the last update: {targets:?}");
    assert_eq!(held(&index), before);

    bench.gh.requests();
    let report = try_import(&index, &GithubImport { full: true, ..bench.request() }, &()).expect("imported");
    assert_eq!((report.counts.added, report.counts.updated), (0, 0), "{report:?}");
    let targets = bench.gh.targets();
    assert!(issues_of(&targets).len() > 2 && !targets[0].contains("since="), "{targets:?}");

    let (bench, index, _) = Bench::imported(world());
    bench.gh.requests();
    {
        let mut world = bench.gh.world();
        world.issues[0]["state"] = json!("closed");
        world.issues[0]["updated_at"] = json!(minute(300));
        world.issues[2]["updated_at"] = json!(minute(301));
        world.issues.push(pull(6, "Paint the boiler", 302, 302));
        world.comments.push(comment(74, 1, 299, "It whistles no more."));
        world.reviews.entry(3).or_default().push(review(92, 3, 301, "And on the road."));
    }
    let report = bench.import(&index);
    assert_eq!((report.counts.added, report.counts.reviewed), (1, 2), "{report:?}");
    assert_eq!(report.counts.comments, 2, "{report:?}");
    let reviews: Vec<String> = bench.gh.targets().into_iter().filter(|target| target.contains("/reviews")).collect();
    assert_eq!(reviews.len(), 2, "{reviews:?}");
    let held = held(&index);
    assert!(held["issue:1"].contains("It whistles no more."), "{held:?}");
    assert!(held["issue:3"].contains("And on the road."), "{held:?}");
}

#[test]
fn a_list_that_ends_after_some_pages_is_read_on_by_time() {
    let mut world = world();
    world.issues = (1..=9).map(|one| issue(one, "Boiler", 10, 200 + i64::try_from(one).expect("small") / 2)).collect();
    world.pages = 1;
    // Two of each second and two on a page: without another page the import would not move on.
    world.page = 3;
    let (_bench, index, _) = Bench::imported(world);
    assert_eq!(held(&index).len(), 9);

    let mut world = self::world();
    world.issues = (1..=9).map(|number| issue(number, "Boiler", 10, 200)).collect();
    world.pages = 2;
    let bench = Bench::new(world);
    assert_says(bench.error(&bench.open()), &["cut the list short", "2025-01-01T03:20:00Z"]);

    let mut world = self::world();
    world.changes.insert(0, |world: &mut World| world.issues[0]["updated_at"] = json!(minute(400)));
    let (_bench, index, report) = Bench::imported(world);
    assert_eq!(held(&index).len(), 5, "{report:?}");
}

#[test]
fn trap_an_issue_that_is_closed_later_is_updated_with_its_comments() {
    let (bench, index) = Bench::opened(world());
    let open = GithubImport { states: IssueStates::Open, ..bench.request() };
    try_import(&index, &open, &()).expect("imported");
    assert_eq!(held(&index).keys().collect::<Vec<_>>(), ["issue:1", "issue:4", "issue:5"]);
    assert!(bench.gh.targets()[0].contains("state=open"), "the server leaves out what is not asked for");
    {
        let mut world = bench.gh.world();
        world.issues[0]["state"] = json!("closed");
        world.issues[0]["updated_at"] = json!("2025-06-01T12:30:00Z");
    }
    let report = try_import(&index, &open, &()).expect("imported");
    assert_eq!(report.counts.updated, 1, "{report:?}");
    let document = index.contents().document(index.namespace(), "issue:1").expect("read").expect("there");
    let attributes = index.contents().attributes(&[document.document]).expect("read").remove(0);
    let is_closed = attributes.iter().any(|attribute| attribute.name == "state" && attribute.value == "closed");
    assert!(is_closed, "{attributes:?}");

    let (bench, index) = Bench::opened(world());
    let closed = GithubImport { states: IssueStates::Closed, ..bench.request() };
    let report = try_import(&index, &closed, &()).expect("imported");
    assert_eq!(held(&index).keys().collect::<Vec<_>>(), ["issue:2", "issue:3"]);
    assert_eq!(report.counts.without_issue, 1, "{report:?}");
    {
        let mut world = bench.gh.world();
        world.issues[0]["state"] = json!("closed");
        world.issues[0]["updated_at"] = json!("2025-06-01T12:30:00Z");
    }
    let report = try_import(&index, &closed, &()).expect("imported");
    assert_eq!((report.counts.added, report.counts.pending), (1, 0), "{report:?}");
    assert!(held(&index)["issue:1"].contains("A loose washer"), "{:?}", held(&index));
}

#[test]
fn a_date_leaves_out_what_is_older_but_no_comment_of_what_is_not() {
    let (bench, index) = Bench::opened(world());
    let since = GithubImport { since: Some(minute(215).parse().expect("a time")), ..bench.request() };
    let report = try_import(&index, &since, &()).expect("imported");
    let held = held(&index);
    assert_eq!(held.keys().collect::<Vec<_>>(), ["issue:2", "issue:3", "issue:4", "issue:5"], "{report:?}");
    assert!(held["issue:2"].contains("Graphite grease"), "{held:?}");
    assert!(held["issue:3"].contains("This line leaks oil."), "{held:?}");
    // Afterwards all of it: the import starts over and says why.
    let report = bench.import(&index);
    assert_eq!(report.counts.added, 1, "{report:?}");
    assert_eq!(report.anew.as_deref(), Some("the last import left out what is older"));
}

#[test]
fn reviews_can_be_left_out_and_have_a_budget() {
    let (bench, index) = Bench::opened(world());
    let issues = GithubImport { pulls: false, ..bench.request() };
    let report = try_import(&index, &issues, &()).expect("imported");
    assert_eq!((report.counts.added, report.counts.left_out), (4, 1), "{report:?}");
    assert!(bench.gh.targets().iter().all(|target| !target.contains("/pulls/")));

    let (bench, index) = Bench::opened(world());
    let no_reviews = GithubImport { reviews: false, ..bench.request() };
    let report = try_import(&index, &no_reviews, &()).expect("imported");
    assert_eq!((report.counts.added, report.counts.reviewed, report.counts.pending), (5, 0, 0), "{report:?}");
    // They are not forgotten: an import that may request them does.
    let report = bench.import(&index);
    assert_eq!((report.counts.reviewed, report.counts.pending), (1, 0), "{report:?}");

    let mut world = world();
    world.issues.push(pull(6, "Paint the boiler", 60, 260));
    world.reviews.insert(6, vec![review(96, 6, 261, "Red is fine.")]);
    let (bench, index) = Bench::opened(world);
    let one = GithubImport { most_reviews: 1, ..bench.request() };
    let report = try_import(&index, &one, &()).expect("imported");
    assert_eq!((report.counts.reviewed, report.counts.pending), (1, 1), "{report:?}");
    assert!(held(&index)["issue:6"].contains("Red is fine."), "the newest first");
    let report = bench.import(&index);
    assert_eq!((report.counts.reviewed, report.counts.pending), (1, 0), "{report:?}");
    assert!(held(&index)["issue:3"].contains("Works on the test bench."));

    // The one is deleted; the other has moved to another repository, where it has another number.
    for (review, at) in [(None, "repos/ada/engine/pulls/9999/missing"), (Some(4), "repos/ada/engine/pulls/4/reviews")] {
        let mut world = self::world();
        world.reviews.extend(review.map(|one| (one, vec![self::review(94, one, 150, "Of another repository.")])));
        world.redirects.push(("repos/ada/engine/pulls/3/reviews".into(), at.into()));
        let (_bench, index, report) = Bench::imported(world);
        assert_eq!((report.counts.added, report.counts.gone, report.counts.pending), (5, 1, 0), "{report:?}");
        assert!(held(&index).values().all(|text| !text.contains("Of another repository.")));
    }

    let mut world = self::world();
    world.issues[3].as_object_mut().expect("an object").remove("title");
    let (_bench, _, report) = Bench::imported(world);
    assert_eq!((report.counts.added, report.bad.len()), (4, 1), "{report:?}");
    assert!(report.bad[0].to_string().contains("title"), "{:?}", report.bad);
}

#[test]
fn names_of_repositories_know_no_case_and_another_repository_is_refused() {
    let (bench, index, _) = Bench::imported(world());
    bench.gh.world().redirects.push(("repos/Ada/Engine/".into(), "repos/ada/engine/".into()));
    let same = GithubImport { repository: "Ada/Engine".parse().expect("a repository"), ..bench.request() };
    let report = try_import(&index, &same, &()).expect("imported");
    assert_eq!((report.origin.as_str(), report.counts.added), ("github:ada/engine", 0), "{report:?}");
    assert_eq!(report.moved_to, None);

    bench.gh.world().root = "repos/ada/loom".into();
    let other = GithubImport { repository: "ada/loom".parse().expect("a repository"), ..bench.request() };
    assert_says(try_import(&index, &other, &()).expect_err("refused"), &["a namespace of its own"]);
    let apart = GithubImport { namespace: Some("loom".into()), ..other };
    let report = try_import(&index, &apart, &()).expect("imported");
    assert_eq!((report.namespace.as_str(), report.counts.added), ("loom", 5), "{report:?}");
}
