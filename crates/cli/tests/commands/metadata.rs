//! Filters by state, label, author, type, topic and date, through the binary, and the display of issues.

use crate::support::{Tree, run};
use serde_json::{Value, json};

/// A record of GitHub's REST API.
fn issue(number: u64, title: &str, labels: &[&str], author: &str, created: &str, closed: Option<&str>) -> Value {
    let labels: Vec<Value> = labels.iter().map(|label| json!({ "name": label })).collect();
    json!({
        "number": number, "title": title, "body": format!("The harbour crane fails: {title}."), "labels": labels,
        "state": if closed.is_some() { "closed" } else { "open" }, "locked": false, "comments": 0,
        "user": { "login": author, "type": "User" }, "created_at": created, "updated_at": closed.unwrap_or(created),
        "closed_at": closed, "html_url": format!("https://github.com/port/crane/issues/{number}"),
    })
}

/// The same for a pull request, merged or not.
fn pull(number: u64, title: &str, author: &str, created: &str, merged: bool) -> Value {
    let closed = "2024-06-01T08:00:00Z";
    let mut record = issue(number, title, &[], author, created, Some(closed));
    record["pull_request"] = json!({ "merged_at": merged.then_some(closed) });
    record
}

fn comment(issue: u64, id: u64, author: &str, created: &str, body: &str) -> Value {
    json!({
        "id": id, "body": body, "user": { "login": author, "type": "User" },
        "issue_url": format!("https://api.github.com/repos/port/crane/issues/{issue}"),
        "html_url": format!("https://github.com/port/crane/issues/{issue}#issuecomment-{id}"),
        "created_at": created, "updated_at": created,
    })
}

/// The sample files beside a tracker of five.
fn tracker() -> Tree {
    let tree = Tree::indexed();
    let records = json!([
        issue(1, "Motor stalls", &["bug", "Windows"], "Ada", "2024-01-10T08:00:00Z", Some("2024-02-01T08:00:00Z")),
        issue(2, "Cable frays", &["bug"], "bob", "2024-03-10T08:00:00Z", None),
        issue(3, "Paint the mast", &["wish, someday"], "ada", "2024-05-10T08:00:00Z", None),
        pull(4, "Stronger cable", "bob", "2024-05-20T08:00:00Z", true),
        pull(5, "Steam power", "eve", "2024-05-25T08:00:00Z", false),
    ]);
    tree.write("issues.json", &records.to_string());
    let reply = comment(2, 9, "Çelik", "2024-04-02T08:00:00Z", "The harbour crane frays where the drum is rusty.");
    tree.write("comments.json", &json!([reply]).to_string());
    let (code, _, error) = run(tree.tamis(&["import", "issues", "issues.json", "comments.json", "--quiet"]));
    assert_eq!(code, 0, "{error}");
    tree
}

/// The paths that a search with these flags finds without the gate, in order.
fn found(tree: &Tree, flags: &[&str]) -> String {
    let arguments = [&["search", "harbour crane", "--cut", "fixed:k=100", "--files", "--no-refresh"], flags].concat();
    let mut command = tree.tamis(&arguments);
    command.env("TAMIS_SEARCH_GATE", "false").env("TZ", "UTC");
    let (code, out, error) = run(command);
    assert!(code < 2, "{flags:?}: {error}");
    let mut paths: Vec<&str> = out.lines().filter_map(|path| path.strip_prefix("issue:")).collect();
    let others = out.lines().count() - paths.len();
    paths.sort_unstable();
    if others > 0 {
        paths.push("and files");
    }
    paths.join(" ")
}

#[test]
fn trap_filters_are_parsed_and_never_handed_to_the_search() {
    let tree = tracker();
    for (flags, expected) in [
        (&[][..], "1 2 3 4 5 and files"),
        (&["--state", "open"], "2 3"),
        (&["--state", "CLOSED"], "1 4 5"),
        (&["--state", "merged,open"], "2 3 4"),
        (&["--state", "unmerged"], "5"),
        (&["--state", "resolved"], "1 4"),
        (&["--label", "bug"], "1 2"),
        (&["--label", "bug", "--label", "windows"], "1"),
        (&["--label", "windows,nothing"], "1"),
        (&["--label", "bugs"], ""),
        (&["--label", "Wish, someday"], "3"),
        (&["--author", "ADA"], "1 3"),
        (&["--author", "@bob,eve"], "2 4 5"),
        (&["--author", "çelik"], "2"),
        (&["--type", "pr"], "4 5"),
        (&["--type", "issue", "--state", "closed"], "1"),
        (&["--topic", "cranes"], ""),
        (&["--until", "2024-02", "--collection", "issues"], "1"),
        (&["--since", "2024-03-10", "--until", "may 1 2024"], "2"),
        (&["--since", "2024-04-02T08:00Z", "--until", "2024-04-02T08:00:01Z"], "2"),
        (&["--since", "2024-05-20T08:00:01Z", "--collection", "issues"], "5"),
        (&["--since", "yesterday", "--collection", "issues"], ""),
        (&["--since", "yesterday"], "and files"),
        (&["--state", "open", "--mode", "semantic"], "2 3"),
        (&["--state", "open", "--mode", "lexical"], "2 3"),
        (&["--state", "open", "--variant", "intent:crane trouble"], "2 3"),
    ] {
        assert_eq!(found(&tree, flags), expected, "{flags:?}");
    }
}

