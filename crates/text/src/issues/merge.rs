//! Two records of one issue become one.

use std::mem;

use super::comments::{Comments, fill};
use super::{Issue, IssueComment, IssueState};

impl Issue {
    /// Merges another record of the same issue. The later update wins, and the comments of both are kept. Gaps of the
    /// later record (an author, a date, an address) are filled from the earlier one. The order of the two makes no
    /// difference: of two records with the same time, the more complete one wins. Takes time linear in the number of
    /// comments, except for sorting them.
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

    /// Adds comments, sorts all by time and drops repetitions: a comment at the same address or, if one of the two has
    /// no address, one of the same kind by the same author at the same time. Of two versions of a comment the later one
    /// is kept.
    pub fn add_comments(&mut self, comments: impl IntoIterator<Item = IssueComment>) {
        let mut all = Comments::from(mem::take(&mut self.comments));
        all.add(comments);
        self.comments = all.sorted();
    }
}

/// The rank of a record: a later update first, then a more complete record.
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

fn fill_text(here: &mut String, there: String) {
    if here.is_empty() {
        *here = there;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_that_was_opened_again_is_not_closed_at_the_old_time() {
        let closed_at = "2024-01-01T00:00:00Z".parse().ok();
        let closed = Issue { state: IssueState::Closed, closed_at, updated_at: closed_at, ..Issue::new(1, "A") };
        let mut issue = Issue { updated_at: "2024-03-01T00:00:00Z".parse().ok(), ..Issue::new(1, "A") };
        issue.merge(closed);
        assert_eq!((issue.state, issue.closed_at), (IssueState::Open, None));
    }
}
