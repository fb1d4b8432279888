//! What the store holds, to compare before and after.

use tamis::{ImportSummary, Index};

/// All that the store holds of every namespace, to the byte.
pub fn listing(index: &Index) -> Vec<String> {
    let mut lines = Vec::new();
    for namespace in index.store().namespaces().expect("namespaces") {
        lines.push(format!("{namespace:?}"));
        for document in index.store().documents(&namespace.name).expect("documents") {
            let records = index.store().records(&[document.document]).expect("records");
            let attributes = index.store().attributes(&[document.document]).expect("attributes");
            let passages = index.store().document_passages(&namespace.name, &document.path).expect("passages");
            lines.push(format!("{document:?} {records:?} {attributes:?} {passages:?}"));
        }
    }
    lines
}

/// Added, updated, unchanged, older.
pub fn counts(summary: &ImportSummary) -> (u64, u64, u64, u64) {
    (summary.added, summary.updated, summary.unchanged, summary.older)
}
