//! Issues and values made up at random.

use jiff::Timestamp;
use proptest::prelude::*;
use tamis_text::{CommentKind, Issue, IssueComment, IssueKind, IssueState, Verdict};

/// Markdown that nests, breaks off and collides when strung together.
pub(crate) fn markdown() -> impl Strategy<Value = String> {
    "(word |Türklinke |語。|🐁|\n|\n\n|\r\n|```\n|```|~~~\n|    |<!-- | -->|-->|<!--\n|### Steps to reproduce\n|## Own heading\n|\
      \\*\\*Describe the bug\\*\\*\n|_No response_\n|Version:\n|# |===\n|- \\[ \\] I have read the rules\n|- \\[x\\] I agree\n|\
      - \\[ \\] Port it\n|> |>> word word word word word\n|> word |On 1/2/24, ada wrote:\n|—\n|<details>\n|</details>\n|`|`<!-- `|\
      Reply to this email directly, view it\n|- item\n|1\\. See error\n|\\| a \\| b \\|\n\\|---\\|---\\|\n|---\n|\t|\u{2028}|\r|\
      A clear and concise description of what the bug is\\.\n){0,40}"
}

fn time() -> impl Strategy<Value = Option<Timestamp>> {
    let seconds = -5_000_000_000_i64..9_000_000_000;
    prop::option::of(seconds.prop_filter_map("a time", |second| Timestamp::from_second(second).ok()))
}

/// A name, and `true` if it is a program's: one that has the name of a program is.
fn author() -> impl Strategy<Value = (Option<String>, bool)> {
    (name(), any::<bool>()).prop_map(|(name, bot)| {
        let bot = bot || name.as_deref().is_some_and(|name| name.ends_with("[bot]"));
        (name, bot)
    })
}

fn name() -> impl Strategy<Value = Option<String>> {
    let names = ["ada", "bob", "ɓob", "dependabot[bot]", "x y"];
    prop::option::of(prop::sample::select(names.to_vec()).prop_map(str::to_owned))
}

fn comment(body: impl Strategy<Value = String>) -> impl Strategy<Value = IssueComment> {
    let kind = prop::sample::select(CommentKind::ALL);
    let verdict = prop::option::of(prop::sample::select(Verdict::ALL));
    let place = (prop::option::of("[a-zü/]{1,9}"), prop::option::of(1_u64..99));
    let values = (kind, author(), body, time(), time(), prop::option::of("https://x/[a-c]{1,3}"), verdict, place);
    values.prop_map(|(kind, (author, bot), body, created_at, updated_at, url, verdict, place)| {
        let (file, line) = place;
        IssueComment { kind, author, bot, body, created_at, updated_at, url, verdict, file, line }
    })
}

/// An issue whose comments are in order, with bodies as `body` makes them.
pub(crate) fn issue<S: Strategy<Value = String> + Clone>(body: S) -> impl Strategy<Value = Issue> {
    let words = (1_u64..1_000, "[ a-zA-Zé>語]{0,30}", body.clone(), author());
    let labels = prop::collection::vec("[a-zü: ]{1,8}", 0..3);
    let kind = (prop::sample::select(IssueKind::ALL), prop::sample::select(IssueState::ALL));
    let more = (prop::option::of("[a-z_]{1,9}"), prop::option::of("[0-9.]{1,4}"), any::<bool>());
    let times = (time(), time(), time(), time());
    let comments = prop::collection::vec(comment(body), 0..5);
    (words, labels, kind, more, times, comments).prop_map(|(words, labels, kind, more, times, comments)| {
        let (number, title, body, (author, bot)) = words;
        let ((kind, state), (state_reason, milestone, locked)) = (kind, more);
        let (created_at, updated_at, closed_at, merged_at) = times;
        let known = Issue { created_at, updated_at, closed_at, merged_at, author, bot, ..Issue::new(number, title) };
        let mut issue = Issue { kind, body, state, state_reason, labels, milestone, locked, ..known };
        issue.add_comments(comments);
        issue
    })
}
