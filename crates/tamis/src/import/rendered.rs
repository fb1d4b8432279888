//! The whole text of an imported document, put together from its record.

use super::ISSUES;
use crate::Error;
use crate::index::Index;
use tamis_store::{Claim, EVIDENCE_COLLECTION, EvidenceKey, EvidenceRecord, Fragment};
use tamis_text::Issue;

impl Index {
    /// The text of an imported document whose lines its passages count; `None` for one that is all in its passages.
    pub(crate) fn rendered(&self, namespace: &str, path: &str) -> Result<Option<String>, Error> {
        let state = self.store.document(namespace, path)?;
        let Some(state) = state.filter(|state| state.origin.is_some()) else { return Ok(None) };
        if state.collection == EVIDENCE_COLLECTION {
            let Some(key) = EvidenceKey::of_path(path) else { return Ok(None) };
            let record = self.store.evidence_at(namespace, &[key])?.pop().flatten();
            let text = |record| match record {
                EvidenceRecord::Fragment(Fragment { text, .. }) | EvidenceRecord::Claim(Claim { text, .. }) => {
                    Some(text)
                }
                _ => None,
            };
            return Ok(record.and_then(text));
        }
        if state.collection != ISSUES {
            return Ok(None);
        }
        let record = self.store.records(&[state.document])?.pop().flatten();
        let issue = record.and_then(|record| serde_json::from_str::<Issue>(&record).ok());
        Ok(issue.map(|issue| issue.rendered()))
    }
}
