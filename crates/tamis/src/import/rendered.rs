//! The whole text of an imported document, built from its record.

use super::Imports;
use crate::Error;
use crate::collections::ISSUES;
use tamis_text::Issue;

impl Imports<'_> {
    /// Returns the text of an imported document if the line numbers of its passages refer to it. `None` if the passages hold the
    /// whole text.
    pub(crate) fn rendered(&self, namespace: &str, path: &str) -> Result<Option<String>, Error> {
        let state = self.index.store.document(namespace, path)?;
        let Some(state) = state.filter(|state| state.origin.is_some()) else { return Ok(None) };
        #[cfg(feature = "evidence")]
        if state.collection == tamis_store::EVIDENCE_COLLECTION {
            return self.evidence_text(namespace, path);
        }
        if state.collection != ISSUES {
            return Ok(None);
        }
        let record =
            self.index.store.records(std::slice::from_ref(&state.namespace), &[state.document])?.pop().flatten();
        let issue = record.and_then(|record| serde_json::from_str::<Issue>(&record).ok());
        Ok(issue.map(|issue| issue.rendered()))
    }

    /// Returns the text of a fragment or a claim.
    #[cfg(feature = "evidence")]
    fn evidence_text(&self, namespace: &str, path: &str) -> Result<Option<String>, Error> {
        use tamis_store::{Claim, EvidenceKey, EvidenceRecord, Fragment};
        let Some(key) = EvidenceKey::of_path(path) else { return Ok(None) };
        let record = self.index.store.evidence_at(namespace, &[key])?.pop().flatten();
        Ok(record.and_then(|record| match record {
            EvidenceRecord::Fragment(Fragment { text, .. }) | EvidenceRecord::Claim(Claim { text, .. }) => Some(text),
            _ => None,
        }))
    }
}
