//! Imports that are stopped. What they take in, refuse and take out is a transcript.

use crate::support::indexed_notes;
use std::sync::atomic::{AtomicBool, Ordering};
use tamis::import::IssueImport;
use tamis::{Index, Observer, Stage};
use tamis_text::Issue;

/// Everything that the store holds of every namespace, to the byte.
fn listing(index: &Index) -> Vec<String> {
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

/// Asks to stop as soon as the import has begun.
#[derive(Default)]
struct Stop(AtomicBool);

impl Observer for Stop {
    fn stage(&self, stage: Stage, _: u64) {
        self.0.fetch_or(stage == Stage::Import, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn an_import_that_is_stopped_or_dry_or_the_same_again_changes_not_a_byte() {
    let (_tree, index) = indexed_notes(&[]);
    let issues = vec![Issue::new(3, "The dashboard is late"), Issue::new(12, "Engine stops after a week")];
    let import = IssueImport { origin: "github:ada/engine".into(), issues, ..IssueImport::default() };
    let before = listing(&index);
    let stopped = index.imports().issues(&import, &Stop::default()).expect("stopped");
    assert!(stopped.interrupted && !stopped.changed_anything());
    let dry = index.imports().issues(&IssueImport { dry_run: true, ..import.clone() }, &()).expect("imported");
    assert_eq!(listing(&index), before);
    let done = index.imports().issues(&import, &()).expect("imported");
    assert_eq!((dry.counts.added, dry.counts.passages), (done.counts.added, done.counts.passages));
    let after = listing(&index);
    assert!(after.len() > before.len());
    assert!(!index.imports().issues(&import, &()).expect("imported").changed_anything());
    assert_eq!(listing(&index), after);
    index.imports().remove("github:ada/engine", None, &()).expect("removed");
    assert_eq!(listing(&index), before);
}
