//! Several repositories in one store: the registry, dates, calibrated thresholds.

use crate::common::*;

tests_on_every_store! {
    namespaces_are_those_put_into_and_those_made_known
    a_namespace_goes_with_all_its_documents
    an_origin_goes_where_asked
    dates_are_set_without_a_change_and_replaced_by_a_put
}

fn in_namespace(namespace: &str, document: NewDocument) -> NewDocument {
    NewDocument { namespace: namespace.into(), ..document }
}

fn namespaces_are_those_put_into_and_those_made_known(store: &dyn Store) {
    put(store, vec![prose("a.md", &["one", "two"]), in_namespace("there", prose("a.md", &["three"]))]);
    let known = NewNamespace { name: "there".into(), owner: Some("crew".into()), shared: true };
    store.put_namespace(&known).unwrap();
    store.put_namespace(&NewNamespace { name: "empty".into(), ..NewNamespace::default() }).unwrap();
    let named = || -> Vec<(String, u64, u64)> {
        store.namespaces().unwrap().into_iter().map(|known| (known.name, known.documents, known.passages)).collect()
    };
    assert_eq!(named(), [("empty".into(), 0, 0), ("here".into(), 1, 2), ("there".into(), 1, 1)]);
    let there = store.namespaces().unwrap().remove(2);
    assert_eq!((there.root, there.owner, there.shared), (None, known.owner.clone(), true));

    put(store, vec![in_namespace("there", prose("b.md", &["four"]))]);
    let there = store.namespaces().unwrap().remove(2);
    assert_eq!(there.owner.as_deref(), Some("crew"), "documents change nothing of what is known");
    assert_eq!(there.documents, 2);
    store.put_namespace(&NewNamespace { owner: None, shared: false, ..known }).unwrap();
    let there = store.namespaces().unwrap().remove(2);
    assert_eq!((there.owner, there.shared, there.documents), (None, false, 2));

    let nameless = store.put_namespace(&NewNamespace::default()).unwrap_err();
    assert!(matches!(nameless, StoreError::Invalid { .. }), "{nameless}");
}

fn a_namespace_goes_with_all_its_documents(store: &dyn Store) {
    let there = |path: &str, texts: &[&str]| in_namespace("there", prose(path, texts));
    put(store, vec![prose("a.md", &["flour"]), there("a.md", &["flour", "sand"]), there("b.md", &["flour too"])]);
    complete(store);
    let before = store.change_number().unwrap();
    let applied = store.remove_namespace("there").unwrap();
    assert_eq!((applied.deleted, applied.passages_deleted), (2, 3));
    let removed = store.change_number().unwrap();
    assert!(removed > before && applied.seq == removed);
    publish(store);
    assert_eq!(found(store, "flour sand"), ["flour"]);
    assert_eq!((store.namespaces().unwrap().len(), store.remove_namespace("there").unwrap().deleted), (1, 0));
    put(store, vec![in_namespace("there", prose("c.md", &["flour again"]))]);
    publish(store);
    assert_eq!(found(store, "flour").len(), 2);
    assert!(store.change_number().unwrap() > removed);
    assert_sound(store);
}

fn an_origin_goes_where_asked(store: &dyn Store) {
    let imported = |namespace: &str, path: &str| {
        let document = NewDocument { origin: Some("web:x".into()), ..prose(path, &["one"]) };
        in_namespace(namespace, document)
    };
    let origins = vec![imported("here", "1"), imported("here", "2"), imported("there", "1")];
    put(store, [origins, vec![prose("own.md", &["two"])]].concat());
    let namespaces = ["here".to_owned(), "nowhere".to_owned(), "here".to_owned()];
    let removed = store.remove_origin("web:x", &namespaces).unwrap();
    assert_eq!((removed.deleted, removed.passages_deleted), (2, 2));
    let left: Vec<_> = store.documents("here").unwrap().into_iter().map(|left| left.path).collect();
    assert_eq!((left, store.documents("there").unwrap().len()), (vec!["own.md".to_owned()], 1));
    let origins: Vec<_> = store.origins().unwrap().into_iter().map(|one| (one.name, one.documents)).collect();
    assert_eq!(origins, [("web:x".to_owned(), 1)]);
    publish(store);
    assert_sound(store);
}

