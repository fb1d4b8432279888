//! What an import from GitHub did.

use crate::RunReport;
use crate::import::{ImportSummary, UnreadableRecord};
use jiff::Timestamp;
use serde::Serialize;

/// What an import from GitHub did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GithubReport {
    /// The repository as it was asked for.
    pub repository: String,
    /// Where the documents say that they come from.
    pub origin: String,
    /// The namespace they are in.
    pub namespace: String,
    /// The repository's name now, or its address, where it was renamed or moved.
    pub moved_to: Option<String>,
    /// Why everything was read again, where that was not asked for and a run went before.
    pub anew: Option<String>,
    /// Issues and pull requests that are new.
    pub added: u64,
    /// Those that are others now, be it by a comment.
    pub updated: u64,
    /// Those that came again as they were.
    pub unchanged: u64,
    /// Comments, reviews and remarks of reviews that are new or others now.
    pub comments: u64,
    /// Passages written.
    pub passages: u64,
    /// Issues and pull requests that the request leaves out.
    pub left_out: u64,
    /// Comments of issues that are not in the index.
    pub without_issue: u64,
    /// Pull requests whose reviews were read.
    pub reviewed: u64,
    /// Issues and pull requests of which something is still to be asked for, by the next import.
    pub pending: u64,
    /// Issues and pull requests that were there in the list and not when they were asked for: deleted or moved away.
    pub gone: u64,
    /// What the server sent that is no issue and no comment, and was left out.
    pub bad: Vec<UnreadableRecord>,
    /// Requests that were answered.
    pub requests: u64,
    /// Those answered by "not changed".
    pub not_modified: u64,
    /// Requests left before the limit begins anew, as the server said it last.
    pub remaining_requests: Option<u64>,
    /// Seconds waited at limits and after failures.
    pub waited_seconds: f64,
    /// How long it all took, in milliseconds.
    pub elapsed_ms: f64,
    /// Why the import ended before it was done; what was read is kept.
    pub stopped: Option<Stopped>,
    /// What was published and embedded afterwards.
    pub run: RunReport,
}

/// Why an import ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Stopped {
    /// Somebody stopped it.
    Interrupted,
    /// The server wants no request before then, which is longer than `github.max_wait_minutes`.
    RateLimit {
        /// When to go on.
        until: Timestamp,
    },
}

impl GithubReport {
    /// Whether it changed anything.
    pub fn changed_anything(&self) -> bool {
        self.added + self.updated > 0
    }

    pub(super) fn add(&mut self, summary: ImportSummary) {
        self.added += summary.added;
        self.updated += summary.updated;
        self.unchanged += summary.unchanged + summary.older;
        self.comments += summary.comments;
        self.passages += summary.passages;
        self.without_issue += summary.without_issue.values().sum::<u64>();
        self.bad.extend(summary.bad);
    }
}
