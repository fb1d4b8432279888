//! Copying between stores of one kind, where the contents are hard: NUL in texts, evidence that was changed, chosen namespaces.
#![cfg(all(feature = "evidence", feature = "postgres"))]

use crate::evidence::graph::edge;
use crate::postgres::TestDatabase;
use tamis::copy::{CopyOptions, CopyReport, Place, copy, copy_between};
use tamis_store::prelude::*;
use tamis_store::{
    Access, Calibration, Change, Claim, EmbeddedStore, EvidenceRecord, Filter, Fragment, ModelKey, NewDocument,
    NewNamespace, NewPassage, NodeType, Page, RecordedSearch, Relation, Store, Task, TextForm, TextHash,
};

fn document(namespace: &str, path: &str, text: &str) -> NewDocument {
    let collection = if path.contains(':') { "evidence" } else { "docs" };
    let passages = vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)];
    NewDocument { passages, ..NewDocument::new(namespace, collection, path) }
}

fn store() -> (tempfile::TempDir, EmbeddedStore) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = EmbeddedStore::open(directory.path().join(".tamis"), Access::ReadWrite).expect("opened");
    (directory, store)
}

fn put(store: &dyn Store, documents: Vec<NewDocument>) {
    store.apply(&documents.into_iter().map(Change::Put).collect::<Vec<_>>()).expect("put");
    let model = ModelKey { id: "toy".into(), dimension: 2 };
    let missing = store.unembedded("toy", &Filter::default(), 99).expect("listed");
    let vectors: Vec<_> = missing.iter().map(|text| (text.hash, vec![f32::from(text.hash.0[0]), 1.0])).collect();
    store.put_vectors(&model, &vectors).expect("stored");
}

fn copied(from: &dyn Store, to: &dyn Store, options: &CopyOptions) -> CopyReport {
    copy(from, to, options, &()).expect("copied")
}

fn writes_nothing(report: &CopyReport) -> bool {
    report.written == tamis::copy::Written::default()
}

/// A task with two claims that a fragment supports.
fn evidence(store: &dyn Store, claims: &[&str]) {
    let page = Page { id: "p".into(), ..Page::default() };
    let fragment = Fragment { id: "f".into(), page_id: "p".into(), text: "it is so".into(), ..Fragment::default() };
    let task = EvidenceRecord::Task(Task { id: "t".into(), question: "why".into(), ..Task::default() });
    let mut records = vec![task, EvidenceRecord::Page(page), EvidenceRecord::Fragment(fragment)];
    let mut changes = vec![Change::Put(document("here", "fragment:f", "it is so"))];
    for id in claims {
        let claim = Claim { id: (*id).into(), task_id: "t".into(), text: "so".into(), ..Claim::default() };
        records.push(EvidenceRecord::Claim(claim));
        let (fragment, claim) = ((NodeType::Fragment, "f".into()), (NodeType::Claim, (*id).into()));
        records.push(EvidenceRecord::Edge(edge(Relation::Supports, fragment, claim)));
        changes.push(Change::Put(document("here", &format!("claim:{id}"), "so")));
    }
    store.apply_evidence("here", "import", &records, &changes).expect("put");
}

#[test]
fn evidence_is_copied_with_its_origins_and_mirrored_when_asked() {
    let ((_a, from), (_b, to)) = (store(), store());
    evidence(&from, &["c1"]);
    evidence(&to, &["c1", "c2"]);
    let other = [EvidenceRecord::Task(Task { id: "old".into(), question: "what".into(), ..Task::default() })];
    to.apply_evidence("here", "old import", &other, &[]).expect("put");
    let kept = copied(&from, &to, &CopyOptions::default());
    assert!(kept.is_equal(), "{kept:#?}");
    assert_eq!((kept.namespaces[0].evidence.from, kept.namespaces[0].evidence.to), (5, 8));
    let mirrored = copied(&from, &to, &CopyOptions { delete: true, ..CopyOptions::default() });
    assert!(mirrored.is_equal() && mirrored.namespaces[0].kept == 0, "{mirrored:#?}");
    assert_eq!(to.evidence("here").expect("read"), from.evidence("here").expect("read"));
    assert_eq!(to.origins().expect("read"), from.origins().expect("read"));
    assert!(writes_nothing(&copied(&from, &to, &CopyOptions { delete: true, ..CopyOptions::default() })));
}

