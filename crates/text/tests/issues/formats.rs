//! One small file a format.

use tamis_text::{Issue, IssueArchive, IssueState, Options, Role, read_issues};

use super::{bad, fixture, read};

fn issue(archive: &IssueArchive, number: u64) -> &Issue {
    archive.issues.iter().find(|issue| issue.number == number).unwrap_or_else(|| panic!("no issue {number}"))
}

/// Author and text of each comment, and `true` if it is a program's.
fn said(issue: &Issue) -> Vec<(&str, &str, bool)> {
    assert!(issue.comments.iter().all(|comment| comment.author.is_some()), "everybody has a name here");
    issue
        .comments
        .iter()
        .map(|comment| (comment.author.as_deref().unwrap_or_default(), comment.body.as_str(), comment.bot))
        .collect()
}

/// Every fixture with its format, repository, bad records, comments on issues that are not there, and issues.
#[test]
fn every_format_is_read_as_its_snapshot_shows() {
    for name in [
        "github_pages.json", "github_pulls.json", "gh_issues.json", "gh_pulls.json", "archive.json",
        "gitlab_issues.ndjson", "gitlab_merge_requests.ndjson", "gitlab_pages.json", "gitlab.csv", "own.jsonl",
    ] {
        let archive = read(&fixture(name));
        let mut text = format!("{:?} of {:?}\n", archive.format, archive.repository);
        let comments = archive.comments.iter().map(|(number, comment)| format!("#{number}: {}", json(comment)));
        for line in bad(&archive).into_iter().chain(comments).chain(archive.issues.iter().map(json)) {
            text.push_str(&line);
            text.push('\n');
        }
        insta::assert_snapshot!(name, text);
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("JSON")
}

#[test]
fn pages_of_pages_and_one_page_are_the_same() {
    let text = String::from_utf8(fixture("github_pages.json")).expect("the fixture is UTF-8");
    let expected = read(text.as_bytes());
    assert_eq!(text.matches("][").count(), 2);
    assert_eq!(read(format!("[{}]", text.replace("][", "],[")).as_bytes()), expected);
    assert_eq!(read(text.replace("][", ",").as_bytes()), expected);
    // As jq writes them: one record a line, or spread over lines.
    let values: Vec<serde_json::Value> = serde_json::from_str(&text.replace("][", ",")).expect("it is JSON");
    let lines: String = values.iter().map(|value| format!("{value}\n")).collect();
    assert_eq!(read(lines.as_bytes()), expected);
    let pretty: String = values.iter().map(|value| format!("{value:#}\n")).collect();
    assert_eq!(read(pretty.as_bytes()), expected);
    assert_eq!(read(format!(r#"{{"total_count":7,"items":{}}}"#, text.replace("][", ",")).as_bytes()), expected);
}

#[test]
fn issues_and_merge_requests_of_gitlab_have_numbers_of_their_own_and_marks_and_line_ends_make_no_difference() {
    let mut both = fixture("gitlab_issues.ndjson");
    let merge = String::from_utf8(fixture("gitlab_merge_requests.ndjson")).expect("it is UTF-8");
    let merge = merge.replace(r#""iid": 3"#, r#""iid": 12"#);
    let mut other = merge.clone().into_bytes();
    other.extend_from_slice(&both);
    both.extend_from_slice(merge.as_bytes());
    for (bytes, line) in [(both, 3), (other, 2)] {
        let archive = read(&bytes);
        assert_eq!(issue(&archive, 12).title.get(..14), Some("Das Rad klemmt"));
        assert_eq!(archive.bad.len(), 1);
        let says = |bad: &String| bad.starts_with(&format!("line {line}: ")) && bad.contains("namespace");
        assert!(bad(&archive).iter().all(says));
    }
    let own = read(b"{\"number\":5,\"title\":\"A\"}\n{\"number\":5,\"kind\":\"pull_request\",\"title\":\"B\"}\n");
    assert!(bad(&own)[0].contains("number 5 is both"), "{own:?}");
    let marked = |text: &str| read(format!("\u{feff}{}", text.replace('\n', "\r\n")).as_bytes());
    let table = String::from_utf8(fixture("gitlab.csv")).expect("it is UTF-8");
    assert_eq!(marked(&table), read(table.as_bytes()));
    let text = String::from_utf8(fixture("own.jsonl")).expect("it is UTF-8");
    let expected = read(text.as_bytes());
    assert_eq!(marked(&text), expected);
    assert_eq!(read(format!("\n\n{}", text.replace('\n', "\n\n")).as_bytes()).issues, expected.issues);
    let utf16: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(read(&utf16), expected);
}

#[test]
fn records_of_one_number_are_one_issue_in_any_order() {
    let old = r#"{"number":1,"title":"Hang","updated_at":"2024-01-01T00:00:00Z","author":"ada","comments":[{"author":"bob","body":"a","created_at":"2024-01-01T00:00:00Z"}]}"#;
    let new = r#"{"number":1,"title":"Hängt","updated_at":"2024-02-01T00:00:00Z","state":"closed","comments":[{"author":"bob","body":"a","created_at":"2024-01-01T00:00:00Z"},{"author":"eve","body":"b","created_at":"2024-01-02T00:00:00Z"}]}"#;
    let other = r#"{"number":2,"title":"Else"}"#;
    let orders = [[old, new, other], [new, other, old], [other, old, new]];
    let archives: Vec<_> = orders.iter().map(|lines| read(lines.join("\n").as_bytes())).collect();
    assert!(archives.iter().all(|archive| Some(archive) == archives.first()));
    let issue = issue(&archives[0], 1);
    assert_eq!((issue.title.as_str(), issue.author.as_deref()), ("Hängt", Some("ada")));
    assert_eq!(issue.state, IssueState::Closed);
    assert_eq!(said(issue), [("bob", "a", false), ("eve", "b", false)]);
}

#[test]
fn what_a_program_says_is_in_a_role_of_its_own_and_an_empty_page_is_no_issue_and_no_error() {
    let archive = read(&fixture("github_pages.json"));
    let roles = |number| -> Vec<_> {
        let document = issue(&archive, number).document(&Options::default());
        document.passages.iter().map(|passage| (passage.own.part, passage.role)).collect()
    };
    assert_eq!(roles(12), [(Some(0), Role::Main), (Some(1), Role::Bot), (Some(2), Role::Main)]);
    assert_eq!(roles(14), [(Some(0), Role::Bot)]);
    for text in ["[]", "[][]", "[[]]", " [\n]\n"] {
        let archive = read_issues(text.as_bytes());
        assert!(archive.is_ok_and(|archive| archive.issues.is_empty() && archive.bad.is_empty()), "{text}");
    }
}
