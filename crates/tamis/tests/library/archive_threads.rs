//! Every budget rule on the threads of a real tracker, if `TAMIS_TEST_DATA` has its archive.

use proptest::prelude::*;
use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use tamis::troubleshoot::{CommentReason, Remark, ThreadRules, assemble, budgets, shorten};
use tamis_text::{Issue, read_issues};

fn archive() -> &'static [Issue] {
    static ISSUES: OnceLock<Vec<Issue>> = OnceLock::new();
    ISSUES.get_or_init(|| {
        let Some(data) = std::env::var_os("TAMIS_TEST_DATA") else {
            let _ = writeln!(std::io::stderr(), "skipped the threads of a real archive: TAMIS_TEST_DATA is not set");
            return Vec::new();
        };
        let file = Path::new(&data).join("data/github-issues/tls-esni.archive.json");
        read_issues(&std::fs::read(file).expect("a file")).expect("an archive").issues
    })
}

/// A text with every fourth letter in a script of more bytes, so that characters and bytes differ everywhere.
fn in_other_scripts(text: &str) -> String {
    let other = |(at, c): (usize, char)| match (at % 4, c.is_ascii_alphabetic()) {
        (0, true) => 'ß',
        (1, true) => '語',
        (2, true) => '🦀',
        _ => c,
    };
    text.chars().enumerate().map(other).collect()
}

fn obeys(issue: &Issue, budget: usize, seed: f64, other_scripts: bool) -> Result<(), TestCaseError> {
    let convert = |text: &str| if other_scripts { in_other_scripts(text) } else { text.to_owned() };
    let body = convert(&issue.body);
    let texts: Vec<String> = issue.comments.iter().map(|comment| convert(&comment.body)).collect();
    let remarks: Vec<Remark> = issue
        .comments
        .iter()
        .zip(&texts)
        .enumerate()
        .map(|(at, (comment, text))| Remark {
            author: comment.author.as_deref(),
            created_at: comment.created_at,
            text,
            bot: comment.bot,
            similarity: ((at as f64 + 1.0) * seed).sin(),
        })
        .collect();
    let rules = ThreadRules::default();
    let thread = assemble(&body, &remarks, budget, rules);
    let count = |text: &str| text.chars().count();
    prop_assert_eq!(thread.characters, count(&thread.text));
    prop_assert!(thread.characters <= budget, "#{}: {} of {budget}", issue.number, thread.characters);

    let short = shorten(&body, rules.body);
    prop_assert!(count(&short) <= 750, "a body is short");
    let body_length = count(&short).min(budget);
    if count(&short) <= budget {
        prop_assert!(thread.text.starts_with(&short), "#{}: the body comes first", issue.number);
    }
    let of = |reason: CommentReason| thread.comments.iter().filter(move |comment| comment.reason == reason);
    let tail: usize = of(CommentReason::Tail).map(|comment| comment.characters).sum();
    prop_assert!(tail <= (budget - body_length) * 6 / 10, "#{}: the tail keeps to its share", issue.number);
    prop_assert_eq!(thread.comments.len(), issue.comments.len());

    // Nothing that fitted was left out: at the end none of the rest fits.
    let room = budget - thread.characters;
    for left_out in of(CommentReason::TooLong) {
        prop_assert!(left_out.characters + 2 > room, "#{}: {left_out:?} fits in {room}", issue.number);
    }
    // Of the comments chosen by similarity and those left out, the more similar one went first if both fitted.
    for chosen in of(CommentReason::Similarity).filter(|comment| !comment.bot) {
        for left_out in of(CommentReason::TooLong).filter(|comment| !comment.bot) {
            prop_assert!(
                left_out.similarity <= chosen.similarity || left_out.characters > chosen.characters,
                "#{}: {left_out:?} gave way to {chosen:?}",
                issue.number
            );
        }
    }
    let selected = thread.comments.iter().filter(|comment| comment.selected);
    let mut from = 0;
    for comment in selected {
        let text = texts[comment.number - 1].replace("\r\n", "\n").replace('\r', "\n");
        let text = text.trim();
        let at = thread.text[from..].find(text);
        prop_assert!(at.is_some(), "#{}: comment {} is there in full and in its place", issue.number, comment.number);
        from += at.unwrap_or_default() + text.len();
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn threads_obey_every_rule_over_the_whole_archive(budget in 0usize..50_000, small in 0usize..3000, seed in 0.1f64..3.0) {
        for issue in archive() {
            for budget in [budget, small] {
                obeys(issue, budget, seed, false)?;
                obeys(issue, budget, seed, true)?;
            }
        }
    }

    #[test]
    fn threads_of_several_matches_stay_within_the_whole(total in 1000usize..50_000, first in 0usize..600, seed in 0.1f64..1.0) {
        for issues in archive().get(first..).unwrap_or_default().chunks(3).take(20) {
            let similarities: Vec<f64> = (1..=issues.len()).map(|at| (seed * at as f64).fract()).collect();
            let shares = budgets(&similarities, total);
            let length: usize = issues
                .iter()
                .zip(shares)
                .map(|(issue, share)| {
                    let remark = |comment: &'static tamis_text::IssueComment| Remark {
                        author: comment.author.as_deref(),
                        created_at: comment.created_at,
                        text: &comment.body,
                        bot: comment.bot,
                        similarity: 0.5,
                    };
                    let remarks: Vec<Remark> = issue.comments.iter().map(remark).collect();
                    assemble(&issue.body, &remarks, share, ThreadRules::default()).characters
                })
                .sum();
            prop_assert!(length <= total);
        }
    }
}
