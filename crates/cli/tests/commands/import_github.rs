//! `tamis import github`, through the binary, with a `gh` that asks the test.

#[path = "../../../tamis/tests/library/github/gh.rs"]
mod gh;

use crate::support::{Tree, good, run};
use gh::{FakeGh, Fault, World, comment, issue, pull, review};
use serde_json::json;
use std::path::Path;
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
        root: "repos/ada/engine".into(),
        page: 2,
        pages: 100,
        ..World::default()
    }
}

/// The search path, with a directory in front.
fn path(first: &Path) -> std::ffi::OsString {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(first.to_owned()).chain(std::env::split_paths(&rest))).expect("a path")
}

fn import(tree: &Tree, gh: &FakeGh, flags: &[&str]) -> Command {
    let mut command = tree.tamis(&[&["import", "github", "ada/engine"], flags].concat());
    command.env("PATH", path(gh.directory())).env_remove("GH_HOST");
    command
}

/// Runs in the background until `gh` does not answer.
fn spawn(tree: &Tree, gh: &FakeGh) -> Child {
    gh.world().faults.insert(1, Fault::Silence);
    let mut command = import(tree, gh, &[]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
    let started = Instant::now();
    while !gh.directory().join("silent").exists() {
        assert!(started.elapsed() < Duration::from_secs(120), "the second page is asked for");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_repository_is_imported_found_and_asked_for_what_changed() {
    let (tree, gh) = (Tree::new(), FakeGh::start(world()));
    let (out, _) = good(import(&tree, &gh, &[]));
    assert!(out.starts_with("issues: 3 added, 2 new comments; "), "{out}");
    assert!(out.contains("  from github:ada/engine, namespace "), "{out}");
    let (code, out, _) = run(tree.tamis(&["get", "issue:1"]));
    assert!(code == 0 && out.contains("A loose washer was the reason."), "{out}");

    let (code, out, _) = run(import(&tree, &gh, &["--json"]));
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &report["added"], &report["stopped"]), (0, &json!(0), &json!(null)), "{report}");
    let (code, out, _) = run(import(&tree, &gh, &["-v"]));
    assert!(code == 0 && out.starts_with("nothing new in ") && out.contains("  3 requests\n"), "{out}");
    let listed = tree.json(&["import", "--list", "--json"]);
    assert_eq!((&listed[0]["origin"], &listed[0]["documents"]), (&json!("github:ada/engine"), &json!(3)));
    assert!(gh.requests().iter().all(|request| request[2..4] == ["--method", "GET"]));
}

#[test]
fn the_host_comes_from_the_flag_or_the_variable_of_gh() {
    let (tree, gh) = (Tree::new(), FakeGh::start(world()));
    for (flags, host) in [(&["--hostname", "a.example.org"][..], "a.example.org"), (&[], "b.example.org")] {
        let mut command = import(&tree, &gh, &[&["--namespace", &host[..1]], flags].concat());
        command.env("GH_HOST", "b.example.org");
        let (code, out, error) = run(command);
        assert!(code == 0 && out.contains(&format!("from github:{host}/ada/engine")), "{out}{error}");
        assert!(gh.requests().iter().all(|request| request[5..7] == ["--hostname", host]));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let (tree, gh) = (Tree::new(), FakeGh::start(world()));
    for (flags, said) in [
        (&["--hostname", "https://git.example.org"][..], "not a host name"),
        (&["--state", "merged"], "[possible values: all, open, closed]"),
        (&["--since", "soon"], "how long ago"),
        (&["--namespace", "a:b"], "namespace"),
    ] {
        let (code, _, error) = run(import(&tree, &gh, flags));
        assert!(code == 2 && error.contains(said), "{flags:?}: {error}");
    }
    let (code, _, error) = run(tree.tamis(&["import", "github", "engine"]));
    assert!(code == 2 && error.contains("OWNER/NAME"), "{error}");
    assert!(gh.requests().is_empty());

    let mut without = import(&tree, &gh, &[]);
    without.env("PATH", "");
    let (code, _, error) = run(without);
    assert!(code == 2 && error.contains("there is no `gh`") && error.contains("gh auth login"), "{error}");
    gh.world().faults.insert(0, Fault::Exit(4, "To get started with GitHub CLI, please run: gh auth login"));
    let (code, _, error) = run(import(&tree, &gh, &[]));
    assert!(code == 2 && error.contains("not logged in to github.com; run `gh auth login"), "{error}");
}

#[test]
fn a_limit_is_exit_status_1_and_says_when_to_go_on() {
    let (tree, gh) = (Tree::new(), FakeGh::start(world()));
    gh.world().faults.insert(1, Fault::Status(403, vec![("Retry-After", "7200".into())], "Too fast"));
    let (code, out, error) = run(import(&tree, &gh, &[]));
    assert_eq!(code, 1, "{error}");
    assert!(out.starts_with("issues: 2 added"), "{out}");
    assert!(error.contains("Run the import again after "), "{error}");
    let (code, out, error) = run(import(&tree, &gh, &[]));
    assert!(code == 0 && out.starts_with("issues: 1 added"), "{out}{error}");
}

#[test]
fn ctrl_c_ends_gh_and_keeps_what_was_read() {
    let (tree, gh) = (Tree::new(), FakeGh::start(world()));
    let child = spawn(&tree, &gh);
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("runs");
    assert!(interrupted.success());
    let ended = child.wait_with_output().expect("ends");
    let error = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{error}");
    assert!(error.contains("the next import continues there"), "{error}");
    let silent = std::fs::read_to_string(gh.directory().join("silent")).expect("read");
    assert!(!Command::new("kill").args(["-0", silent.trim()]).output().expect("runs").status.success(), "gh has ended");
    assert_eq!(tree.json(&["import", "--list", "--json"])[0]["documents"], 2);
}
