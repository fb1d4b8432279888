//! `tamis import`: issues imported, listed and removed, through the binary.

use crate::support::{Kills, Tree, run};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A record of GitHub's REST API.
fn issue(number: u64, title: &str, body: &str, updated: &str) -> Value {
    json!({
        "number": number, "title": title, "body": body, "state": "closed", "locked": false, "comments": 1,
        "user": { "login": "ada", "type": "User" }, "labels": [{ "name": "bug" }],
        "created_at": "2024-01-01T08:00:00Z", "updated_at": updated, "closed_at": "2024-01-05T08:00:00Z",
        "html_url": format!("https://github.com/ada/engine/issues/{number}"),
    })
}

fn comment(issue: u64, id: u64, body: &str) -> Value {
    json!({
        "id": id, "body": body, "user": { "login": "bob", "type": "User" },
        "issue_url": format!("https://api.github.com/repos/ada/engine/issues/{issue}"),
        "html_url": format!("https://github.com/ada/engine/issues/{issue}#issuecomment-{id}"),
        "created_at": "2024-01-04T08:00:00Z", "updated_at": "2024-01-04T08:00:00Z",
    })
}

/// The sample files, and two files of a tracker.
fn tracker() -> Tree {
    let tree = Tree::new();
    let first = json!([
        issue(12, "Engine stops after a week", "It stops without a word on a Sunday night.", "2024-01-06T08:00:00Z"),
        issue(13, "Dashboard is a day behind", "Numbers of yesterday are shown.", "2024-01-07T08:00:00Z"),
    ]);
    let second = json!([issue(14, "Größe of the pump is wrong", "A label on the pump.", "2024-01-08T08:00:00Z")]);
    // As `gh api --paginate` writes pages: one after another.
    tree.write("issues.json", &format!("{first}{second}"));
    let comments = json!([comment(12, 7, "The spool directory was full; remove old snapshots and restart it.")]);
    tree.write("comments.json", &comments.to_string());
    tree
}

#[test]
fn files_of_a_tracker_are_imported_found_listed_and_taken_out() {
    let tree = tracker();
    let (code, out, error) = run(tree.tamis(&["import", "issues", "issues.json", "comments.json"]));
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("3 issues: 3 added, 1 new comment; "), "{out}");
    assert!(out.contains("  from github:ada/engine, namespace "), "{out}");

    let mut search = tree.tamis(&["search", "--collection", "issues", "spool directory full", "--files"]);
    search.env("TAMIS_SEARCH_GATE", "false");
    assert_eq!(run(search).1.lines().next(), Some("issue:12"));
    let (code, out, _) = run(tree.tamis(&["get", "issue:12"]));
    assert!(code == 0 && out.contains("It stops without a word") && out.contains("remove old snapshots"), "{out}");

    let (code, out, _) = run(tree.tamis(&["import", "issues", "issues.json", "comments.json"]));
    assert!(code == 0 && out.starts_with("3 issues, none changed in "), "{out}");
    let listed = tree.json(&["import", "--list", "--json"]);
    assert_eq!((&listed[0]["origin"], &listed[0]["documents"]), (&json!("github:ada/engine"), &json!(3)));
    assert_eq!(listed[0]["updated"], "2024-01-08T08:00:00Z");
    let (_, status, _) = run(tree.tamis(&["status"]));
    assert!(status.contains("github:ada/engine"), "{status}");
    run(tree.tamis(&["index"]));
    assert_eq!(tree.json(&["import", "--list", "--json"]), listed, "a run of the index leaves them alone");

    let (code, out, _) = run(tree.tamis(&["import", "--remove", "github:ada/engine", "--dry-run"]));
    assert!(code == 0 && out.contains("github:ada/engine"), "{out}");
    assert_eq!(tree.json(&["import", "--list", "--json"]), listed);
    let (code, out, _) = run(tree.tamis(&["import", "--remove", "github:ada/engine"]));
    assert!(code == 0 && out.contains("issues"), "it says what goes: {out}");
    assert!(out.ends_with("removed github:ada/engine from the index\n"), "{out}");
    let (code, out, error) = run(tree.tamis(&["import", "--list"]));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("nothing has been imported yet"), "{error}");
    let (code, _, error) = run(tree.tamis(&["import", "--remove", "github:ada/engine"]));
    assert!(code == 2 && error.contains("nothing is"), "{error}");
}

