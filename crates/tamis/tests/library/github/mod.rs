//! The import from GitHub, against a fake server in the same process, with its limits and its failures.

#![cfg(feature = "github")]

mod hosts;
mod limits;
mod reading;
mod resume;
mod server;

use crate::support::Tree;
use jiff::{SignedDuration, Timestamp};
use server::{Server, World, comment, issue, pull, remark, review};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tamis::import::{Clock, GithubAccess, GithubImport, GithubReport, Token};
use tamis::{Error, Index, Observer, Stage};

/// The token of all tests.
const TOKEN: &str = "sesame-7c1f";

/// A clock that moves only by waiting, without randomness.
struct TestClock {
    now: Mutex<Timestamp>,
    slept: Mutex<Duration>,
}

impl TestClock {
    /// Starts at the server's time.
    fn new() -> Self {
        let now = "2025-06-01T12:00:00Z".parse().expect("a time");
        TestClock { now: Mutex::new(now), slept: Mutex::default() }
    }

    fn slept(&self) -> Duration {
        *self.slept.lock().expect("not poisoned")
    }

    fn pass(&self, duration: Duration) {
        let mut now = self.now.lock().expect("not poisoned");
        *now += SignedDuration::try_from(duration).expect("short");
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().expect("not poisoned")
    }

    fn sleep(&self, duration: Duration) {
        self.pass(duration);
        *self.slept.lock().expect("not poisoned") += duration;
    }

    fn random(&self) -> f64 {
        0.0
    }
}

/// Stops a run after a number of steps of reading.
struct StopAfter {
    steps: usize,
    seen: AtomicUsize,
}

impl StopAfter {
    fn steps(steps: usize) -> Self {
        StopAfter { steps, seen: AtomicUsize::new(0) }
    }
}

impl Observer for StopAfter {
    fn stage(&self, stage: Stage, _: u64) {
        // A wait at a limit is as good a place to stop as any.
        if matches!(stage, Stage::Wait(_)) {
            self.seen.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn advance(&self, steps: u64) {
        self.seen.fetch_add(usize::try_from(steps).expect("few"), Ordering::SeqCst);
    }

    fn cancelled(&self) -> bool {
        self.seen.load(Ordering::SeqCst) >= self.steps
    }
}

/// A repository with a little of everything; two entries on a page.
fn world() -> World {
    let mut closed = issue(2, "Valve sticks in the cold", 20, 220);
    closed["state"] = "closed".into();
    World {
        issues: vec![
            issue(1, "Boiler whistles", 10, 210),
            closed,
            pull(3, "Oil the valve", 30, 230),
            issue(4, "Gauge shows nothing", 40, 240),
            issue(5, "Crank turns backwards", 50, 250),
        ],
        comments: vec![
            comment(71, 1, 110, "A loose washer was the reason; a new one ended the whistling."),
            comment(72, 2, 120, "Graphite grease helps below zero degrees."),
            comment(73, 3, 130, "Thank you for the oil."),
        ],
        remarks: vec![remark(81, 3, 140, "This line leaks oil."), remark(82, 3, 141, "So does this one.")],
        reviews: BTreeMap::from([(3, vec![review(91, 3, 150, "Works on the test bench.")])]),
        root: "/repos/ada/engine".into(),
        page: 2,
        pages: 100,
        ..World::default()
    }
}

/// A server, an index, and a clock.
struct Bench {
    server: Server,
    tree: Tree,
    clock: TestClock,
}

impl Bench {
    fn new(world: World) -> Self {
        Bench { server: Server::start(world), tree: Tree::new(&[]), clock: TestClock::new() }
    }

    fn open(&self) -> Index {
        self.tree.open(&[])
    }

    fn request(&self) -> GithubImport {
        GithubImport::new("ada/engine".parse().expect("a repository"))
    }

    fn access(&self) -> GithubAccess<'_> {
        let token = Token::new(TOKEN, "GITHUB_TOKEN").expect("valid");
        GithubAccess { api_url: self.server.url.clone(), token: Some(token), clock: &self.clock }
    }

    fn try_import(
        &self,
        index: &Index,
        request: &GithubImport,
        observer: &dyn Observer,
    ) -> Result<GithubReport, Error> {
        index.imports().github(request, &self.access(), observer)
    }

    fn import(&self, index: &Index) -> GithubReport {
        self.try_import(index, &self.request(), &()).expect("imported")
    }

    fn error(&self, index: &Index) -> String {
        self.try_import(index, &self.request(), &()).expect_err("refused").to_string()
    }
}

/// All that the index holds of the repository: each issue by its path, as printed.
fn held(index: &Index) -> BTreeMap<String, String> {
    let documents = index.contents().documents(index.namespace()).expect("listed");
    let whole = |path: String| {
        let passages = index.contents().document_passages(index.namespace(), &path).expect("read");
        let text = passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>().join("\n");
        (path, text)
    };
    documents.into_iter().map(|document| whole(document.path)).collect()
}
