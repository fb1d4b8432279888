//! Unreadable input, and its errors.

use tamis_text::{IssueFormatError, read_issues};

use super::{bad, fixture, read};

#[test]
fn a_bad_record_is_reported_by_position_and_the_others_are_read() {
    let page = r#"[{"number":1,"title":"A","user":null},{"number":0,"title":"B","user":null},{"title":"C","user":null},
        {"number":4,"title":"D","user":null,"created_at":"2024-02-30T00:00:00Z"},{"number":5,"title":7,"user":null},
        {"number":6,"title":"F","user":null,"state":"ajar"},7,{"number":8,"title":"Ü","user":3},{"number":9,"title":"I","user":null},
        {"number":10,"title":"J","user":null,"labels":["a",3]}]"#;
    let archive = read(page.as_bytes());
    assert_eq!(archive.issues.iter().map(|issue| issue.number).collect::<Vec<_>>(), [1, 9]);
    let expected = [
        "record 2: `number` is 0, not a whole number from 1",
        "record 3: `number` is missing",
        "record 4: `created_at` is \"2024-02-30T00:00:00Z\", not a time such as \"2024-05-01T10:00:00Z\"",
        "record 5: `title` is 7, not text",
        "record 6: `state` is \"ajar\", not open, closed or merged",
        "record 7: is 7, not an object",
        "record 8: `user` is 3, not a name or an account",
        "record 10: `labels` has 3, which is not a label",
    ];
    assert_eq!(bad(&archive), expected);
}

#[test]
fn a_bad_line_is_reported_by_its_number_also_if_it_is_the_first() {
    let lines = "{\"number\":1,\"title\":\"A\"}\n\n{\"number\":2,\"title\":\"B\n{\"number\":3}\n{\"number\":4,\"title\":\"D\"}\nnonsense\n{\"number\":5,\"ti";
    let archive = read(lines.as_bytes());
    assert_eq!(archive.issues.iter().map(|issue| issue.number).collect::<Vec<_>>(), [1, 4]);
    let bad = bad(&archive);
    assert_eq!(bad.len(), 4, "{bad:?}");
    for (found, expected) in bad.iter().zip([
        "line 3: column 22: ", "line 4: is an object of `number`", "line 6: ", "line 7: column 15: the JSON breaks off",
    ]) {
        assert!(found.starts_with(expected), "{found}");
    }
    let archive = read(b"{\"number\":1,\"title\":\"A\n{\"number\":2,\"title\":\"B\"}\n");
    assert_eq!((archive.issues.len(), archive.bad.len()), (1, 1));
    assert_eq!(archive.bad.first().map(|bad| bad.position.as_str()), Some("line 1"));
}

#[test]
fn a_bad_comment_costs_only_itself_and_records_of_another_repository_are_not_mixed_in() {
    let page = r#"[{"number":1,"title":"A","state":"OPEN","comments":[{"author":{"login":"ada"},"body":"gut",
        "createdAt":"2024-01-01T00:00:00Z"},{"body":3},"x"],"reviews":[{"state":"SHRUGGED","body":"?"}]}]"#;
    let archive = read(page.as_bytes());
    assert_eq!(archive.issues.first().map(|issue| issue.comments.len()), Some(1));
    let verdicts = "approved, changes_requested, commented, dismissed, pending";
    let verdict = format!("record 1, review 1: `state` is \"SHRUGGED\", not one of {verdicts}");
    let comments = ["record 1, comment 2: `body` is 3, not text", "record 1, comment 3: is \"x\", not an object"];
    assert_eq!(bad(&archive), [comments[0], comments[1], &verdict]);
    let page = r#"[{"number":1,"title":"A","user":null,"html_url":"https://github.com/ada/muehle/issues/1"},
        {"number":1,"title":"B","user":null,"html_url":"https://github.com/bob/sieb/issues/1"},
        {"number":2,"title":"C","user":null,"html_url":"https://github.com/Ada/Muehle/issues/2"}]"#;
    let archive = read(page.as_bytes());
    assert_eq!(archive.issues.iter().map(|issue| issue.title.as_str()).collect::<Vec<_>>(), ["A", "C"]);
    let apart = "record 2: belongs to bob/sieb, but what comes before it belongs to ada/muehle: give them apart";
    assert_eq!(bad(&archive), [apart]);
}

#[test]
fn json_that_breaks_off_says_where() {
    let whole = String::from_utf8(fixture("github_pages.json")).expect("it is UTF-8");
    let cut: String = whole.chars().take(whole.chars().count() / 2).collect();
    match read_issues(cut.as_bytes()) {
        Err(IssueFormatError::Broken { line: 1, column, reason }) => {
            assert_eq!(column, cut.len());
            assert!(reason.contains("breaks off"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    let error = read_issues(b"[\n  {\"number\": 1,\n  \"title\": oops}]").expect_err("invalid JSON").to_string();
    assert!(error.starts_with("line 3, column 1") && error.contains("not valid JSON"), "{error}");
}

#[test]
fn every_fixture_cut_anywhere_is_read_or_refused() {
    for name in ["archive.json", "gh_issues.json", "github_pulls.json", "gitlab.csv", "gitlab_pages.json", "own.jsonl"]
    {
        let whole = fixture(name);
        for end in 0..whole.len() {
            if let Ok(archive) = read_issues(&whole[..end]) {
                assert!(archive.issues.iter().all(|issue| issue.number > 0), "{name} cut at {end}");
            }
        }
    }
}

#[test]
fn what_is_none_of_the_formats_says_what_it_is_and_what_would_do() {
    for (text, seen) in [
        ("# Notes\n\nwords", "begins with \"# Notes\""),
        ("a,b\n1,2\n", "begins with \"a,b\""),
        (r#"{"message":"Not Found","documentation_url":"https://docs.github.com"}"#, "refuses: \"Not Found\""),
        (r#"[{"name":"v1.0","zipball_url":"x"}]"#, "`name`, `zipball_url`"),
        (r#"[{"number":1,"title":"1.0","state":"open","open_issues":3}]"#, "`open_issues`"),
        ("[1,2]", "it is 1"),
        ("{}", "an empty object"),
    ] {
        let error = read_issues(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(seen), "{text}: {error}");
        for form in ["gh issue list --json", "JSON Lines", "GitLab"] {
            assert!(error.contains(form), "{error}");
        }
    }
    assert!(read_issues(b"\x1f\x8b\x08").expect_err("packed").to_string().contains("gzip: decompress it"));
    for text in ["", " \n\n", "\u{feff}"] {
        assert_eq!(read_issues(text.as_bytes()), Err(IssueFormatError::Empty));
    }
}

#[test]
fn json_as_deep_as_one_likes_is_refused() {
    let text = "[".repeat(100_000);
    assert!(matches!(read_issues(text.as_bytes()), Err(IssueFormatError::Broken { .. })));
}
