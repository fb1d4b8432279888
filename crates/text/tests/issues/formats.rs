//! One small file a format.

use tamis_text::{
    CommentKind, Issue, IssueArchive, IssueFormat, IssueKind, IssueState, Options, Role, Verdict, read_issues,
};

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

fn time(text: &str) -> Option<jiff::Timestamp> {
    Some(text.parse().unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn numbers(archive: &IssueArchive) -> Vec<u64> {
    archive.issues.iter().map(|issue| issue.number).collect()
}

/// The content of issue 12 in most fixtures.
fn is_the_jammed_wheel(issue: &Issue) {
    assert!(issue.title.starts_with("Das Rad klemmt"));
    assert_eq!((issue.kind, issue.state), (IssueKind::Issue, IssueState::Closed));
    assert_eq!(issue.labels.first().map(String::as_str), Some("bug"));
    assert_eq!(issue.created_at.map(|at| at.as_second()), time("2024-05-01T10:00:00Z").map(|at| at.as_second()));
    assert_eq!(issue.updated_at, time("2024-05-04T08:00:00Z"));
    assert_eq!(issue.closed_at, time("2024-05-03T12:00:00Z"));
}

#[test]
fn pages_of_the_rest_api_one_after_another() {
    let archive = read(&fixture("github_pages.json"));
    assert_eq!((archive.format, archive.repository.as_deref()), (IssueFormat::GithubPages, Some("ada/muehle")));
    assert_eq!((numbers(&archive), bad(&archive)), (vec![12, 13, 14, 15], vec![]));
    let wheel = issue(&archive, 12);
    is_the_jammed_wheel(wheel);
    assert_eq!(wheel.labels, ["bug", "hardware"]);
    assert_eq!((wheel.locked, wheel.milestone.as_deref()), (true, Some("1.0")));
    assert_eq!((wheel.author.as_deref(), wheel.state_reason.as_deref()), (Some("grace"), Some("completed")));
    assert_eq!(wheel.url.as_deref(), Some("https://github.com/ada/muehle/issues/12"));
    let bot = ("github-actions[bot]", "Thank you for your report.", true);
    assert_eq!(said(wheel), [bot, ("ada", "Does it squeak? 🐁", false)]);
    let merged = issue(&archive, 13);
    assert_eq!((merged.kind, merged.state), (IssueKind::PullRequest, IssueState::Merged));
    assert_eq!(merged.merged_at, time("2024-05-03T12:00:00Z"));
    let bump = issue(&archive, 14);
    assert_eq!((bump.kind, bump.state, bump.bot), (IssueKind::PullRequest, IssueState::Closed, true));
    let water = issue(&archive, 15);
    assert_eq!((water.title.as_str(), water.author.as_deref(), water.state), ("水が足りない", None, IssueState::Open));
    assert_eq!(
        archive.comments.iter().map(|(number, comment)| (*number, comment.body.as_str())).collect::<Vec<_>>(),
        [(99, "On another issue.")]
    );
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
fn reviews_and_remarks_come_from_pages_of_their_own() {
    let archive = read(&fixture("github_pulls.json"));
    assert_eq!((numbers(&archive), bad(&archive)), (vec![13], vec![]));
    let pull = issue(&archive, 13);
    assert_eq!((pull.kind, pull.state), (IssueKind::PullRequest, IssueState::Merged));
    // The review that only holds a remark has no text itself.
    assert_eq!(said(pull), [("ada", "Warm is good.", false), ("grace", "Why 40 °C?", false)]);
    let [review, remark] = pull.comments.as_slice() else { panic!("two comments") };
    assert_eq!((review.kind, review.verdict), (CommentKind::Review, Some(Verdict::Approved)));
    assert_eq!((remark.kind, remark.verdict), (CommentKind::Review, None));
    assert_eq!((remark.file.as_deref(), remark.line), (Some("src/axle.rs"), Some(21)));
}

#[test]
fn lists_of_the_gh_command() {
    let archive = read(&fixture("gh_issues.json"));
    assert_eq!((archive.format, archive.repository.as_deref()), (IssueFormat::GhList, Some("ada/muehle")));
    assert_eq!((numbers(&archive), bad(&archive)), (vec![12, 16], vec![]));
    is_the_jammed_wheel(issue(&archive, 12));
    assert_eq!(said(issue(&archive, 12)), [("ada", "Does it squeak?", false), ("github-actions", "Stale.", true)]);
    assert_eq!(issue(&archive, 12).state_reason.as_deref(), Some("completed"));
    assert_eq!((issue(&archive, 16).bot, issue(&archive, 16).state), (true, IssueState::Open));

    let archive = read(&fixture("gh_pulls.json"));
    let states: Vec<_> = archive.issues.iter().map(|issue| (issue.number, issue.kind, issue.state)).collect();
    assert_eq!(
        states,
        [(13, IssueKind::PullRequest, IssueState::Merged), (17, IssueKind::PullRequest, IssueState::Closed)]
    );
    assert_eq!(said(issue(&archive, 13)), [("ada", "Warm is good.", false)]);
    assert_eq!(issue(&archive, 13).comments.first().and_then(|review| review.created_at), time("2024-05-03T09:00:00Z"));
}

#[test]
fn the_archive_of_a_repository() {
    let archive = read(&fixture("archive.json"));
    assert_eq!((archive.format, archive.repository.as_deref()), (IssueFormat::Archive, Some("ada/muehle")));
    assert_eq!((numbers(&archive), bad(&archive)), (vec![12, 13], vec![]));
    is_the_jammed_wheel(issue(&archive, 12));
    assert_eq!(said(issue(&archive, 12)), [("ada", "Squeak?", false)]);
    let pull = issue(&archive, 13);
    assert_eq!(pull.state, IssueState::Merged);
    // Remarks do not name their author, so they are the reviewer's. All three are of one second.
    let review = pull.comments.iter().map(|comment| (comment.body.as_str(), comment.verdict)).collect::<Vec<_>>();
    assert_eq!(review, [("", Some(Verdict::ChangesRequested)), ("Why 40 °C?", None), ("Und hier?", None)]);
    assert!(pull.comments.iter().all(|comment| comment.author.as_deref() == Some("ada")));
}

#[test]
fn the_export_of_gitlab() {
    let archive = read(&fixture("gitlab_issues.ndjson"));
    assert_eq!((archive.format, archive.repository.as_deref()), (IssueFormat::GitlabExport, None));
    assert_eq!((numbers(&archive), bad(&archive)), (vec![12, 15], vec![]));
    is_the_jammed_wheel(issue(&archive, 12));
    assert_eq!(issue(&archive, 12).milestone.as_deref(), Some("1.0"));
    // Notes of the system are not comments.
    let token = ("project_5_bot_1f", "Coverage 90 %", true);
    assert_eq!(said(issue(&archive, 12)), [("Ada", "Quietscht es? 🐁", false), token]);
    assert_eq!(issue(&archive, 15).body, "");

    let archive = read(&fixture("gitlab_merge_requests.ndjson"));
    let merge = issue(&archive, 3);
    assert_eq!((merge.kind, merge.state), (IssueKind::PullRequest, IssueState::Merged));
    assert_eq!(merge.merged_at, time("2024-05-03T12:00:00Z"));
    let remark = merge.comments.first().map(|note| (note.kind, note.file.as_deref(), note.line));
    assert_eq!(remark, Some((CommentKind::Review, Some("src/axle.rs"), Some(21))));
}

#[test]
fn pages_of_the_api_of_gitlab() {
    let archive = read(&fixture("gitlab_pages.json"));
    assert_eq!((archive.format, archive.repository.as_deref()), (IssueFormat::GitlabPages, Some("mills/wind/muehle")));
    is_the_jammed_wheel(issue(&archive, 12));
    assert_eq!(issue(&archive, 12).labels, ["bug", "läuft"]);
    assert_eq!(said(issue(&archive, 12)), [("ada", "Quietscht es?", false)]);
    assert_eq!(bad(&archive), ["page 2, record 3: is a note on \"Snippet\", not on an issue or a merge request"]);
}

#[test]
fn issues_and_merge_requests_of_gitlab_have_numbers_of_their_own() {
    let mut both = fixture("gitlab_issues.ndjson");
    let merge = String::from_utf8(fixture("gitlab_merge_requests.ndjson")).expect("it is UTF-8");
    let merge = merge.replace(r#""iid": 3"#, r#""iid": 12"#);
    let mut other = merge.clone().into_bytes();
    other.extend_from_slice(&both);
    both.extend_from_slice(merge.as_bytes());
    for (bytes, line) in [(both, 3), (other, 2)] {
        let archive = read(&bytes);
        is_the_jammed_wheel(issue(&archive, 12));
        assert_eq!(archive.bad.len(), 1);
        assert!(
            bad(&archive).iter().all(|bad| bad.starts_with(&format!("line {line}: ")) && bad.contains("namespace"))
        );
    }
}

#[test]
fn the_table_of_gitlab() {
    let text = String::from_utf8(fixture("gitlab.csv")).expect("it is UTF-8");
    let archive = read(text.as_bytes());
    assert_eq!(read(format!("\u{feff}{}", text.replace('\n', "\r\n")).as_bytes()), archive);
    assert_eq!((archive.format, archive.repository.as_deref()), (IssueFormat::GitlabCsv, Some("mills/wind/muehle")));
    assert_eq!(numbers(&archive), [12, 15]);
    let wheel = issue(&archive, 12);
    is_the_jammed_wheel(wheel);
    assert_eq!(wheel.body, "Unter 0 °C:\n\"ratsch\", dann nichts");
    assert_eq!((wheel.labels.len(), wheel.locked, wheel.author.as_deref()), (2, true, Some("grace")));
    assert_eq!(
        bad(&archive),
        ["line 4: its number is \"\", not a whole number from 1", "line 5: has 3 fields, but there are 20 columns"]
    );
}

#[test]
fn lines_of_the_own_format() {
    let archive = read(&fixture("own.jsonl"));
    assert_eq!((archive.format, archive.repository.as_deref()), (IssueFormat::JsonLines, Some("ada/muehle")));
    assert_eq!((numbers(&archive), bad(&archive)), (vec![12, 13, 15], vec![]));
    is_the_jammed_wheel(issue(&archive, 12));
    assert_eq!(said(issue(&archive, 12)), [("github-actions[bot]", "Danke.", true), ("ada", "Quietscht es?", false)]);
    let pull = issue(&archive, 13);
    assert_eq!((pull.kind, pull.state), (IssueKind::PullRequest, IssueState::Merged));
    assert_eq!(
        pull.comments.iter().map(|comment| comment.verdict).collect::<Vec<_>>(),
        [Some(Verdict::Approved), None]
    );
    assert_eq!(*issue(&archive, 15), Issue::new(15, "Wasser"));
}

#[test]
fn marks_and_line_ends_make_no_difference() {
    let text = String::from_utf8(fixture("own.jsonl")).expect("it is UTF-8");
    let expected = read(text.as_bytes());
    assert_eq!(read(format!("\u{feff}{}", text.replace('\n', "\r\n")).as_bytes()), expected);
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
    assert_eq!(
        (issue.title.as_str(), issue.author.as_deref(), issue.state),
        ("Hängt", Some("ada"), IssueState::Closed)
    );
    assert_eq!(said(issue), [("bob", "a", false), ("eve", "b", false)]);
}

#[test]
fn what_a_program_says_is_in_a_role_of_its_own() {
    let archive = read(&fixture("github_pages.json"));
    let roles = |number| -> Vec<_> {
        let document = issue(&archive, number).document(&Options::default());
        document.passages.iter().map(|passage| (passage.part, passage.role)).collect()
    };
    assert_eq!(roles(12), [(Some(0), Role::Main), (Some(1), Role::Bot), (Some(2), Role::Main)]);
    assert_eq!(roles(14), [(Some(0), Role::Bot)]);
}

#[test]
fn an_empty_page_is_no_issue_and_no_error() {
    for text in ["[]", "[][]", "[[]]", " [\n]\n"] {
        let archive = read_issues(text.as_bytes());
        assert!(archive.is_ok_and(|archive| archive.issues.is_empty() && archive.bad.is_empty()), "{text}");
    }
}
