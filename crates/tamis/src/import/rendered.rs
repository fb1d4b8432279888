//! The whole text of an imported document, put together from its record.

use super::ISSUES;
use crate::Error;
use crate::index::Index;
use tamis_store::Store;
use tamis_text::Issue;

impl Index {
    /// The text of an imported document whose lines its passages count; `None` for one that is all in its passages.
    pub(crate) fn rendered(&self, namespace: &str, path: &str) -> Result<Option<String>, Error> {
        let state = self.store.document(namespace, path)?;
        let Some(state) = state.filter(|state| state.origin.is_some() && state.collection == ISSUES) else {
            return Ok(None);
        };
        let record = self.store.records(&[state.document])?.pop().flatten();
        let issue = record.and_then(|record| serde_json::from_str::<Issue>(&record).ok());
        Ok(issue.map(|issue| issue.rendered()))
    }
}