#[test]
fn an_issue_has_its_address_and_is_read_by_its_number() {
    let tree = tracker();
    assert_eq!(run(tree.tamis(&["import", "issues", "issues.json", "comments.json", "--quiet"])).0, 0);
    let answer = tree.json(&["search", "--json", "--no-gate", "--collection", "issues", "spool directory full"]);
    let hit = &answer["results"][0];
    assert_eq!((&hit["path"], &hit["url"]), (&json!("issue:12"), &json!("https://github.com/ada/engine/issues/12")));
    let (_, whole, _) = run(tree.tamis(&["get", "issue:12"]));
    for number in ["#12", "12"] {
        let (code, out, error) = run(tree.tamis(&["get", number]));
        assert!(code == 0 && out == whole, "{number}: {out}{error}");
    }
    let (code, _, error) = run(tree.tamis(&["get", "#99"]));
    assert!(code == 2 && error.contains("99"), "{error}");
    let (_, files, _) = run(tree.tamis(&["search", "--json", "--no-gate", "--collection", "docs", "water"]));
    assert!(!files.contains("\"url\":\"https"), "a file has no address: {files}");
}

#[test]
fn a_result_of_an_issue_can_be_opened_from_where_it_was_printed() {
    let tree = tracker();
    let imported = ["import", "issues", "issues.json", "comments.json", "--namespace", "engine", "--quiet"];
    assert_eq!(run(tree.tamis(&imported)).0, 0);
    let mut search = tree.tamis(&["search", "--namespace", "engine", "spool directory full", "--files"]);
    search.current_dir(tree.root().join("docs")).env("TAMIS_SEARCH_GATE", "false");
    let printed = run(search).1.lines().next().expect("found").to_owned();
    assert_eq!(printed, "engine:issue:12");
    let mut get = tree.tamis(&["get", &printed]);
    get.current_dir(tree.root().join("docs"));
    assert_eq!(run(get).0, 0);
}

#[test]
fn the_json_says_what_was_done_and_a_dry_run_does_nothing() {
    let tree = tracker();
    let dry = tree.json(&["import", "issues", "issues.json", "--dry-run", "--json"]);
    assert_eq!((&dry["added"], &dry["dry_run"], &dry["index"]), (&json!(3), &json!(true), &Value::Null));
    assert_eq!(tree.json(&["import", "--list", "--json"]), json!([]));
    let done = tree.json(&["import", "issues", "issues.json", "--json"]);
    assert_eq!((&done["added"], &done["collection"]), (&json!(3), &json!("issues")));
    assert_eq!(done["index"]["embedded"]["static"], done["passages"]);

    tree.write("newer.json", &json!([issue(12, "Engine stops", "Solved.", "2024-02-01T08:00:00Z")]).to_string());
    let newer = tree.json(&["import", "issues", "newer.json", "--json"]);
    assert_eq!((&newer["updated"], &newer["added"]), (&json!(1), &json!(0)));
    let older = tree.json(&["import", "issues", "issues.json", "--json"]);
    assert_eq!((&older["older"], &older["updated"], &older["unchanged"]), (&json!(1), &json!(0), &json!(2)));
}

#[test]
fn standard_input_is_read_once() {
    let tree = tracker();
    let line = r#"{"number":1,"title":"From a pipe","url":"https://github.com/ada/engine/issues/1"}"#;
    let mut command = tree.tamis(&["import", "issues", "-", "--json"]);
    command.write_stdin(format!("{line}\n{line}\n"));
    let (code, out, error) = run(command);
    assert_eq!(code, 0, "{error}");
    let said: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&said["added"], &said["origin"]), (&json!(1), &json!("github:ada/engine")));
    let (code, _, error) = run(tree.tamis(&["import", "issues", "-", "-"]));
    assert!(code == 2 && error.contains("can be read once"), "{error}");
}

