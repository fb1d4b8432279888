//! The comments of one issue, gathered from any number of records.

use std::collections::HashMap;
use std::mem;

use jiff::Timestamp;

use super::{CommentKind, IssueComment};

/// Comments, each once. Adding to them takes time linear in what is added.
#[derive(Default)]
pub(super) struct Comments {
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

impl From<Vec<IssueComment>> for Comments {
    fn from(all: Vec<IssueComment>) -> Self {
        let mut comments = Self { record: 1, ..Self::default() };
        for comment in all {
            comments.push(comment);
        }
        comments
    }
}

impl Comments {
    /// Adds the comments of one record.
    pub(super) fn add(&mut self, comments: impl IntoIterator<Item = IssueComment>) {
        self.record += 1;
        for comment in comments {
            match self.find(&comment).and_then(|at| Some((at, self.all.get_mut(at)?))) {
                Some((at, here)) => {
                    if let Some(url) = &comment.url {
                        self.addresses.insert(url.clone(), at);
                    }
                    merge(here, comment);
                    if let Some(record) = self.record_of.get_mut(at) {
                        *record = self.record;
                    }
                }
                None => self.push(comment),
            }
        }
    }

    /// Returns the comments in order of time.
    pub(super) fn sorted(mut self) -> Vec<IssueComment> {
        self.all.sort_by(order);
        self.all
    }

    fn push(&mut self, comment: IssueComment) {
        let at = self.all.len();
        let said = self.said.entry(Who::said(&comment)).or_default();
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
        let said = self.said.get_mut(&Who::said(comment))?;
        let (all, record_of, record) = (&self.all, &self.record_of, self.record);
        let free = |at: usize| record_of.get(at) != Some(&record);
        let bare = |at: usize| all.get(at).is_some_and(|comment| comment.url.is_none());
        let first = said.bare.first(record, |at| free(at) && bare(at));
        // Two addresses are two comments.
        if first.is_some() || comment.url.is_some() { first } else { said.all.first(record, free) }
    }
}

/// Orders by time; within a second by address, a review before its remarks. Comments without a time come last, in their order.
fn order(left: &IssueComment, right: &IssueComment) -> std::cmp::Ordering {
    fn key(comment: &IssueComment) -> impl Ord + '_ {
        let place = (comment.kind, comment.verdict.is_none(), comment.url.as_ref().map(|url| (url.len(), url)));
        (comment.created_at.is_none(), comment.created_at.map(|at| (at, place)))
    }
    key(left).cmp(&key(right))
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
pub(super) fn fill<T>(here: &mut Option<T>, there: Option<T>) {
    if here.is_none() {
        *here = there;
    }
}

/// The identity of comments without an address.
#[derive(PartialEq, Eq, Hash, Clone)]
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
}
