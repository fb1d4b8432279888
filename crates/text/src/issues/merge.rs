//! Two records of one issue become one.

use std::collections::HashMap;
use std::mem;

use jiff::Timestamp;

use super::{CommentKind, Issue, IssueComment, IssueState};

impl Issue {
    /// Takes in another record of the same issue: what was updated later holds, and the comments of both are kept.
    ///
    /// What the later record leaves out (an author, a date, an address) is taken from the earlier one. Which of the two
    /// is `self` makes no difference, also where both are of one time: then the one that says more holds. Takes time
    /// linear in the number of comments, but for their sorting.
    pub fn merge(&mut self, mut other: Issue) {
        if standing(self) < standing(&other) {
            mem::swap(self, &mut other);
        }
        let same_time = self.updated_at == other.updated_at || other.updated_at.is_none();
        if same_time {
            fill_text(&mut self.body, other.body);
            if self.labels.is_empty() {
                self.labels = other.labels;
            }
            fill(&mut self.milestone, other.milestone);
        }
        if self.state == other.state {
            fill(&mut self.closed_at, other.closed_at);
            fill(&mut self.state_reason, other.state_reason);
        }
        if self.state == IssueState::Merged {
            fill(&mut self.merged_at, other.merged_at);
        }
        fill(&mut self.author, other.author);
        fill(&mut self.created_at, other.created_at);
        fill(&mut self.updated_at, other.updated_at);
        fill(&mut self.url, other.url);
        self.bot |= other.bot;
        self.add_comments(other.comments);
    }

    /// Adds comments, brings all into the order of time and leaves out what is there already: a comment at the same
    /// address, or where one of the two has none, one of the same kind by the same author at the same time. Of two versions of
    /// a comment the later one holds.
    pub fn add_comments(&mut self, comments: impl IntoIterator<Item = IssueComment>) {
        let mut known = Known::new(&self.comments);
        for comment in comments {
            match known.find(&comment) {
                Some(at) => merge_comment(&mut self.comments[at], comment),
                None => {
                    known.note_address(self.comments.len(), &comment);
                    self.comments.push(comment);
                }
            }
        }
        self.comments.sort_by(order);
    }
}

/// By time, and what is of one second by address, a review before its remarks. What has no time comes last, as it was given.
fn order(left: &IssueComment, right: &IssueComment) -> std::cmp::Ordering {
    fn key(comment: &IssueComment) -> impl Ord + '_ {
        let place = (comment.kind, comment.verdict.is_none(), comment.url.as_ref().map(|url| (url.len(), url)));
        (comment.created_at.is_none(), comment.created_at.map(|at| (at, place)))
    }
    key(left).cmp(&key(right))
}

/// How much a record has to say: the later it was updated the more, then the more complete it is.
fn standing(issue: &Issue) -> impl Ord + '_ {
    let given = [
        issue.author.is_some(),
        issue.created_at.is_some(),
        issue.closed_at.is_some(),
        issue.merged_at.is_some(),
        issue.url.is_some(),
    ];
    let known = given.iter().filter(|given| **given).count() + issue.labels.len();
    (issue.updated_at, issue.state, issue.body.len(), known, &issue.title, &issue.body, &issue.labels)
}

fn fill<T>(here: &mut Option<T>, there: Option<T>) {
    if here.is_none() {
        *here = there;
    }
}

fn fill_text(here: &mut String, there: String) {
    if here.is_empty() {
        *here = there;
    }
}

fn merge_comment(here: &mut IssueComment, mut there: IssueComment) {
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

/// What tells comments apart that carry no address.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Who {
    kind: CommentKind,
    /// A review and its remarks are often of one second.
    review: bool,
    author: Option<String>,
    at: Option<Timestamp>,
    /// Only where there is no time.
    body: Option<String>,
}

impl Who {
    fn said(comment: &IssueComment) -> Self {
        Self {
            kind: comment.kind,
            review: comment.verdict.is_some(),
            author: comment.author.clone(),
            at: comment.created_at,
            body: comment.created_at.is_none().then(|| comment.body.clone()),
        }
    }
}

/// The comments of one record. One without an address is found once, so that two of one second stay two.
struct Known {
    addresses: HashMap<String, usize>,
    /// By what else tells them apart, last first: those without an address, and those with one.
    without: HashMap<Who, Vec<usize>>,
    with: HashMap<Who, Vec<usize>>,
    taken: Vec<bool>,
}

