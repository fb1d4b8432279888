//! `tamis import github`, through the binary, against a fake GitHub in the same process.

#[path = "../../../tamis/tests/library/github/server.rs"]
mod server;

use crate::support::{Tree, run};
use serde_json::json;
use server::{Server, ServerFault, World, comment, issue, pull, review};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn world() -> World {
    World {
        issues: vec![
            issue(1, "Boiler whistles", 10, 210),
            issue(2, "Valve sticks in the cold", 20, 220),
            pull(3, "Oil the valve", 30, 230),
        ],
        comments: vec![comment(71, 1, 110, "A loose washer was the reason.")],
        reviews: [(3, vec![review(91, 3, 150, "Works on the test bench.")])].into(),
        root: "/repos/ada/engine".into(),
        page: 2,
        pages: 100,
        ..World::default()
    }
}

fn import(tree: &Tree, server: &Server, flags: &[&str]) -> assert_cmd::Command {
    let arguments = [&["import", "github", "ada/engine", "--api-url", &server.url], flags].concat();
    let mut command = tree.tamis(&arguments);
    command.env_remove("GITHUB_TOKEN").env_remove("GH_TOKEN");
    command
}

/// Runs in the background, with its messages to people.
fn spawn(tree: &Tree, server: &Server) -> (Child, impl Iterator<Item = String>) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("tamis"))
        .args(["import", "github", "ada/engine", "--api-url", &server.url])
        .current_dir(tree.root())
        .env("TAMIS_CONFIG_HOME", tree.home())
        .env("TAMIS_CACHE", tree.home().join("cache"))
        .env("TAMIS_INDEX_MODELS", "static")
        .env_remove("GITHUB_TOKEN")
        .env_remove("GH_TOKEN")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    (child, lines)
}

#[test]
fn a_repository_is_imported_found_and_asked_for_what_changed() {
    let (tree, server) = (Tree::new(), Server::start(world()));
    let (code, out, error) = run(import(&tree, &server, &[]));
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("issues: 3 added, 2 new comments; "), "{out}");
    assert!(out.contains("  from github:ada/engine, namespace "), "{out}");
    let (code, out, _) = run(tree.tamis(&["get", "issue:1"]));
    assert!(code == 0 && out.contains("A loose washer was the reason."), "{out}");

    let (code, out, _) = run(import(&tree, &server, &["--json"]));
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &report["added"], &report["stopped"]), (0, &json!(0), &json!(null)), "{report}");
    let (code, out, _) = run(import(&tree, &server, &["-v"]));
    assert!(code == 0 && out.starts_with("nothing new in ") && out.contains("answered by \"not changed\""), "{out}");
    let listed = tree.json(&["import", "--list", "--json"]);
    assert_eq!((&listed[0]["origin"], &listed[0]["documents"]), (&json!("github:ada/engine"), &json!(3)));
    assert!(server.requests().iter().all(|request| request.method == "GET"));
}

#[test]
fn trap_the_token_comes_from_the_environment_and_goes_nowhere_else() {
    let (tree, server) = (Tree::new(), Server::start(world()));
    for (variables, sent) in [
        (vec![], None),
        (vec![("GH_TOKEN", "sesame-2")], Some("Bearer sesame-2")),
        (vec![("GH_TOKEN", "sesame-2"), ("GITHUB_TOKEN", "sesame-1")], Some("Bearer sesame-1")),
    ] {
        let mut command = import(&tree, &server, &["--full", "-v"]);
        command.envs(variables);
        let (code, out, error) = run(command);
        assert_eq!(code, 0, "{error}");
        assert!(!out.contains("sesame") && !error.contains("sesame"), "{out}{error}");
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.headers.get("authorization").map(String::as_str) == sent));
    }
    let (code, out, _) = run(tree.tamis(&["config"]));
    assert!(code == 0 && out.contains("[search]") && !out.contains("sesame"), "{out}");
}

#[test]
fn what_is_wrong_with_an_argument_is_said() {
    let (tree, server) = (Tree::new(), Server::start(world()));
    for (flags, said) in [
        (&["--max-wait", "-1"][..], "--max-wait"),
        (&["--state", "merged"], "[possible values: all, open, closed]"),
        (&["--since", "soon"], "how long ago"),
        (&["--namespace", "a:b"], "namespace"),
    ] {
        let (code, _, error) = run(import(&tree, &server, flags));
        assert!(code == 2 && error.contains(said), "{flags:?}: {error}");
    }
    for (arguments, said) in [
        (&["import", "github", "engine"][..], "OWNER/NAME"),
        (&["import", "github", "a/b", "--api-url", "http://api.github.com"], "https://"),
    ] {
        let (code, _, error) = run(tree.tamis(arguments));
        assert!(code == 2 && error.contains(said), "{arguments:?}: {error}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_limit_that_takes_too_long_is_exit_status_1_and_says_when_to_go_on() {
    let (tree, server) = (Tree::new(), Server::start(world()));
    server.world().faults.insert(1, ServerFault::Status(403, vec![("retry-after", "7200".into())], String::new()));
    let (code, out, error) = run(import(&tree, &server, &[]));
    assert_eq!(code, 1, "{error}");
    assert!(out.starts_with("issues: 2 added"), "{out}");
    assert!(error.contains("Run the import again after ") && error.contains("GITHUB_TOKEN"), "{error}");
    let (code, out, error) = run(import(&tree, &server, &[]));
    assert!(code == 0 && out.starts_with("issues: 1 added"), "{out}{error}");
}

#[test]
fn an_import_that_is_killed_goes_on_where_it_was() {
    let (tree, server) = (Tree::new(), Server::start(world()));
    server.world().faults.insert(1, ServerFault::Silence);
    let (mut child, lines) = spawn(&tree, &server);
    let started = Instant::now();
    while server.world().requests.len() < 2 {
        assert!(started.elapsed() < Duration::from_secs(120), "the second page is asked for");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("killed");
    child.wait().expect("ends");
    drop(lines);
    let (code, out, error) = run(import(&tree, &server, &[]));
    assert!(code == 0 && out.starts_with("issues: 1 added"), "{out}{error}");
    assert_eq!(tree.json(&["import", "--list", "--json"])[0]["documents"], 3);
    assert_eq!(run(tree.tamis(&["doctor", "--check-only"])).0, 0);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_wait_and_keeps_what_was_read() {
    let (tree, server) = (Tree::new(), Server::start(world()));
    server.world().faults.insert(1, ServerFault::Status(403, vec![("retry-after", "600".into())], String::new()));
    let (mut child, mut lines) = spawn(&tree, &server);
    assert!(lines.any(|line| line.contains("waiting until")), "people are told");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("runs");
    assert!(interrupted.success());
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().expect("ends").code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("the next import continues there")), "{rest:?}");
    assert_eq!(tree.json(&["import", "--list", "--json"])[0]["documents"], 2);
}
