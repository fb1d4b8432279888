//! The comments of one issue, gathered from any number of records.

use std::collections::HashMap;
use std::mem;

use jiff::Timestamp;

use super::{CommentKind, IssueComment};
use crate::lines::{has_end, has_word};

/// Comments, each once. Adding to them takes time linear in what is added.
#[derive(Default)]
pub struct Comments {
    all: Vec<IssueComment>,
    addresses: HashMap<String, usize>,
    said: HashMap<Who, Said>,
    /// The last record that had each comment. A record has a comment once, so two of one second stay two.
    record_of: Vec<u64>,
    record: u64,
}

/// The comments that differ only by address, in their order.
#[derive(Default)]
struct Said {
    all: Cursor,
    /// Those that came without an address.
    bare: Cursor,
}

/// A list, and the position that the current record has reached in it.
#[derive(Default)]
struct Cursor {
    at: Vec<usize>,
    next: usize,
    record: u64,
}

impl Cursor {
    /// The first of them that is free.
    fn first(&mut self, record: u64, free: impl Fn(usize) -> bool) -> Option<usize> {
        if self.record != record {
            (self.record, self.next) = (record, 0);
        }
        while self.at.get(self.next).is_some_and(|at| !free(*at)) {
            self.next += 1;
        }
        self.at.get(self.next).copied()
    }
}

impl Comments {
    /// Adds the comments of one record.
    pub fn add(&mut self, comments: impl IntoIterator<Item = IssueComment>) {
        self.record += 1;
        for comment in comments {
            match self.find(&comment) {
                Some(at) => {
                    if let Some(url) = &comment.url {
                        self.addresses.insert(url.clone(), at);
                    }
                    merge(&mut self.all[at], comment);
                    self.record_of[at] = self.record;
                }
                None => self.push(comment),
            }
        }
    }

    /// Returns the comments in order of time.
    pub fn sorted(mut self) -> Vec<IssueComment> {
        self.all.sort_by(|left, right| place(left).cmp(&place(right)));
        self.all
    }

    pub fn push(&mut self, comment: IssueComment) {
        let at = self.all.len();
        let said = self.said.entry(Who::from_comment(&comment)).or_default();
        said.all.at.push(at);
        match &comment.url {
            Some(url) => {
                self.addresses.insert(url.clone(), at);
            }
            None => said.bare.at.push(at),
        }
        self.record_of.push(self.record);
        self.all.push(comment);
    }

    /// The comment of which this is another version.
    fn find(&mut self, comment: &IssueComment) -> Option<usize> {
        if let Some(at) = comment.url.as_ref().and_then(|url| self.addresses.get(url)) {
            return Some(*at);
        }
        let said = self.said.get_mut(&Who::from_comment(comment))?;
        let free = |at: usize| self.record_of[at] != self.record;
        let bare = |at: usize| self.all[at].url.is_none();
        let first = said.bare.first(self.record, |at| free(at) && bare(at));
        // Two addresses are two comments.
        if first.is_some() || comment.url.is_some() { first } else { said.all.first(self.record, free) }
    }
}

/// Orders by time; within a second by address, a review before its remarks. Comments without a time come last, in their order.
fn place(comment: &IssueComment) -> impl Ord + '_ {
    let place = (comment.kind, comment.verdict.is_none(), comment.url.as_ref().map(|url| (url.len(), url)));
    (comment.created_at.is_none(), comment.created_at.map(|at| (at, place)))
}

fn merge(here: &mut IssueComment, mut there: IssueComment) {
    let standing = |comment: &IssueComment| (comment.updated_at, comment.body.len());
    if (standing(here), &here.body) < (standing(&there), &there.body) {
        mem::swap(here, &mut there);
    }
    fill(&mut here.author, there.author);
    fill(&mut here.created_at, there.created_at);
    fill(&mut here.updated_at, there.updated_at);
    fill(&mut here.url, there.url);
    fill(&mut here.verdict, there.verdict);
    fill(&mut here.file, there.file);
    fill(&mut here.line, there.line);
    here.bot |= there.bot;
}

/// Takes what `here` lacks from `there`.
pub fn fill<T>(here: &mut Option<T>, there: Option<T>) {
    if here.is_none() {
        *here = there;
    }
}

/// The identity of comments without an address.
#[derive(PartialEq, Eq, Hash)]
struct Who {
    kind: CommentKind,
    /// True for a review; a review and its remarks are often of one second.
    review: bool,
    author: Option<String>,
    at: Option<Timestamp>,
    /// Set only for comments without a time.
    body: Option<String>,
}

