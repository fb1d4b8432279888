//! The content of the store, to compare before and after.

use tamis::Index;
use tamis::import::ImportSummary;

/// Everything that the store holds of every namespace, to the byte.
pub fn listing(index: &Index) -> Vec<String> {
    let mut lines = Vec::new();
    for namespace in index.contents().namespaces().expect("namespaces") {
        lines.push(format!("{namespace:?}"));
        for document in index.contents().documents(&namespace.name).expect("documents") {
            let records = index.contents().records(&[document.document]).expect("records");
            let attributes = index.contents().attributes(&[document.document]).expect("attributes");
            let passages = index.contents().document_passages(&namespace.name, &document.path).expect("passages");
            lines.push(format!("{document:?} {records:?} {attributes:?} {passages:?}"));
        }
    }
    lines
}

/// Added, updated, unchanged, older.
pub fn counts(summary: &ImportSummary) -> (u64, u64, u64, u64) {
    (summary.added, summary.updated, summary.unchanged, summary.older)
}