#[test]
fn what_cannot_be_imported_is_named_and_nothing_is_changed() {
    let tree = tracker();
    let bad = format!("{}\n{{\"number\":\"x\"}}\n", issue(20, "Fine", "Fine.", "2024-01-06T08:00:00Z"));
    tree.write("bad.jsonl", &bad);
    let (code, _, error) = run(tree.tamis(&["import", "issues", "bad.jsonl"]));
    assert_eq!(code, 2);
    assert!(error.contains("bad.jsonl: line 2") && error.contains("--skip-bad"), "{error}");
    assert_eq!(tree.json(&["import", "--list", "--json"]), json!([]));
    let (code, out, _) = run(tree.tamis(&["import", "issues", "bad.jsonl", "--skip-bad"]));
    assert!(code == 0 && out.contains("  1 bad record left out:\n    bad.jsonl: line 2"), "{out}");

    for (arguments, said) in [
        (&["import", "issues", "README.md"][..], "README.md: "),
        (&["import", "issues", "no.json"], "no.json: cannot be read"),
        (&["import", "issues", "docs"], "a directory"),
        (&["import", "issues", "issues.json", "--origin", "github:x/y"], "--namespace NAME"),
        (&["import", "issues", "issues.json", "--namespace", "a/b"], "namespace"),
        (&["import", "--list", "issues", "issues.json"], "cannot be used with"),
        (&["import"], "--list"),
    ] {
        let (code, _, error) = run(tree.tamis(arguments));
        assert!(code == 2 && error.contains(said), "{arguments:?}: {error}");
    }
    let comments = json!([comment(77, 9, "Of an issue that nobody has.")]).to_string();
    tree.write("strays.json", &comments);
    let (code, out, _) = run(tree.tamis(&["import", "issues", "strays.json"]));
    assert!(code == 0 && out.contains("1 comment left out whose issue is missing: #77"), "{out}");
}

/// A tracker large enough that its import can be stopped in the middle.
fn large(tree: &Tree, version: u64) {
    let words = ["pump", "spool", "engine", "valve", "ledger", "harbour", "glacier", "violin"];
    let text = |number: u64| -> String {
        (0..40).map(|at| words[((number * 7 + at * at + version) % 8) as usize]).collect::<Vec<_>>().join(" ")
    };
    let updated = format!("2024-02-{version:02}T08:00:00Z");
    let issues: Vec<Value> =
        (1..=900).map(|number| issue(number, &format!("Trouble {number}"), &text(number), &updated)).collect();
    tree.write("large.json", &Value::from(issues).to_string());
}

