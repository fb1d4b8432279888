//! The report of an import from GitHub.

use crate::error::UnreadableRecord;
use crate::import::ImportSummary;
use crate::index::RunReport;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::HashMap;
use tamis_store::DocumentState;

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
    /// The reason why everything was read again, where that was not asked for and a run went before.
    pub anew: Option<String>,
    /// Issues and pull requests that are new.
    pub added: u64,
    /// Those that were there and are others now, be it by a comment.
    pub updated: u64,
    /// Those that are as they were.
    pub unchanged: u64,
    /// Comments, reviews and remarks of reviews that are new or others now.
    pub comments: u64,
    /// Passages of what is new or another now.
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
    /// The reason why the import ended before it was done; what was read is kept.
    pub stopped: Option<Stopped>,
    /// What was published and embedded afterwards.
    pub run: RunReport,
}

/// The reason why an import ended before it was done.
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
    /// Returns `true` if it changed anything.
    pub fn changed_anything(&self) -> bool {
        self.added + self.updated > 0
    }

    /// Counts what became of the issues of the origin, of which `before` has the hash of each before the import. Pages bring an
    /// issue more than once, and its comments apart from it; it is one issue all the same.
    pub(super) fn compare(&mut self, before: &HashMap<String, [u8; 32]>, after: &[DocumentState]) {
        for document in after.iter().filter(|document| document.origin.as_ref() == Some(&self.origin)) {
            let counter = match before.get(&document.path) {
                None => &mut self.added,
                Some(hash) if *hash != document.content_hash => &mut self.updated,
                Some(_) => {
                    self.unchanged += 1;
                    continue;
                }
            };
            *counter += 1;
            self.passages += u64::from(document.passages);
        }
    }

    /// Adds what one page came to, but for what becomes of issues.
    pub(super) fn add(&mut self, summary: ImportSummary) {
        self.comments += summary.comments;
        self.without_issue += summary.without_issue.values().sum::<u64>();
        self.bad.extend(summary.bad);
    }
}
