//! Limits, refusals and failures: what was read is kept, and the next import brings the rest.

use super::gh::{Fault, World, pull, review};
use super::{Bench, held, try_import, world};
use crate::support::{ask, assert_says};
use std::path::PathBuf;
use tamis::import::{GithubImport, Stopped};

fn bench(number: usize, fault: Fault) -> Bench {
    let mut world = world();
    world.faults.insert(number, fault);
    Bench::new(world)
}

fn broken(from: usize, fault: Fault) -> World {
    World { broken_from: Some((from, fault)), ..world() }
}

#[test]
fn a_limit_ends_the_import_and_the_next_one_goes_on() {
    let used_up = vec![("X-Ratelimit-Remaining", "0".to_owned()), ("X-Ratelimit-Reset", "1748782800".to_owned())];
    let bench = bench(1, Fault::Status(403, used_up, "API rate limit exceeded for user ID 1."));
    let index = bench.open();
    let report = bench.import(&index);
    let until = "2025-06-01T13:00:00Z".parse().expect("a time");
    assert_eq!((report.stopped, report.counts.added), (Some(Stopped::RateLimit { until }), 2), "{report:?}");
    assert_eq!((held(&index).len(), bench.gh.targets().len()), (2, 2));
    let report = bench.import(&index);
    assert_eq!((report.stopped, report.counts.added), (None, 3), "{report:?}");
    let targets = bench.gh.targets();
    assert!(targets[0].contains("since=2025-01-01T03:39:59Z"), "from the last page on: {targets:?}");
}

#[test]
fn refusals_and_failures_quote_gh() {
    for (fault, said) in [
        (Fault::Status(403, vec![], "Resource not accessible by integration"), "by integration (HTTP 403)"),
        (Fault::Status(410, vec![], "Issues has been disabled in this repository."), "has been disabled"),
        (Fault::Status(451, vec![], "Repository access blocked"), "access blocked (HTTP 451)"),
        (Fault::Status(502, vec![], "Unicorn!\u{1b}[2J"), "Unicorn![2J (HTTP 502); what was read so far is kept"),
        (Fault::Status(404, vec![], "Not Found"), "ada/engine: there is no such repository, or the account"),
        (Fault::Status(401, vec![], "Bad credentials"), "Bad credentials (HTTP 401); run `gh auth login"),
        (Fault::Exit(4, "To get started, run: gh auth login"), "gh is not logged in to github.com; run `gh auth login"),
        (Fault::Exit(1, "error connecting to api.github.com\nx\ny\nz\n"), "error connecting to api.github.com; x; y;"),
        (Fault::Exit(2, ""), "gh gives no answer"),
        (Fault::Cut, "unexpected EOF"),
        (Fault::Output("HTTP/2.0 200 OK\n\r\n<!doctype html>"), "not an answer of GitHub's API"),
        (Fault::Output("HTTP/2.0 200 OK\n\r\n{\"message\": \"hello\"}"), "not an answer of GitHub's API"),
    ] {
        let bench = bench(0, fault);
        assert_says(bench.error(&bench.open()), &[said]);
        assert_eq!(bench.gh.targets().len(), 1, "{said}");
    }

    let bench = Bench::new(world());
    let request = GithubImport { program: Some(PathBuf::from("/nowhere/gh")), ..bench.request() };
    assert_says(try_import(&bench.open(), &request, &()).expect_err("refused"), &["gh cannot be started"]);
}

#[test]
fn a_repository_that_has_moved_is_followed_and_its_origin_stays() {
    let mut world = world();
    for issue in &mut world.issues {
        issue["repository_url"] = "https://api.github.com/repos/new-owner/new-name".into();
    }
    let bench = Bench::new(world);
    let report = bench.import(&bench.open());
    assert_eq!((report.moved_to.as_deref(), report.counts.added), (Some("new-owner/new-name"), 5), "{report:?}");
    assert_eq!((report.origin.as_str(), report.counts.reviewed), ("github:ada/engine", 1));
}

#[test]
fn wherever_an_import_breaks_off_the_next_one_brings_the_rest() {
    let whole = Bench::new(world());
    let index = whole.open();
    whole.import(&index);
    let expected = held(&index);
    let requests = whole.gh.targets().len();
    assert!(requests > 6, "{requests}");
    for from in 0..requests {
        let (bench, index) = Bench::opened(broken(from, Fault::Cut));
        bench.error(&index);
        if from == 1 {
            assert_eq!(ask(&index, "boiler whistles").results[0].path, "issue:1", "it is found already");
        }
        bench.gh.world().broken_from = None;
        let report = bench.import(&index);
        assert_eq!(held(&index), expected, "broken off at request {from}");
        // No page of the same list twice except the last one.
        let again = usize::try_from(report.requests).expect("few") + from;
        assert!(again <= requests + 3, "broken off at request {from}: {again} of {requests}");
        assert_eq!(report.counts.pending, 0);
    }
}

#[test]
fn an_import_broken_off_among_reviews_asks_for_the_others_alone() {
    // Three lists, then the reviews of 51 pull requests.
    let mut world = broken(3 + 30, Fault::Cut);
    for number in 10..60 {
        world.issues.push(pull(number, "Polish the brass", 60, 260));
        world.reviews.insert(number, vec![review(1000 + number, number, 261, "Shines.")]);
    }
    world.page = 100;
    let (bench, index) = Bench::opened(world);
    bench.error(&index);
    bench.gh.world().broken_from = None;
    let report = bench.import(&index);
    assert_eq!((report.counts.reviewed, report.counts.pending), (21, 0), "{report:?}");
    let held = held(&index);
    assert!((10..60).all(|number| held[&format!("issue:{number}")].contains("Shines.")));
}
