//! Issues of the index by number, as they were imported.

use tamis_store::{DocumentId, Filter};
use tamis_text::Issue;

use crate::Error;
use crate::collections::ISSUES;
use crate::search::{Context, Scope};

/// An issue of the index.
#[derive(Clone, Debug)]
pub(crate) struct StoredIssue {
    pub document: DocumentId,
    pub issue: Issue,
}

/// The issue with a number: from the first namespace of the scope if that has one, or else from the only other that
/// does.
pub(crate) fn issue(context: &Context<'_>, number: u64, scope: &Scope) -> Result<StoredIssue, Error> {
    let path = Issue::path(number);
    let (first, others) = scope.names.split_at(if scope.shared.is_empty() { scope.names.len() } else { 1 });
    let mut document = None;
    for round in [first, others] {
        let mut found = Vec::new();
        for namespace in round {
            let there =
                context.index.store.document(namespace, &path)?.filter(|document| document.collection == ISSUES);
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
        for namespace in &scope.names {
            if context.index.store.documents(namespace)?.iter().any(|document| document.collection == ISSUES) {
                return Err(Error::NotFound { wanted: format!("issue {number}"), nearest: None });
            }
        }
        return Err(Error::NoIssues { number });
    };
    let issue = issue_records(context, scope, &[document])?.pop().flatten();
    let issue = issue.ok_or_else(|| Error::NotFound { wanted: format!("record of issue {number}"), nearest: None })?;
    Ok(StoredIssue { document, issue })
}

/// Returns issues of a scope as they were imported, in the requested order; `None` if the record is missing or not an issue.
pub(crate) fn issue_records(
    context: &Context<'_>,
    scope: &Scope,
    documents: &[DocumentId],
) -> Result<Vec<Option<Issue>>, Error> {
    let records = context.index.store.records(&scope.of_all(&Filter::default()).namespaces, documents)?;
    Ok(records.into_iter().map(|record| serde_json::from_str(&record?).ok()).collect())
}
