//! The targets of requests, their credentials, and missing repositories.

use super::server::{Server, ServerFault, World};
use super::{Bench, TOKEN, held, world};
use crate::support::assert_says;
use serde_json::json;
use std::fs;
use std::path::Path;
use tamis::Index;
use tamis::import::GithubAccess;

fn bench(faults: impl IntoIterator<Item = (usize, ServerFault)>) -> Bench {
    let mut world = world();
    world.faults.extend(faults);
    Bench::new(world)
}

fn status(status: u16, message: &str) -> ServerFault {
    ServerFault::Status(status, vec![], json!({ "message": message }).to_string())
}

fn without_token(bench: &Bench, index: &Index) -> String {
    let access = GithubAccess { token: None, ..bench.access() };
    index.imports().github(&bench.request(), &access, &()).expect_err("refused").to_string()
}

#[test]
fn trap_the_token_does_not_follow_a_link_or_a_redirect_to_another_host() {
    let other = Server::start(World::default());
    let link = vec![("link", format!("<{}/repos/ada/engine/issues?page=2>; rel=\"next\"", other.url))];
    let redirect =
        ServerFault::Status(301, vec![("location", format!("{}/repositories/7/issues?x=1", other.url))], String::new());
    for fault in [ServerFault::Headers(link), redirect] {
        let bench = bench([(0, fault)]);
        let error = bench.error(&bench.open());
        assert!(error.contains("another host") && error.contains(&other.url), "{error}");
        assert_eq!((other.targets().len(), bench.server.targets().len()), (0, 1));
    }
}

#[test]
fn a_repository_that_has_moved_is_followed_and_its_origin_stays() {
    let mut world = world();
    world.redirects.push((world.root.clone(), "/repositories/4711".into()));
    world.root = "/repositories/4711".into();
    let bench = Bench::new(world);
    let index = bench.open();
    let report = bench.import(&index);
    assert_eq!((report.moved_to.as_deref(), report.added), (Some("new-owner/new-name"), 5), "{report:?}");
    assert_eq!((report.origin.as_str(), report.reviewed), ("github:ada/engine", 1));
    let redirected = bench.server.targets().into_iter().filter(|target| target.starts_with("/repos/"));
    assert_eq!(redirected.count(), 1, "the new place is remembered");
    assert_eq!((bench.import(&index).added, held(&index).len()), (0, 5));
}

#[test]
fn refusals_say_what_to_do() {
    let sso = vec![("x-github-sso", "required; url=https://github.com/orgs/x/sso".to_owned())];
    for (fault, said) in [
        (status(403, "Resource not accessible by personal access token"), "right to read issues"),
        (ServerFault::Status(403, sso, "{}".to_owned()), "single sign-on"),
        (status(410, "Issues has been disabled in this repository."), "switched off"),
        (status(451, "Repository access blocked"), "legal reasons"),
        (status(418, "I'm a teapot"), "address of an API"),
        (ServerFault::Status(200, vec![], "<!doctype html><html></html>".to_owned()), "address of an API"),
        (ServerFault::Status(200, vec![], json!({ "message": "hello" }).to_string()), "address of an API"),
    ] {
        let bench = bench([(0, fault)]);
        let error = bench.error(&bench.open());
        assert!(error.contains(said), "{said}: {error}");
        assert_eq!(bench.server.targets().len(), 1, "no use in asking again: {error}");
    }

    let mut world = world();
    world.root = "/repos/somebody/else".into();
    let bench = Bench::new(world);
    let index = bench.open();
    let unseen = "ada/engine: there is no such repository, or the token of GITHUB_TOKEN may not see it";
    assert_says(bench.error(&index), &[unseen]);
    assert_says(without_token(&bench, &index), &["no such repository, or it is private: set GITHUB_TOKEN"]);

    let bench = self::bench([(0, status(401, &format!("Bad credentials {TOKEN}")))]);
    let error = bench.error(&bench.open());
    assert!(error.contains("token of GITHUB_TOKEN") && error.contains("Bad credentials …"), "{error}");
    assert!(!error.contains(TOKEN), "{error}");
    let bench = self::bench([(0, status(401, "Requires authentication"))]);
    let error = without_token(&bench, &bench.open());
    assert!(error.contains("set GITHUB_TOKEN"), "{error}");

    let mut world = self::world();
    world.redirects.push((world.root.clone(), world.root.clone()));
    let bench = Bench::new(world);
    assert_says(bench.error(&bench.open()), &["redirected more than 3 times"]);

    let bench = Bench::new(self::world());
    let access = GithubAccess { api_url: "http://api.github.com".into(), ..bench.access() };
    assert_says(bench.open().imports().github(&bench.request(), &access, &()).expect_err("refused"), &["https://"]);

    let bench = Bench::new(self::world());
    let unused = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let access = GithubAccess { api_url: format!("http://{unused}"), ..bench.access() };
    assert_says(
        bench.open().imports().github(&bench.request(), &access, &()).expect_err("refused"),
        &["connection was refused", "6 attempts"],
    );
}

#[test]
fn trap_the_token_is_nowhere_in_the_index() {
    let bench = Bench::new(world());
    let index = bench.open();
    bench.import(&index);
    assert!(!format!("{:?}", bench.access()).contains(TOKEN));
    drop(index);
    let files = files(bench.tree.root());
    assert!(files > 3, "{files}");
}

/// The number of files below a directory, none of which holds the token.
fn files(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).expect("listed").map(|entry| entry.expect("an entry").path());
    entries
        .map(|path| {
            if path.is_dir() {
                return files(&path);
            }
            let bytes = fs::read(&path).expect("read");
            assert!(!bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes()), "{}", path.display());
            1
        })
        .sum()
}
