//! Properties of every issue, and of every input that claims to be one.

use proptest::prelude::*;
use tamis_text::{Issue, IssueFormat, Kind, Options, Passage, Role, estimate_tokens, read_issues};

use super::strategies::{issue, markdown};

fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|character| !character.is_whitespace())
}

/// Returns `true` if all of `text` is in `whole`, in order.
fn stands_in(text: &str, whole: &str) -> bool {
    let mut rest = visible(whole);
    visible(text).all(|wanted| rest.any(|found| found == wanted))
}

/// Checks the document of an issue against its rendering.
pub(crate) fn check(issue: &Issue, options: &Options) -> Result<(), TestCaseError> {
    let rendering = issue.rendered();
    let lines: Vec<&str> = rendering.split('\n').collect();
    let document = issue.document(options);
    let mut previous: Option<&Passage> = None;
    for passage in &document.passages {
        prop_assert!(!passage.text.trim().is_empty());
        prop_assert!(estimate_tokens(&passage.text) <= options.max_tokens.max(32), "{:?}", passage.text);
        prop_assert!(1 <= passage.start_line && passage.start_line <= passage.end_line);
        let range = passage.start_line as usize - 1..passage.end_line as usize;
        prop_assert!(range.end <= lines.len());
        let here = lines[range].join("\n");
        prop_assert!(stands_in(&passage.text, &here), "{:?} is not in {here:?}", passage.text);
        if let Some(before) = previous {
            let divided = before.end_line == passage.start_line && before.own.part == passage.own.part;
            prop_assert!(before.end_line < passage.start_line || divided);
            prop_assert!(before.own.part <= passage.own.part);
        }
        previous = Some(passage);
    }
    let of_part = |part: usize| document.passages.iter().filter(move |one| one.own.part == u32::try_from(part).ok());
    let title = issue.title.split_whitespace().collect::<Vec<_>>().join(" ");
    prop_assert!(of_part(0).next().is_some() || title.is_empty());
    for (at, comment) in issue.comments.iter().enumerate() {
        prop_assert_eq!(of_part(at + 1).next().is_some(), !comment.body.trim().is_empty(), "comment {}", at + 1);
        for passage in of_part(at + 1) {
            prop_assert!(matches!(passage.kind, Kind::Comment | Kind::Review));
            prop_assert_eq!(&passage.own.author, &comment.author);
            prop_assert_eq!(passage.role == Role::Bot, comment.bot);
        }
    }
    for passage in &document.passages {
        prop_assert_eq!(passage.heading.as_deref().unwrap_or_default(), title.chars().take(300).collect::<String>());
        prop_assert!(passage.embedded_text().contains(passage.heading.as_deref().unwrap_or_default()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_issue_survives_as_json(issue in issue(markdown().boxed())) {
        let json = serde_json::to_string(&issue).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(serde_json::from_str::<Issue>(&json).ok(), Some(issue.clone()));
        let line = format!("{json}\n");
        let archive = read_issues(line.as_bytes()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&archive.bad, &vec![]);
        prop_assert_eq!(archive.format, IssueFormat::JsonLines);
        prop_assert_eq!(archive.issues, vec![issue]);
    }

    #[test]
    fn merging_is_the_same_both_ways_and_twice(one in issue("[a-c]{0,3}".boxed()), two in issue("[a-c]{0,3}".boxed())) {
        let two = Issue { number: one.number, ..two };
        let merged = |mut here: Issue, there: &Issue| { here.merge(there.clone()); here };
        let both = merged(one.clone(), &two);
        let other = merged(two.clone(), &one);
        prop_assert_eq!((&both.title, &both.body, both.state), (&other.title, &other.body, other.state));
        prop_assert_eq!(both.comments.len(), other.comments.len());
        prop_assert_eq!(merged(one.clone(), &one), one);
        prop_assert_eq!(merged(both.clone(), &two).comments.len(), both.comments.len());
    }

    #[test]
    fn the_document_of_any_issue_is_its_rendering(issue in issue(markdown().boxed()), max_tokens in 0_usize..120) {
        check(&issue, &Options { max_tokens })?;
    }

    #[test]
    fn no_word_is_lost(issue in issue("([a-zé語]{1,9}|[ .,\n\t#*]|```\n){0,120}".boxed()), max_tokens in 0_usize..120) {
        check(&issue, &Options { max_tokens })?;
        let document = issue.document(&Options { max_tokens });
        let bodies = std::iter::once(&issue.body).chain(issue.comments.iter().map(|comment| &comment.body));
        for (part, body) in bodies.enumerate() {
            let passages = document.passages.iter().filter(|passage| passage.own.part == u32::try_from(part).ok());
            let text: String = passages.map(|passage| passage.text.as_str()).collect();
            if !body.trim().is_empty() {
                prop_assert_eq!(visible(&text).collect::<String>(), visible(body).collect::<String>());
            }
        }
    }
}
