//! The summary of an import.

use crate::Error;
use crate::error::UnreadableRecord;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// What an import did, or with [`ImportSummary::dry_run`] would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportSummary {
    /// Where the documents came from.
    pub origin: String,
    /// The namespace they are in.
    pub namespace: String,
    /// The collection: `issues`, `wiki`, `sessions` or `evidence`.
    pub collection: String,
    /// Documents that are new; of evidence records, as below.
    pub added: u64,
    /// Documents that are others now.
    pub updated: u64,
    /// Documents that are as they were.
    pub unchanged: u64,
    /// Documents of which the index has a later state, which stays.
    pub older: u64,
    /// Comments of issues that are new or others now, those of new issues counted.
    pub comments: u64,
    /// Passages written.
    pub passages: u64,
    /// Records of evidence by kind: `task`, `work`, `page`, `fragment`, `claim`, `edge`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub records: BTreeMap<String, RecordCounts>,
    /// Comments whose issue is neither given nor stored, and which are left out, by its number.
    pub without_issue: BTreeMap<u64, u64>,
    /// Records that are none of what is imported and were left out, by kind: pages that only lead to another, turns that
    /// came twice.
    pub left_out: BTreeMap<String, u64>,
    /// Records that could not be read and were left out.
    pub bad: Vec<UnreadableRecord>,
    /// Nothing was changed: this is what an import would do.
    pub dry_run: bool,
    /// The import was stopped before it changed anything.
    pub interrupted: bool,
    /// Milliseconds by stage.
    pub timings_ms: BTreeMap<String, f64>,
}

impl ImportSummary {
    /// Returns `true` if it changed anything, or with [`ImportSummary::dry_run`] would.
    pub fn changed_anything(&self) -> bool {
        self.added + self.updated > 0
    }

    /// Documents given.
    pub fn documents(&self) -> u64 {
        self.added + self.updated + self.unchanged + self.older
    }

    /// The same import, stopped before it changed anything.
    pub(crate) fn stopped(self) -> ImportSummary {
        let ImportSummary { origin, namespace, collection, dry_run, timings_ms, .. } = self;
        ImportSummary { origin, namespace, collection, dry_run, timings_ms, interrupted: true, ..Self::default() }
    }

    pub(crate) fn time(&mut self, stage: &str, since: Instant) {
        *self.timings_ms.entry(stage.to_owned()).or_default() += since.elapsed().as_secs_f64() * 1000.0;
    }
}

/// What an import did to records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecordCounts {
    /// Records that are new.
    pub added: u64,
    /// Records that are others now.
    pub updated: u64,
    /// Records that are as they were.
    pub unchanged: u64,
}

/// The unreadable records of an import, where they are to be left out.
///
/// # Errors
/// There are some, and they are not to be left out.
pub(crate) fn refuse(bad: Vec<UnreadableRecord>, skip: bool) -> Result<Vec<UnreadableRecord>, Error> {
    if bad.is_empty() || skip { Ok(bad) } else { Err(Error::Unreadable { records: bad }) }
}
