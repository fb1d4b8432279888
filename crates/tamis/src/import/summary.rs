//! The summary of an import.

use crate::Error;
use crate::error::UnreadableRecord;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// The result of an import, or with [`ImportSummary::dry_run`] the expected result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportSummary {
    /// The origin of the documents.
    pub origin: String,
    /// The namespace of the documents.
    pub namespace: String,
    /// The collection: `issues`, `wiki`, `sessions` or `evidence`.
    pub collection: String,
    /// New documents. Records of evidence count by the same rules.
    pub added: u64,
    /// Changed documents.
    pub updated: u64,
    /// Unchanged documents.
    pub unchanged: u64,
    /// Documents with a later state in the index, which stays.
    pub older: u64,
    /// New or changed comments of issues, including those of new issues.
    pub comments: u64,
    /// Passages that were written.
    pub passages: u64,
    /// Records of evidence by kind: `task`, `work`, `page`, `fragment`, `claim`, `edge`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub records: BTreeMap<String, RecordCounts>,
    /// Comments left out because their issue is neither given nor stored, by the issue's number.
    pub without_issue: BTreeMap<u64, u64>,
    /// Records of a kind that is not imported, by kind, such as redirects and repeated turns.
    pub left_out: BTreeMap<String, u64>,
    /// Unreadable records that were left out.
    pub bad: Vec<UnreadableRecord>,
    /// True if nothing was changed and this is the expected result.
    pub dry_run: bool,
    /// True if the import was stopped before it changed anything.
    pub interrupted: bool,
    /// Milliseconds by stage.
    pub timings_ms: BTreeMap<String, f64>,
}

impl ImportSummary {
    /// Returns `true` if the import changed anything, or with [`ImportSummary::dry_run`] would change it.
    pub fn changed_anything(&self) -> bool {
        self.added + self.updated > 0
    }

    /// Returns the number of given documents.
    pub fn documents(&self) -> u64 {
        self.added + self.updated + self.unchanged + self.older
    }

    /// Returns the summary of the same import, stopped before it changed anything.
    pub(crate) fn stopped(self) -> ImportSummary {
        let ImportSummary { origin, namespace, collection, dry_run, timings_ms, .. } = self;
        ImportSummary { origin, namespace, collection, dry_run, timings_ms, interrupted: true, ..Self::default() }
    }

    pub(crate) fn time(&mut self, stage: &str, since: Instant) {
        *self.timings_ms.entry(stage.to_owned()).or_default() += since.elapsed().as_secs_f64() * 1000.0;
    }
}

/// The result of an import for records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecordCounts {
    /// New records.
    pub added: u64,
    /// Changed records.
    pub updated: u64,
    /// Unchanged records.
    pub unchanged: u64,
}

/// Returns the unreadable records of an import if they may be left out.
///
/// # Errors
/// A record is unreadable and must not be left out.
pub(crate) fn refuse(bad: Vec<UnreadableRecord>, skip: bool) -> Result<Vec<UnreadableRecord>, Error> {
    if bad.is_empty() || skip { Ok(bad) } else { Err(Error::Unreadable { records: bad }) }
}
