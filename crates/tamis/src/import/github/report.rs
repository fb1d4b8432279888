//! The report of an import from GitHub.

use crate::error::UnreadableRecord;
use crate::import::ImportSummary;
use crate::index::RunReport;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::HashMap;
use tamis_store::DocumentState;

/// The result of an import from GitHub.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GithubReport {
    /// The requested repository.
    pub repository: String,
    /// The origin of the documents.
    pub origin: String,
    /// The namespace of the documents.
    pub namespace: String,
    /// The repository's present name or address, if it was renamed or moved.
    pub moved_to: Option<String>,
    /// The reason why everything was read again, if that was not requested and an earlier run exists.
    pub anew: Option<String>,
    /// New issues and pull requests.
    pub added: u64,
    /// Changed issues and pull requests; a new comment counts as a change.
    pub updated: u64,
    /// Unchanged issues and pull requests.
    pub unchanged: u64,
    /// New or changed comments, reviews and review comments.
    pub comments: u64,
    /// Passages of new or changed issues and pull requests.
    pub passages: u64,
    /// Issues and pull requests that the request excludes.
    pub left_out: u64,
    /// Comments of issues outside the index.
    pub without_issue: u64,
    /// Pull requests whose reviews were read.
    pub reviewed: u64,
    /// Issues and pull requests with details left for the next import.
    pub pending: u64,
    /// Issues and pull requests that were in the list but missing later: deleted or moved away.
    pub gone: u64,
    /// Records from the server that are neither issues nor comments, and were left out.
    pub bad: Vec<UnreadableRecord>,
    /// Answered requests.
    pub requests: u64,
    /// Requests answered by "not changed".
    pub not_modified: u64,
    /// Requests left before the limit resets, by the server's latest answer.
    pub remaining_requests: Option<u64>,
    /// Seconds waited at limits and after failures.
    pub waited_seconds: f64,
    /// Duration of the import, in milliseconds.
    pub elapsed_ms: f64,
    /// The reason why the import ended early. Everything read before is kept.
    pub stopped: Option<Stopped>,
    /// The publishing and embedding afterwards.
    pub run: RunReport,
}

/// The reason why an import ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Stopped {
    /// The caller stopped it.
    Interrupted,
    /// The server wants a longer wait than [`GithubImport::max_wait`](super::GithubImport::max_wait).
    RateLimit {
        /// The time to continue.
        until: Timestamp,
    },
}

impl GithubReport {
    /// Returns `true` if the import changed anything.
    pub fn changed_anything(&self) -> bool {
        self.added + self.updated > 0
    }

    /// Counts the changes to the issues of the origin. `before` has the hash of each issue before the import. Pages bring an
    /// issue more than once, and its comments separately, but it counts once.
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

    /// Adds the counts of one page, except those of issues.
    pub(super) fn add(&mut self, summary: ImportSummary) {
        self.comments += summary.comments;
        self.without_issue += summary.without_issue.values().sum::<u64>();
        self.bad.extend(summary.bad);
    }
}