fn dates_are_set_without_a_change_and_replaced_by_a_put(store: &dyn Store) {
    let dated = NewDocument { dated_ns: Some(5), ..prose("a.md", &["one"]) };
    put(store, vec![dated.clone(), prose("b.md", &["two"]), in_namespace("there", prose("a.md", &["three"]))]);
    let date = |path: &str| store.document("here", path).unwrap().unwrap().dated_ns;
    assert_eq!((date("a.md"), date("b.md")), (Some(5), None));
    let before = (store.summary().unwrap().seq, all(store));

    let dates = [("a.md".to_owned(), 7), ("b.md".to_owned(), 8), ("gone.md".to_owned(), 9)];
    assert_eq!(store.set_dates("here", &dates).unwrap(), 2);
    assert_eq!(store.set_dates("here", &dates).unwrap(), 0, "they are what they were");
    assert_eq!((date("a.md"), date("b.md")), (Some(7), Some(8)));
    assert_eq!(store.document("there", "a.md").unwrap().unwrap().dated_ns, None);
    assert_eq!((store.summary().unwrap().seq, all(store)), before);
    assert_eq!(store.document_passages("here", "b.md").unwrap()[0].dated_ns, Some(8));

    let document = id_of(store, "a.md");
    store.apply(&[touched(document, 99)]).unwrap();
    store.apply(&[moved(document, "c.md")]).unwrap();
    assert_eq!(date("c.md"), Some(7), "touching and moving leave it");
    put(store, vec![prose("c.md", &["other"])]);
    assert_eq!(date("c.md"), None);
}

#[test]
fn calibrations_are_kept_by_language_provider_and_model() {
    let (directory, store) = opened();
    let calibration = |language: &str, model: &str, threshold: f64| Calibration {
        language: language.into(),
        threshold,
        sample_size: 40,
        provider: "builtin".into(),
        model: model.into(),
        calibrated_at_ms: 1_700_000_000_000,
    };
    let first = [calibration("rust", "b", 0.7), calibration("rust", "a", 0.6), calibration("python", "a", 0.5)];
    store.put_calibrations(&first).unwrap();
    let newer = calibration("rust", "a", 0.65);
    store.put_calibrations(std::slice::from_ref(&newer)).unwrap();
    assert_eq!(store.calibrations().unwrap(), [first[2].clone(), newer.clone(), first[0].clone()]);

    for threshold in [f64::NAN, 1.5] {
        let error =
            store.put_calibrations(&[calibration("go", "a", 0.5), calibration("c", "a", threshold)]).unwrap_err();
        assert!(error.to_string().contains("of c"), "{error}");
    }
    assert_eq!(store.calibrations().unwrap().len(), 3);
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.clear_calibrations().unwrap(), 3);
    assert_eq!(store.calibrations().unwrap(), []);
}

#[test]
fn a_namespace_keeps_its_tree_until_that_has_moved() {
    let tree = |namespace: &str, root: &str, machine: Option<&str>| Tree {
        namespace: namespace.into(),
        root: root.into(),
        machine: machine.map(str::to_owned),
    };
    on_every_store(|store| {
        put(store, vec![prose("a.md", &["one"])]);
        // A namespace from before takes the first tree.
        store.claim_trees(&[tree("here", "/srv/here", Some("one"))], false).unwrap();
        store.put_namespace(&NewNamespace { name: "here".into(), ..NewNamespace::default() }).unwrap();
        let trees = || -> Vec<_> {
            store.namespaces().unwrap().into_iter().map(|known| (known.name, known.root, known.machine)).collect()
        };
        let kept = [("here".to_owned(), Some("/srv/here".to_owned()), Some("one".to_owned()))];
        assert_eq!(trees(), kept, "a registration leaves it");
        let before = store.change_number().unwrap();
        for same in [Some("one"), None] {
            store.claim_trees(&[tree("here", "/srv/here", same)], false).unwrap();
        }
        assert_eq!(store.change_number().unwrap(), before, "nothing to write");
        for other in [tree("here", "/tmp/here", Some("one")), tree("here", "/srv/here", Some("two"))] {
            let both = [tree("new", "/srv/new", None), other.clone()];
            let refused = store.claim_trees(&both, false).unwrap_err();
            assert!(matches!(refused, StoreError::OtherTree { .. }), "{refused}");
            let said = refused.to_string();
            let named = ["/srv/here on one".to_owned(), other.to_string(), "--moved".to_owned()];
            assert!(named.iter().all(|name| said.contains(name)), "{said}");
            assert_eq!(trees(), kept, "all or none");
        }
        store.claim_trees(&[tree("here", "/tmp/here", None)], true).unwrap();
        store.claim_trees(&[tree("here", "/tmp/here", Some("three"))], false).unwrap();
        assert_eq!(trees(), [("here".to_owned(), Some("/tmp/here".to_owned()), None)]);
        store.remove_namespace("here").unwrap();
        store.claim_trees(&[tree("here", "/srv/here", None)], false).unwrap();
    });
}
