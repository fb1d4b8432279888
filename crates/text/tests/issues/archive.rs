//! A real archive, if it is available.

use std::io::Write as _;
use std::path::Path;

use tamis_text::{CommentKind, IssueFormat, IssueKind, IssueState, Options, read_issues};

use super::properties::check;

#[test]
fn every_issue_pull_request_and_comment_of_a_real_archive_is_read() {
    let Some(data) = std::env::var_os("TAMIS_TEST_DATA") else {
        let _ = writeln!(std::io::stderr(), "skipped the issues of a real archive: TAMIS_TEST_DATA is not set");
        return;
    };
    let path = Path::new(&data).join("data/github-issues/tls-esni.archive.json");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let archive = read_issues(&bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(archive.format, IssueFormat::Archive);
    assert_eq!(archive.bad, []);
    let issues = |kind| archive.issues.iter().filter(|issue| issue.kind == kind).count();
    assert_eq!((issues(IssueKind::Issue), issues(IssueKind::PullRequest)), (250, 392));
    assert_eq!(archive.issues.iter().filter(|issue| issue.state == IssueState::Merged).count(), 323);
    let comments = || archive.issues.iter().flat_map(|issue| &issue.comments);
    assert_eq!(comments().filter(|comment| comment.kind == CommentKind::Comment).count(), 1_993);
    let remarks = comments().filter(|comment| comment.kind == CommentKind::Review && comment.verdict.is_none());
    assert_eq!(remarks.count(), 1_552);
    let reviews = comments().filter(|comment| comment.verdict.is_some() && !comment.body.is_empty());
    assert_eq!(reviews.count(), 168);
    for issue in &archive.issues {
        for max_tokens in [64, 400] {
            check(issue, &Options { max_tokens }).unwrap_or_else(|error| panic!("#{}: {error}", issue.number));
        }
    }
}
