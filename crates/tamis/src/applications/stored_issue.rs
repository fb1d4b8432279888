//! Issues of the index by their number, as they were given.

use crate::Error;
use crate::collections::ISSUES;
use crate::search::Scope;
use crate::search::Searcher;
use tamis_store::DocumentId;
use tamis_text::Issue;

/// An issue of the index.
#[derive(Clone, Debug)]
pub(crate) struct StoredIssue {
    pub document: DocumentId,
    pub issue: Issue,
}

impl Searcher<'_> {
    /// The issue of a number: in the first namespace of the scope where that has one, else in the only other that does.
    pub(crate) fn issue(&self, number: u64, scope: &Scope) -> Result<StoredIssue, Error> {
        let path = Issue::path(number);
        let (first, others) = scope.names.split_at(if scope.shared.is_empty() { scope.names.len() } else { 1 });
        let mut document = None;
        for round in [first, others] {
            let mut found = Vec::new();
            for namespace in round {
                let there =
                    self.index.store.document(namespace, &path)?.filter(|document| document.collection == ISSUES);
                found.extend(there.map(|there| (namespace, there.document)));
            }
            match found.as_slice() {
                [] => continue,
                [(_, only)] => document = Some(*only),
                several => {
                    let forms = several.iter().map(|(namespace, _)| (*namespace).clone()).collect();
                    return Err(Error::Ambiguous { wanted: format!("issue {number}"), forms });
                }
            }
            break;
        }
        let Some(document) = document else {
            let wanted = format!("issue {number}");
            return Err(Error::NotFound { wanted, nearest: None });
        };
        let issue = self.issue_records(&[document])?.pop().flatten();
        let issue =
            issue.ok_or_else(|| Error::NotFound { wanted: format!("record of issue {number}"), nearest: None })?;
        Ok(StoredIssue { document, issue })
    }

    /// Issues as they were given, in the order asked for; `None` for one whose record is gone or is not one of an issue.
    pub(crate) fn issue_records(&self, documents: &[DocumentId]) -> Result<Vec<Option<Issue>>, Error> {
        let records = self.index.store.records(documents)?;
        Ok(records.into_iter().map(|record| serde_json::from_str(&record?).ok()).collect())
    }
}
