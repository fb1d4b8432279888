//! The division of issues, as people and searches see it.

use tamis_text::{Document, Issue, IssueComment, IssueKind, IssueState, Kind, Options, Role};

fn document(issue: &Issue) -> Document {
    issue.document(&Options::default())
}

fn texts(issue: &Issue) -> Vec<String> {
    document(issue).passages.into_iter().map(|passage| passage.text).collect()
}

fn with_comments<const N: usize>(body: &str, comments: [&str; N]) -> Issue {
    let comments = comments.into_iter().map(IssueComment::new).collect();
    Issue { body: body.into(), comments, ..Issue::new(1, "Doors > windows") }
}

#[test]
fn the_states_are_those_that_filters_ask_for() {
    let states = |kind, state| {
        let issue = Issue { kind, state, ..Issue::new(1, "A") };
        let attributes = document(&issue).attributes.into_iter();
        attributes.filter(|(name, _)| name == "state").map(|(_, value)| value).collect::<Vec<_>>()
    };
    assert_eq!(states(IssueKind::Issue, IssueState::Open), ["open"]);
    assert_eq!(states(IssueKind::Issue, IssueState::Closed), ["closed", "resolved"]);
    assert_eq!(states(IssueKind::PullRequest, IssueState::Open), ["open"]);
    assert_eq!(states(IssueKind::PullRequest, IssueState::Merged), ["closed", "merged", "resolved"]);
    assert_eq!(states(IssueKind::PullRequest, IssueState::Closed), ["closed", "unmerged"]);
}

#[test]
fn every_passage_is_embedded_under_the_whole_title_and_an_issue_without_a_body_is_found_by_its_title() {
    let issue = with_comments("They stick.", ["So do windows here.", "Doors > windows, I say"]);
    let document = document(&issue);
    let embedded: Vec<_> = document.passages.iter().map(|passage| passage.embedded_text().into_owned()).collect();
    let passages = ["Doors > windows\nThey stick.", "Doors > windows\nSo do windows here.", "Doors > windows, I say"];
    assert_eq!(embedded, passages);
    assert_eq!(document.title.as_deref(), Some("Doors > windows"));
    let empty = self::document(&Issue::new(1, "Tür klemmt"));
    let [passage] = empty.passages.as_slice() else { panic!("one passage") };
    assert_eq!((passage.text.as_str(), passage.role, passage.kind), ("# Tür klemmt", Role::Main, Kind::Issue));
    assert_eq!((passage.start_line, passage.end_line, passage.own.part), (1, 1, Some(0)));
    let form =
        self::document(&with_comments("## Description\n<!-- What happens? -->\n\n## Version\n_No response_\n", []));
    let [passage] = form.passages.as_slice() else { panic!("one passage") };
    assert_eq!((passage.text.as_str(), passage.role), ("# Doors > windows", Role::Template));
}

#[test]
fn a_form_is_in_the_record_alone_and_empty_comments_have_no_passage_and_keep_their_number() {
    let body = "<!-- Thanks for\nreporting! -->\n### What happened?\n\nEs klemmt <!-- sic --> sehr.\n\n\n<!-- more -->\n\n### Version\n\n_No response_\n";
    let issue = with_comments(body, []);
    assert_eq!(texts(&issue), ["### What happened?\n\nEs klemmt  sehr."]);
    assert!(issue.rendered().contains("<!-- Thanks for\nreporting! -->"));
    assert!(serde_json::to_string(&issue).is_ok_and(|record| record.contains("_No response_")));
    let document = document(&with_comments("Body.", ["one", "", " \n", "four"]));
    let parts: Vec<_> = document.passages.iter().map(|passage| passage.own.part).collect();
    assert_eq!(parts, [Some(0), Some(1), Some(4)]);
}

#[test]
fn a_long_body_is_divided_at_its_headings_and_says_where_one_is() {
    let section =
        |name: &str| format!("## {name}\n\n{}\n\n", format!("The {name} was opened and closed again.\n").repeat(20));
    let body = format!("{}{}{}", section("door"), section("window"), section("gate"));
    let document = document(&with_comments(&body, []));
    let heads: Vec<_> = document.passages.iter().map(|one| one.text.lines().next().unwrap_or_default()).collect();
    assert!(heads.len() > 1 && heads.iter().all(|line| line.starts_with("## ")), "{heads:?}");
    let small = with_comments(&section("door"), []).document(&Options { max_tokens: 60 });
    assert!(small.passages.len() > 2);
    assert!(small.passages.iter().skip(1).all(|passage| passage.context.as_deref() == Some("door")));
    assert!(small.passages.iter().all(|passage| passage.own.part == Some(0)));
}

#[test]
fn code_stays_whole_where_that_can_be() {
    let words = "Words that explain what is done and why it is done.\n".repeat(12);
    let code = format!("```rust\n{}```\n", "let door = open(door);\n".repeat(12));
    let document =
        with_comments(&format!("{words}\n{code}\n{words}\n{code}"), []).document(&Options { max_tokens: 160 });
    assert!(document.passages.len() > 2);
    for passage in document.passages {
        assert_eq!(passage.text.matches("```").count() % 2, 0, "{:?}", passage.text);
    }
}

#[test]
fn a_remark_says_what_it_is_about_and_a_comment_is_its_own_words() {
    let mut issue = with_comments("", ["Why?"]);
    for comment in &mut issue.comments {
        comment.kind = tamis_text::CommentKind::Review;
        comment.file = Some("src/door.rs".into());
        comment.line = Some(7);
    }
    let document = document(&issue);
    let remark = document.passages.last().expect("there is a remark");
    assert_eq!((remark.kind, remark.context.as_deref()), (Kind::Review, Some("src/door.rs:7")));
    assert_eq!(remark.embedded_text(), "Doors > windows\nsrc/door.rs:7\nWhy?");
    let asked = "Does the door also stick when it is warm outside?";
    let answered = "> Does the door also stick\n> when it is warm outside?\n\nNein.";
    let quoted = "> Does the door also stick when it is warm outside?";
    let issue = with_comments("It sticks.", [asked, answered, quoted]);
    assert_eq!(texts(&issue), ["It sticks.", asked, "Nein.", "> Does the door also stick when it is warm outside?"]);
}

#[test]
fn dates_and_authors_are_those_of_the_part() {
    let at = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let mut issue = with_comments("Body.", ["Comment."]);
    issue.author = Some("ada".into());
    issue.created_at = at("2024-05-01T00:00:00Z");
    issue.updated_at = at("2024-05-09T00:00:00Z");
    for comment in &mut issue.comments {
        comment.author = Some("bob".into());
        comment.created_at = at("2024-05-02T00:00:00Z");
    }
    let document = document(&issue);
    let day = |ns: Option<i64>| ns.map(|ns| ns / 86_400_000_000_000);
    assert_eq!(day(document.dated_ns), Some(19_852));
    let parts: Vec<_> =
        document.passages.iter().map(|one| (one.own.author.as_deref(), day(one.own.dated_ns))).collect();
    assert_eq!(parts, [(Some("ada"), Some(19_844)), (Some("bob"), Some(19_845))]);
}