impl Known {
    fn new(comments: &[IssueComment]) -> Self {
        let mut known = Self {
            addresses: HashMap::new(),
            without: HashMap::new(),
            with: HashMap::new(),
            taken: vec![false; comments.len()],
        };
        for (at, comment) in comments.iter().enumerate().rev() {
            let others = if comment.url.is_some() { &mut known.with } else { &mut known.without };
            others.entry(Who::said(comment)).or_default().push(at);
            known.note_address(at, comment);
        }
        known
    }

    fn note_address(&mut self, at: usize, comment: &IssueComment) {
        if let Some(url) = &comment.url {
            self.addresses.insert(url.clone(), at);
        }
    }

    /// Which of the comments this is another version of.
    fn find(&mut self, comment: &IssueComment) -> Option<usize> {
        let same_address = comment.url.as_ref().and_then(|url| self.addresses.get(url).copied());
        let at = same_address.or_else(|| {
            let who = Who::said(comment);
            let first = first_left(&mut self.without, &who, &self.taken);
            // Two addresses are two comments.
            first.or_else(|| first_left(&mut self.with, &who, &self.taken).filter(|_| comment.url.is_none()))
        })?;
        if let Some(taken) = self.taken.get_mut(at) {
            *taken = true;
        }
        self.note_address(at, comment);
        Some(at)
    }
}

/// The first of those that were said so and are not taken. Looks at each once, however often it is asked.
fn first_left(others: &mut HashMap<Who, Vec<usize>>, who: &Who, taken: &[bool]) -> Option<usize> {
    let left = others.get_mut(who)?;
    while left.last().is_some_and(|at| taken.get(*at) == Some(&true)) {
        left.pop();
    }
    left.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_later_record_holds_whichever_comes_first() {
        let old = Issue {
            body: "It hangs.".into(),
            author: Some("ada".into()),
            updated_at: at("2024-01-01T00:00:00Z"),
            ..Issue::new(1, "Hang")
        };
        let new = Issue {
            body: "It hängt.".into(),
            state: IssueState::Closed,
            updated_at: at("2024-02-01T00:00:00Z"),
            ..Issue::new(1, "Hang at start")
        };
        let mut one = old.clone();
        one.merge(new.clone());
        let mut other = new;
        other.merge(old);
        assert_eq!(one, other);
        assert_eq!(
            (one.title.as_str(), one.body.as_str(), one.state),
            ("Hang at start", "It hängt.", IssueState::Closed)
        );
        assert_eq!(one.author.as_deref(), Some("ada"));
    }

    #[test]
    fn an_issue_that_was_opened_again_is_not_closed_at_the_old_time() {
        let closed_at = at("2024-01-01T00:00:00Z");
        let closed = Issue { state: IssueState::Closed, closed_at, updated_at: closed_at, ..Issue::new(1, "A") };
        let mut issue = Issue { updated_at: at("2024-03-01T00:00:00Z"), ..Issue::new(1, "A") };
        issue.merge(closed);
        assert_eq!((issue.state, issue.closed_at), (IssueState::Open, None));
    }

    #[test]
    fn comments_are_united_by_address_or_by_author_and_time() {
        let url = |comment: IssueComment, url: &str| IssueComment { url: Some(url.into()), ..comment };
        let time = "2024-01-01T00:00:00Z";
        let mut issue = Issue::new(1, "A");
        issue.add_comments([
            said("ada", time, "one"),
            said("ada", time, "two"),
            said("bob", "2023-01-01T00:00:00Z", "zero"),
        ]);
        assert_eq!(bodies(&issue), ["zero", "one", "two"]);
        // The same again, with addresses; then another of that second, at another address.
        issue.add_comments([url(said("ada", time, "one"), "#1"), url(said("ada", time, "two"), "#2")]);
        issue.add_comments([url(said("ada", time, "two, edited"), "#2"), url(said("ada", time, "three"), "#3")]);
        issue.add_comments([said("bob", "2023-01-01T00:00:00Z", "zero"), url(said("ada", time, "three"), "#3")]);
        assert_eq!(bodies(&issue), ["zero", "one", "two, edited", "three"]);
    }

    #[test]
    fn comments_without_a_time_stay_as_they_were_given() {
        let mut issue = Issue::new(1, "A");
        issue.add_comments(["c", "a", "b", "a"].map(IssueComment::new));
        issue.add_comments([said("ada", "2024-01-01T00:00:00Z", "first")]);
        assert_eq!(bodies(&issue), ["first", "c", "a", "b", "a"]);
    }

    #[test]
    fn a_page_that_comes_twice_adds_nothing() {
        let page = || (0..50).map(|n| IssueComment { url: Some(format!("#{n}")), ..IssueComment::new("same") });
        let mut issue = Issue::new(1, "A");
        issue.add_comments(page().chain(page()));
        issue.add_comments(page());
        assert_eq!(issue.comments.len(), 50);
    }
}