impl Who {
    fn from_comment(comment: &IssueComment) -> Self {
        Self {
            kind: comment.kind,
            review: comment.verdict.is_some(),
            author: comment.author.clone(),
            at: comment.created_at,
            body: comment.created_at.is_none().then(|| comment.body.clone()),
        }
    }
}

// Recognises the accounts of programs.

/// Programs that write under a plain account, or whose name some sources give without its `[bot]`: of continuous
/// integration, coverage, dependency updates, contributor agreements and review queues. Lower case.
const WELL_KNOWN: &str = "\
    allcontributors amplabjenkins appveyor asfgit bors bors-servo cla-assistant claassistant codecov \
    codecov-commenter codecov-io coderabbitai copilot coveralls dependabot dependabot-preview easycla \
    gemini-code-assist github-actions googlebot greenkeeper greenkeeperio-bot hadoop-yetus homu houndci-bot \
    linux-foundation-easycla lgtm-com mergify msftbot netlify pre-commit-ci pyup-bot renovate rfcbot rust-highfive \
    rust-log-analyzer rust-timer rustbot snyk-bot sonarcloud sonarqubecloud sparkqa stale travis-ci vercel \
    welcome-bot";

/// Returns `true` if the account `login` belongs to a program: by GitHub's ending `[bot]` or beginning `app/`, by
/// GitLab's names of access tokens (`project_12_bot_1f`, `group_3_bot`), by an ending such as `-bot`, or because it is
/// well known.
pub fn is_bot(login: &str) -> bool {
    let login = login.to_lowercase();
    login.ends_with("[bot]")
        || login.starts_with("app/")
        || has_end(&login, "-bot _bot -robot -ci-bot")
        || is_access_token(&login)
        || has_word(WELL_KNOWN, &login)
}

/// `project_12_bot_1f`, `group_3_bot1`, `service_account_group_7_3c`.
fn is_access_token(login: &str) -> bool {
    let numbered = |rest: &str| {
        let after = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
        after.len() < rest.len() && after.starts_with("_bot")
    };
    login.starts_with("service_account_group_")
        || ["project_", "group_"].iter().any(|start| login.strip_prefix(start).is_some_and(numbered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Issue;

    fn at(text: &str) -> Option<Timestamp> {
        text.parse().ok()
    }

    fn said(author: &str, time: &str, body: &str) -> IssueComment {
        IssueComment { author: Some(author.into()), created_at: at(time), ..IssueComment::new(body) }
    }

    fn bodies(issue: &Issue) -> Vec<&str> {
        issue.comments.iter().map(|comment| comment.body.as_str()).collect()
    }

    #[test]
    fn comments_are_united_by_address_or_by_author_and_time_and_stay_without_a_time() {
        let url = |comment: IssueComment, url: &str| IssueComment { url: Some(url.into()), ..comment };
        let time = "2024-01-01T00:00:00Z";
        let mut issue = Issue::new(1, "A");
        let zero = said("bob", "2023-01-01T00:00:00Z", "zero");
        issue.add_comments([said("ada", time, "one"), said("ada", time, "two"), zero]);
        assert_eq!(bodies(&issue), ["zero", "one", "two"]);
        // The same again, with addresses; then another of that second, at another address.
        issue.add_comments([url(said("ada", time, "one"), "#1"), url(said("ada", time, "two"), "#2")]);
        issue.add_comments([url(said("ada", time, "two, edited"), "#2"), url(said("ada", time, "three"), "#3")]);
        issue.add_comments([said("bob", "2023-01-01T00:00:00Z", "zero"), url(said("ada", time, "three"), "#3")]);
        assert_eq!(bodies(&issue), ["zero", "one", "two, edited", "three"]);
        let mut issue = Issue::new(1, "A");
        issue.add_comments(["c", "a", "b", "a"].map(IssueComment::new));
        issue.add_comments([said("ada", "2024-01-01T00:00:00Z", "first")]);
        assert_eq!(bodies(&issue), ["first", "c", "a", "b", "a"]);
    }

    #[test]
    fn programs_differ_from_people() {
        for login in [
            "dependabot[bot]", "Renovate[bot]", "app/dependabot", "github-actions", "codecov-io", "CLAassistant",
            "rust-log-analyzer", "k8s-ci-robot", "gitlab-bot", "project_12_bot_1f09", "group_3_bot1",
        ] {
            assert!(is_bot(login), "{login}");
        }
        for login in
            ["talbot", "abbott", "robotnik", "ada", "", "bot-fan", "project_manager", "group_12_people", "Žofie"]
        {
            assert!(!is_bot(login), "{login}");
        }
    }
}