#[test]
fn what_no_filter_can_mean_is_refused_with_what_it_can() {
    let tree = Tree::empty();
    for (flag, value, allowed) in [
        ("--state", "done", "unmerged"),
        ("--type", "bug", "pull_request"),
        ("--since", "soon", "3 days ago"),
        ("--since", "3/4/2024", "2026-11-01"),
        ("--until", "-7d", "7d"),
        ("--label", "a,,b", "empty"),
        ("--author", "", "empty"),
    ] {
        let (code, out, error) = run(tree.tamis(&["search", "x", flag, value]));
        assert_eq!((code, out.as_str()), (2, ""), "{flag} {value}");
        assert!(error.contains(flag) && error.contains(allowed), "{flag} {value}: {error}");
    }
    let (code, _, error) = run(tree.tamis(&["search", "x", "--since", "2024-02", "--until", "2024-01"]));
    assert!(code == 2 && error.contains("after since"), "{error}");
}

#[test]
fn where_nothing_passes_the_answer_says_what_there_is() {
    let tree = tracker();
    let (code, out, error) = run(tree.tamis(&["search", "harbour crane", "--label", "bugg", "--state", "open"]));
    assert_eq!(code, 1);
    assert!(out.contains("none passes the filters"), "{out}");
    assert!(error.contains("--state, --label"), "{error}");
}

#[test]
fn a_result_says_who_when_and_what_is_known() {
    let tree = tracker();
    let arguments = ["search", "the drum is rusty", "--state", "open", "--cut", "fixed:k=1", "--json", "--no-refresh"];
    let mut command = tree.tamis(&arguments);
    command.env("TAMIS_SEARCH_GATE", "false");
    let (code, out, _) = run(command);
    assert_eq!(code, 0, "{out}");
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    let hit = &answer["results"][0];
    assert_eq!((&hit["path"], &hit["author"]), (&json!("issue:2"), &json!("Çelik")));
    assert_eq!(hit["dated_at"], "2024-04-02T08:00:00Z");
    assert_eq!(hit["attributes"]["state"], json!(["open"]));
    assert_eq!(hit["attributes"]["label"], json!(["bug"]));
    let file = &tree.json(&["search", "how hot should the oven be", "--json"])["results"][0];
    assert!(file.get("attributes").is_none() && file["author"].is_null(), "{file}");

    let mut command = tree.tamis(&["search", "the drum is rusty", "--state", "open", "--cut", "fixed:k=1"]);
    command.env("TAMIS_SEARCH_GATE", "false");
    let (_, out, _) = run(command);
    assert_eq!(out.lines().next(), Some("issue:2  open  Cable frays  (comment by Çelik, 2024-04-02)"), "{out}");
}

#[test]
fn explanations_and_related_passages_know_of_nothing_else() {
    let tree = tracker();
    let explained = ["search", "harbour crane", "--state", "open", "--explain", "--json", "--no-refresh"];
    let answer = tree.json(&explained);
    let pool = answer["pool"].as_array().expect("explained");
    let mut paths: Vec<&str> = pool.iter().filter_map(|entry| entry["path"].as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let passages: u64 = pool.iter().filter_map(|entry| entry["passages"].as_u64()).sum();
    assert_eq!((paths, &answer["index"]["passages"]), (vec!["issue:2", "issue:3"], &json!(passages)));
    assert_eq!(pool.len(), 2, "each issue once");

    let similar = |flags: &[&str]| {
        let related = ["related", "issue:1:1", "--by", "vector", "--json", "--no-refresh"];
        let mut command = tree.tamis(&[&related[..], flags].concat());
        command.env("TAMIS_SEARCH_CUT", "fixed:k=100");
        let (_, out, _) = run(command);
        let related: Value = serde_json::from_str(&out).expect("JSON");
        let mut paths: Vec<String> = related["similar"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|similar| similar["path"].as_str().map(str::to_owned))
            .collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    };
    assert!(similar(&[]).iter().any(|path| path.starts_with("docs/")));
    assert_eq!(similar(&["--state", "resolved"]), ["issue:4"]);
    let (code, _, error) = run(tree.tamis(&["related", "issue:1:1", "--type", "bug"]));
    assert!(code == 2 && error.contains("pull_request"), "{error}");
}

#[test]
fn an_issue_can_be_read_whole_and_by_lines_and_is_counted() {
    let tree = tracker();
    let (code, whole, _) = run(tree.tamis(&["get", "issue:2"]));
    assert!(code == 0 && whole.contains("Cable frays") && whole.contains("the drum is rusty"), "{whole}");
    let (code, first, _) = run(tree.tamis(&["get", "issue:2:1-1"]));
    assert_eq!((code, first.trim()), (0, whole.lines().next().expect("a line").trim()));
    let (code, _, error) = run(tree.tamis(&["get", "issue:77"]));
    assert!(code == 2 && error.contains("issue:77"), "{error}");
    let status = tree.json(&["status", "--json"]);
    let collections = status["collections"].as_array().expect("a list");
    let issues = collections.iter().find(|count| count["name"] == "issues").expect("counted");
    assert_eq!(issues["documents"], 5);
}
