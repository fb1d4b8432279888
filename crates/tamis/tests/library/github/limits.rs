//! Request limits and failing servers: the import waits, never forever, and never in real time in a test.

use super::server::ServerFault;
use super::{Bench, StopAfter, held, world};
use serde_json::json;
use std::time::Duration;
use tamis::import::{GithubImport, Stopped};

/// The time by the tests' server: 2025-06-01 12:00:00 UTC.
const NOW: i64 = 1_748_779_200;

fn primary(seconds: i64) -> ServerFault {
    let headers = vec![
        ("x-ratelimit-limit", "5000".to_owned()),
        ("x-ratelimit-remaining", "0".to_owned()),
        ("x-ratelimit-reset", (NOW + seconds).to_string()),
    ];
    ServerFault::Status(403, headers, json!({ "message": "API rate limit exceeded for user ID 1." }).to_string())
}

fn secondary(retry_after: Option<u64>) -> ServerFault {
    let headers = retry_after.map(|seconds| ("retry-after", seconds.to_string())).into_iter().collect();
    let message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    ServerFault::Status(403, headers, json!({ "message": message }).to_string())
}

fn bench(faults: impl IntoIterator<Item = (usize, ServerFault)>) -> Bench {
    let mut world = world();
    world.faults.extend(faults);
    Bench::new(world)
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn the_primary_limit_is_waited_for() {
    let bench = bench([(1, primary(600))]);
    let index = bench.open();
    let report = bench.import(&index);
    assert_eq!(held(&index).len(), 5);
    assert_eq!((bench.clock.slept(), report.waited_seconds), (secs(601), 601.0));

    let last = vec![("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", (NOW + 60).to_string())];
    let link = ("link", String::new());
    let bench = self::bench([(0, ServerFault::Headers(last.into_iter().chain([link]).collect()))]);
    let report = bench.import(&bench.open());
    assert_eq!(bench.clock.slept(), secs(61));
    assert_eq!(report.stopped, None);
}

#[test]
fn a_limit_that_takes_too_long_ends_the_import_and_the_next_one_goes_on() {
    let bench = bench([(1, primary(3600))]);
    let index = bench.open();
    let report = bench.import(&index);
    let Some(Stopped::RateLimit { until }) = report.stopped else { panic!("{report:?}") };
    assert_eq!(until.as_second(), NOW + 3601);
    assert_eq!((bench.clock.slept(), report.added), (Duration::ZERO, 2), "{report:?}");
    assert_eq!((held(&index).len(), bench.server.targets().len()), (2, 2));
    bench.clock.pass(secs(3601));
    let report = bench.import(&index);
    assert_eq!((report.stopped, report.added), (None, 3), "{report:?}");
    let targets = bench.server.targets();
    assert!(targets[0].contains("since=2025-01-01T03:39:59Z"), "from the last page on: {targets:?}");

    let bench = self::bench([(1, primary(3600))]);
    let request = GithubImport { max_wait: secs(61 * 60), ..bench.request() };
    assert_eq!(bench.try_import(&bench.open(), &request, &()).expect("imported").stopped, None);
    assert_eq!(bench.clock.slept(), secs(3601));

    let mut world = world();
    world.broken_from = Some((0, secondary(None)));
    let bench = Bench::new(world);
    let report = bench.import(&bench.open());
    assert!(matches!(report.stopped, Some(Stopped::RateLimit { .. })), "{report:?}");
    assert!(bench.server.targets().len() < 10);

    let mut world = super::world();
    world.broken_from = Some((0, primary(-5)));
    let bench = Bench::new(world);
    let report = bench.import(&bench.open());
    assert!(matches!(report.stopped, Some(Stopped::RateLimit { .. })), "{report:?}");
    assert!(bench.server.targets().len() < 15);
}

#[test]
fn the_secondary_limit_is_waited_for_as_asked_or_a_minute_and_longer_each_time() {
    let asked = bench([(0, secondary(Some(90)))]);
    asked.import(&asked.open());
    assert_eq!(asked.clock.slept(), secs(90));

    let silent =
        bench([(0, secondary(None)), (1, secondary(None)), (2, ServerFault::Status(429, vec![], String::new()))]);
    silent.import(&silent.open());
    assert_eq!(silent.clock.slept(), secs(60 + 120 + 240));
}

#[test]
fn failures_pass() {
    let unwell = |status| ServerFault::Status(status, vec![], "<html>unwell</html>".to_owned());
    let faults = [unwell(500), unwell(502), ServerFault::CutConnection, ServerFault::CutBody, ServerFault::Nothing];
    let bench = bench(faults.into_iter().enumerate().map(|(at, fault)| (at + 1, fault)));
    let index = bench.open();
    let report = bench.import(&index);
    assert_eq!((report.added, report.comments, report.stopped), (5, 6, None), "{report:?}");
    // Half of 1 + 2 + 4 + 8 + 16 seconds, without randomness.
    assert_eq!(bench.clock.slept(), Duration::from_millis(15_500));
}

#[test]
fn a_server_that_stays_broken_is_given_up_and_what_was_read_is_found() {
    let mut world = world();
    world.broken_from = Some((1, ServerFault::Status(503, vec![], json!({ "message": "Unicorn!" }).to_string())));
    let bench = Bench::new(world);
    let index = bench.open();
    let error = bench.error(&index);
    assert!(error.contains("status 503: Unicorn!") && error.contains("6 attempts"), "{error}");
    assert!(error.contains("run the import again to go on"), "{error}");
    assert_eq!(held(&index).len(), 2);
    let found = crate::support::ask(&index, "boiler whistles");
    assert_eq!(found.results.first().map(|hit| hit.path.as_str()), Some("issue:1"), "{found:?}");
    bench.server.world().broken_from = None;
    assert_eq!(bench.import(&index).added, 3);
}

#[test]
fn stopping_keeps_what_was_read_and_ends_a_wait() {
    let bench = Bench::new(world());
    let index = bench.open();
    let report = bench.try_import(&index, &bench.request(), &StopAfter::steps(1)).expect("stopped");
    assert_eq!((report.stopped, report.added), (Some(Stopped::Interrupted), 2), "{report:?}");
    assert_eq!(bench.import(&index).added, 3);

    let bench = self::bench([(0, primary(600))]);
    let report = bench.try_import(&bench.open(), &bench.request(), &StopAfter::steps(1)).expect("stopped");
    assert_eq!(report.stopped, Some(Stopped::Interrupted));
    assert!(bench.clock.slept() < secs(2), "{:?}", bench.clock.slept());
}