#[test]
fn a_text_with_a_nul_goes_to_a_database_and_back_with_its_vector() {
    let Some(database) = TestDatabase::create() else { return };
    let ((_a, from), (_b, back)) = (store(), store());
    put(&from, vec![document("here", "a.md", "bread\0and oven"), document("here", "b.md", "plain")]);
    let there = database.open("here");
    let first = copied(&from, &there, &CopyOptions::default());
    assert!(first.is_equal() && first.namespaces[0].vectors[0].vectors.to == 2, "{first:#?}");
    assert!(writes_nothing(&copied(&from, &there, &CopyOptions::default())));
    let second = copy(&there, &back, &CopyOptions::default(), &()).expect("copied");
    assert_eq!(second.namespaces[0].vectors[0].vectors.to, 2, "{second:#?}");
    assert_eq!(second.namespaces[0].documents.different, 0, "{second:#?}");
    assert!(writes_nothing(&copied(&there, &back, &CopyOptions::default())));
    let original = from.text_vectors("here", "toy", &[TextHash::from_text("bread\0and oven")]).expect("read");
    let copied = back.text_vectors("here", "toy", &[TextHash::from_text("bread\u{fffd}and oven")]).expect("read");
    assert_eq!(copied, original);
}

#[test]
fn chosen_namespaces_come_alone_with_their_searches_and_newer_thresholds_stay() {
    let ((_a, from), (_b, to)) = (store(), store());
    put(&from, vec![document("here", "a.md", "one"), document("there", "b.md", "two")]);
    let registered = NewNamespace { name: "here".into(), owner: Some("ada".into()), shared: true };
    from.put_namespace(&registered).expect("registered");
    for (id, namespace) in [("a", "here"), ("b", "there"), ("c", "here,there")] {
        let search = RecordedSearch { id: id.into(), namespace: namespace.into(), ..RecordedSearch::default() };
        from.usage().expect("a log").record(&search).expect("recorded");
    }
    let threshold = |threshold, calibrated_at_ms| {
        let (language, provider, model) = ("rust".into(), "local".into(), "toy".into());
        Calibration { language, threshold, sample_size: 9, provider, model, calibrated_at_ms }
    };
    from.put_calibrations(&[threshold(0.5, 1)]).expect("put");
    to.put_calibrations(&[threshold(0.6, 2)]).expect("put");
    put(&to, vec![document("own", "c.md", "three")]);
    let report = copied(&from, &to, &CopyOptions { namespaces: vec!["here".into()], delete: true, tree: None });
    assert!(report.is_equal(), "{report:#?}");
    assert_eq!((report.written.documents, report.written.searches, report.other_namespaces), (1, 1, 1));
    assert_eq!(to.calibrations().expect("read"), [threshold(0.6, 2)]);
    let here = to.namespaces().expect("read").into_iter().find(|known| known.name == "here").expect("there");
    assert_eq!((here.owner.as_deref(), here.shared), (Some("ada"), true));
    assert!(to.document("own", "c.md").expect("read").is_some() && to.documents("there").expect("read").is_empty());
}

#[test]
fn what_differs_is_said_and_an_observer_can_stop() {
    let ((_a, from), (_b, to)) = (store(), store());
    put(&from, vec![document("here", "a.md", "one")]);
    let stopped = copy(&from, &to, &CopyOptions::default(), &crate::support::StopsAfter::new(0)).expect("stopped");
    assert!(stopped.interrupted && !stopped.is_equal());
    // A vector that is there stays, because a model whose vectors changed needs a new name.
    to.apply(&[Change::Put(document("here", "a.md", "one"))]).expect("put");
    let model = ModelKey { id: "toy".into(), dimension: 2 };
    to.put_vectors(&model, &[(TextHash::from_text("one"), vec![-1.0, 0.0])]).expect("stored");
    let report = copied(&from, &to, &CopyOptions::default());
    assert!(!report.is_equal());
    assert_eq!((report.namespaces[0].vectors[0].vectors.different, report.namespaces[0].documents.different), (1, 0));
    assert_eq!(report.namespaces[0].differing, ["1 vector of toy"]);
}

#[test]
fn one_database_goes_into_another_with_the_settings_of_every_tree() {
    let (Some(a), Some(b)) = (TestDatabase::create(), TestDatabase::create()) else { return };
    for tree in ["here", "there"] {
        let store = a.open(tree);
        put(&store, vec![document(tree, "a.md", tree)]);
        store.set_property("splitter", tree).expect("set");
    }
    let (from, to) = (Place::parse(a.url()), Place::parse(b.url()));
    let report = copy_between(&from, &to, &CopyOptions::default(), &()).expect("copied");
    assert!(report.is_equal() && report.settings.to == 2, "{report:#?}");
    assert_eq!(b.open("there").property("splitter").expect("read").as_deref(), Some("there"));
    copy_between(&from, &from, &CopyOptions::default(), &()).expect_err("one place");
    let directory = tempfile::tempdir().expect("a directory");
    let report = copy_between(&to, &Place::parse(directory.path()), &CopyOptions::default(), &()).expect("copied");
    assert!(report.settings_left.is_some() && report.is_equal(), "{report:#?}");
}