fn child(tree: &Tree, arguments: &[&str]) -> std::process::Child {
    Command::new(assert_cmd::cargo::cargo_bin!("tamis"))
        .args(arguments)
        .current_dir(tree.root())
        .env("TAMIS_CONFIG_HOME", tree.home())
        .env("TAMIS_CACHE", tree.home().join("cache"))
        .env("TAMIS_INDEX_MODELS", "static")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

/// The number of stored issues, and the time of the newest change.
fn stored(tree: &Tree) -> (u64, String) {
    let listed = tree.json(&["import", "--list", "--json"]);
    let newest = listed[0]["updated"].as_str().unwrap_or_default().to_owned();
    (listed[0]["documents"].as_u64().unwrap_or_default(), newest)
}

#[test]
fn an_import_killed_at_any_point_leaves_all_or_nothing() {
    const ROUNDS: u32 = 6;
    let tree = Tree::empty();
    tree.write("note.md", "# A note\n\nAbout nothing.\n");
    run(tree.tamis(&["index"]));
    large(&tree, 1);
    let import = || child(&tree, &["import", "issues", "large.json"]);
    let mut kills = Kills::within(|| import().wait().expect("ends").success());
    let mut before = stored(&tree);
    assert_eq!(before, (900, "2024-02-01T08:00:00Z".into()));
    let mut round = 0;
    while kills.landed < ROUNDS {
        round += 1;
        let version = 1 + round % 27;
        large(&tree, version);
        kills.kill(import());
        let after = stored(&tree);
        let new = (900, format!("2024-02-{:02}T08:00:00Z", 1 + round % 27));
        assert!(after == before || after == new, "round {round}: {after:?}, neither {before:?} nor {new:?}");
        before = after;
        // All of them belong to one version.
        let documents = tree.json(&["import", "issues", "large.json", "--dry-run", "--json"]);
        assert!([&documents["updated"], &documents["unchanged"]].contains(&&json!(900)), "{documents}");
        let (code, out, _) = run(tree.tamis(&["doctor"]));
        assert_eq!(code, 0, "{out}");
    }
    assert!(import().wait().expect("ends").success());
    assert_eq!(stored(&tree).1, format!("2024-02-{:02}T08:00:00Z", 1 + round % 27));
}

#[test]
fn searches_go_on_during_an_import() {
    let tree = Tree::indexed();
    large(&tree, 1);
    let mut import = child(&tree, &["import", "issues", "large.json"]);
    let started = Instant::now();
    let mut searches = 0;
    while import.try_wait().expect("its state").is_none() {
        assert!(started.elapsed() < Duration::from_secs(300), "the import does not end");
        let mut search = tree.tamis(&["search", "how hot should the oven be", "--json"]);
        search.env("TAMIS_SEARCH_GATE", "false");
        let (code, out, error) = run(search);
        assert_eq!(code, 0, "{error}");
        let answer: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(answer["results"][0]["path"], "docs/bread.md");
        searches += 1;
    }
    assert!(import.wait().expect("ends").success());
    assert!(searches > 0);
    assert_eq!(stored(&tree).0, 900);
}

#[test]
fn a_log_of_a_conversation_is_imported_and_goes_on() {
    let tree = Tree::indexed();
    let line = |minute: u64, speaker: &str, text: &str| {
        json!({ "time": format!("2026-11-20T09:{minute:02}:00Z"), "speaker": speaker, "text": text }).to_string()
    };
    let first = line(0, "Ann", "Where do the nightly archives go?");
    let second = line(1, "Ben", "To the second site, with the key of the operators.");
    tree.write("team.jsonl", &first);
    let (code, out, error) = run(tree.tamis(&["import", "conversations", "team.jsonl"]));
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("1 session: 1 added; 1 passage written in "), "{out}");
    assert!(out.contains("  from team.jsonl, namespace "), "{out}");
    tree.write("team.jsonl", &format!("{first}\n{second}\n"));
    let said = tree.json(&["import", "conversations", "team.jsonl", "--json"]);
    assert_eq!((&said["updated"], &said["collection"]), (&json!(1), &json!("sessions")));
    let mut search = tree.tamis(&["search", "--collection", "sessions", "key of the operators", "--files"]);
    search.env("TAMIS_SEARCH_GATE", "false");
    let path = run(search).1.lines().next().expect("found").to_owned();
    assert!(path.starts_with("session:team"), "{path}");
    assert!(run(tree.tamis(&["get", &path])).1.contains("second site"));
    let mut piped = tree.tamis(&["import", "conversations", "-", "--name", "calls"]);
    piped.write_stdin(line(30, "Cem", "The pump runs again."));
    let (code, out, _) = run(piped);
    assert!(code == 0 && out.contains("  from calls, "), "{out}");
    assert_eq!(tree.json(&["import", "--list", "--json"]).as_array().map(Vec::len), Some(2));
}

#[test]
fn a_dump_of_a_wiki_is_imported() {
    let tree = Tree::indexed();
    let page = |namespace: u64, title: &str, text: &str| {
        format!(
            "<page><title>{title}</title><ns>{namespace}</ns><id>7</id><revision><id>9</id>\
             <timestamp>2026-11-22T14:05:00Z</timestamp><text>{text}</text></revision></page>"
        )
    };
    let pages = [page(0, "Restoring a backup", "Unpack the newest archive."), page(14, "Category:Pumps", "All pumps.")];
    tree.write("wiki.xml", &format!("<mediawiki>{}</mediawiki>", pages.concat()));
    let (code, out, error) = run(tree.tamis(&["import", "wiki", "wiki.xml"]));
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("1 page: 1 added; ") && out.contains("  from wiki.xml, namespace "), "{out}");
    assert!(out.contains("  left out: 1 page of another namespace\n"), "{out}");
    assert!(run(tree.tamis(&["get", "wiki:Restoring a backup"])).1.contains("newest archive"));
    let all = tree.json(&["import", "wiki", "wiki.xml", "--pages-of", "0,14", "--json"]);
    assert_eq!((&all["added"], &all["unchanged"]), (&json!(1), &json!(1)));
    let (code, _, error) = run(tree.tamis(&["import", "wiki", "README.md"]));
    assert!(code == 2 && error.contains("README.md: not a dump"), "{error}");
}
