//! Everything stored can be read back: documents, passages, identifiers, properties.

use crate::common::*;

tests_on_every_store! {
    a_document_comes_back_as_it_went_in
    a_document_is_replaced_touched_and_deleted
    a_moved_document_keeps_its_number_and_its_vectors
    moving_to_the_same_place_is_a_touch_and_two_documents_can_swap_theirs
    identifiers_survive_indexing_again_and_are_found_by_their_start
    an_overload_above_moves_no_identifier
    a_replaced_document_uses_up_no_number
    a_batch_with_one_bad_change_changes_nothing
    one_text_is_embedded_once_and_its_vector_outlives_it
    vectors_are_held_to_their_model
    the_summary_counts_what_is_there
}

fn a_document_comes_back_as_it_went_in(store: &dyn Store) {
    let mut method = function("Sieve::shake", "fn shake(&mut self) {}");
    method.context = Some("impl Sieve".into());
    method.embedded_text = "impl Sieve\nfn shake(&mut self) {}".into();
    method.language = Some("rust".into());
    let mut odd = passage("not the end of what is embedded");
    odd.embedded_text = "something else entirely".into();
    odd.language = Some("markdown".into());
    let new = NewDocument {
        title: Some("The sieve".into()),
        language: Some("rust".into()),
        note: Some("decoded lossily".into()),
        ..document("src/sieve.rs", vec![method.clone(), odd.clone()])
    };
    let applied = store.apply(&[Change::Put(new.clone())]).unwrap();
    assert_eq!((applied.added, applied.passages_added), (1, 2));

    let state = store.document("here", "src/sieve.rs").unwrap().unwrap();
    assert_eq!(store.documents("here").unwrap(), std::slice::from_ref(&state));
    assert_eq!((&state.description.title, &state.note, state.content_hash), (&new.title, &new.note, [1; 32]));
    assert_eq!((state.file.size, state.file.modified_ns, state.passages), (10, 1, 2));
    assert_eq!(store.document("elsewhere", "src/sieve.rs").unwrap(), None);
    let passages = store.document_passages("here", "src/sieve.rs").unwrap();
    for (at, (stored, put)) in passages.iter().zip([&method, &odd]).enumerate() {
        assert_eq!((&stored.text, &stored.context, &stored.symbol), (&put.text, &put.context, &put.symbol));
        assert_eq!((&stored.language, &stored.title, stored.ordinal), (&put.language, &new.title, at as u32));
        assert_eq!(stored.text_hash, TextHash::from_text(&put.embedded_text));
    }
    let embedded: Vec<String> =
        store.unembedded(MODEL, &Filter::default(), 10).unwrap().into_iter().map(|text| text.text).collect();
    assert_eq!(embedded, [method.embedded_text, odd.embedded_text]);
    let asked = [passages[1].passage, passages[0].passage];
    assert_eq!(store.passages(&[], &asked).unwrap(), [passages[1].clone(), passages[0].clone()]);
}

fn a_document_is_replaced_touched_and_deleted(store: &dyn Store) {
    put(store, vec![prose("a.md", &["one", "two"]), prose("b.md", &["three"])]);
    let id = id_of(store, "a.md");
    let before = store.document_passages("here", "a.md").unwrap();

    let applied = store.apply(&[Change::Put(prose("a.md", &["two", "four"]))]).unwrap();
    assert_eq!((applied.replaced, applied.passages_deleted, applied.passages_added), (1, 2, 2));
    assert_eq!(id_of(store, "a.md"), id);
    let after = store.document_passages("here", "a.md").unwrap();
    assert_eq!(after.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>(), ["two", "four"]);
    assert_eq!(after[0].id, before[1].id, "what has no name keeps its identifier wherever it goes");
    assert!(after.iter().all(|passage| before.iter().all(|old| old.passage != passage.passage)));
    publish(store);
    assert_eq!(texts(store, &[before[0].passage, after[0].passage]), ["two"]);

    let before = store.change_number().unwrap();
    let applied = store.apply(&[touched(id, 7)]).unwrap();
    assert_eq!((applied.touched, applied.seq, store.change_number().unwrap()), (1, before, before));
    let state = store.document("here", "a.md").unwrap().unwrap();
    assert_eq!((state.file.size, state.file.modified_ns), (99, 7));
    assert_eq!(store.document_passages("here", "a.md").unwrap()[0].passage, after[0].passage);

    let applied = store.apply(&[Change::Delete { document: id }]).unwrap();
    assert_eq!((applied.deleted, applied.passages_deleted), (1, 2));
    assert!(applied.seq > before && applied.seq == store.change_number().unwrap());
    assert_eq!(store.document("here", "a.md").unwrap(), None);
    assert_eq!(all(store).len(), 1);
    assert_sound_database(store);
}

fn a_moved_document_keeps_its_number_and_its_vectors(store: &dyn Store) {
    put(store, vec![prose("old/a.md", &["one", "two"]), prose("new/a.md", &["in the way"])]);
    assert_eq!(embed(store), 3);
    publish(store);
    let id = id_of(store, "old/a.md");
    let before = store.document_passages("here", "old/a.md").unwrap();
    let applied = store.apply(&[moved(id, "new/a.md")]).unwrap();
    assert_eq!((applied.moved, applied.deleted), (1, 1));
    publish(store);

    assert_eq!(store.document("here", "old/a.md").unwrap(), None);
    assert_eq!(id_of(store, "new/a.md"), id);
    let after = store.document_passages("here", "new/a.md").unwrap();
    assert_eq!(after.len(), 2);
    assert_ne!(after[0].id, before[0].id, "the path is part of the identifier");
    assert_eq!(embed(store), 0, "moving embeds nothing");
    assert_eq!(store.coverage(MODEL, &Filter::default()).unwrap().embedded, 2);
    let hits = store.lexical(&LexicalQuery::new("new"), &Filter::default(), 9).unwrap().hits;
    assert_eq!(hits.len(), 2, "the words of the new path are found");
    assert_eq!(found(store, "old"), [""; 0]);
    assert_sound(store);
}

fn moving_to_the_same_place_is_a_touch_and_two_documents_can_swap_theirs(store: &dyn Store) {
    put(store, vec![prose("a.md", &["one"]), prose("b.md", &["two"])]);
    let before = store.document_passages("here", "a.md").unwrap();
    let [a, b] = ["a.md", "b.md"].map(|path| id_of(store, path));
    assert_eq!(store.apply(&[moved(a, "a.md")]).unwrap().touched, 1);
    assert_eq!(store.document_passages("here", "a.md").unwrap()[0].passage, before[0].passage);
    store.apply(&[moved(a, "c.md"), moved(b, "a.md"), moved(a, "b.md")]).unwrap();
    let text = |path: &str| store.document_passages("here", path).unwrap()[0].text.clone();
    assert_eq!((id_of(store, "a.md"), id_of(store, "b.md")), (b, a));
    assert_eq!((text("a.md"), text("b.md")), ("two".into(), "one".into()));
    assert_sound_database(store);
}

fn identifiers_survive_indexing_again_and_are_found_by_their_start(store: &dyn Store) {
    let (open, close) = (function("open", "fn open() {}"), function("close", "fn close() {}"));
    let original = document("src/lib.rs", vec![open, close, function("open", "fn open() {} // again")]);
    put(store, vec![original.clone()]);
    let before = store.document_passages("here", "src/lib.rs").unwrap();
    let mut ids: Vec<&str> = before.iter().map(|passage| passage.id.as_str()).collect();
    assert!(ids.iter().all(|id| id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);

    let mut changed = original;
    changed.passages[1].text = "fn close() { todo() }".into();
    changed.passages[1].embedded_text = "fn close() { todo() }".into();
    put(store, vec![changed.clone()]);
    let after = store.document_passages("here", "src/lib.rs").unwrap();
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.id, after.id, "a named passage keeps its identifier while its text changes");
    }
    changed.namespace = "there".into();
    put(store, vec![changed]);
    assert_ne!(store.document_passages("there", "src/lib.rs").unwrap()[0].id, after[0].id);

    let id = &after[1].id;
    for prefix in [id.as_str(), &id[..8], &id.to_uppercase()] {
        let found = store.find(prefix, 5).unwrap();
        let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(texts, ["fn close() { todo() }"]);
    }
    assert_eq!(store.find("", 5).unwrap(), []);
    assert_eq!(store.find("xyz", 5).unwrap(), []);
    assert_eq!(store.find("%", 5).unwrap(), []);
    let ambiguous: usize = (0..16).map(|digit| store.find(&format!("{digit:x}"), 100).unwrap().len()).sum();
    assert_eq!(ambiguous, 6);
    assert!((0..16).all(|digit| store.find(&format!("{digit:x}"), 1).unwrap().len() <= 1));
}

fn an_overload_above_moves_no_identifier(store: &dyn Store) {
    let shake = |signature: &str| function("Sieve::shake", &format!("fn shake({signature})"));
    let overload = |signature: &str| NewPassage { signature: Some(signature.into()), ..shake(signature) };
    let ids = |path: &str| -> Vec<String> {
        store.document_passages("here", path).unwrap().into_iter().map(|passage| passage.id).collect()
    };
    let rust = |passages| NewDocument { language: Some("rust".into()), ..document("a.rs", passages) };
    put(store, vec![rust(vec![overload("1f"), overload("2e"), overload("2e")])]);
    let before = ids("a.rs");
    let parts = [overload("3d"), overload("1f"), passage("text between"), overload("2e"), overload("2e")];
    put(store, vec![rust(parts.to_vec())]);
    let after = ids("a.rs");
    assert_eq!([&after[1], &after[3], &after[4]], [&before[0], &before[1], &before[2]]);
    assert!(!before.contains(&after[0]));
    put(store, vec![NewDocument { language: Some("cpp".into()), ..rust(vec![overload("1f")]) }]);
    assert_ne!(ids("a.rs")[0], before[0], "the language is part of it");

    put(store, vec![rust(vec![overload("1f"), overload("2e"), overload("2e")])]);
    store.apply(&[moved(id_of(store, "a.rs"), "b.rs")]).unwrap();
    let moved = ids("b.rs");
    store.apply(&[Change::Delete { document: id_of(store, "b.rs") }]).unwrap();
    let there = rust(vec![overload("1f"), overload("2e"), overload("2e")]);
    put(store, vec![NewDocument { path: "b.rs".into(), ..there }]);
    assert_eq!(moved, ids("b.rs"), "a moved document has the identifiers it would have if it were read there");
}

fn a_replaced_document_uses_up_no_number(store: &dyn Store) {
    for _ in 0..5 {
        put(store, vec![prose("a.md", &["one"])]);
    }
    put(store, vec![prose("b.md", &["two"])]);
    assert_eq!(id_of(store, "b.md").0, id_of(store, "a.md").0 + 1);
}

fn a_batch_with_one_bad_change_changes_nothing(store: &dyn Store) {
    put(store, vec![prose("a.md", &["one"])]);
    let seq = store.summary().unwrap().seq;
    let good = Change::Put(prose("b.md", &["two"]));
    let unknown = Change::Delete { document: DocumentId(77) };
    let error = store.apply(&[good.clone(), unknown]).unwrap_err();
    assert!(error.to_string().contains("77"), "{error}");
    let mut backwards = prose("c.md", &["three"]);
    backwards.passages[0].start_line = 9;
    let error = store.apply(&[good.clone(), Change::Put(backwards)]).unwrap_err();
    assert!(error.to_string().contains("c.md"), "{error}");
    let a = id_of(store, "a.md");
    for path in ["", "a\0b"] {
        let unnamed = [Change::Put(prose(path, &["three"])), moved(a, path)];
        for change in unnamed {
            let refused = store.apply(&[good.clone(), change]);
            assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{path:?}: {refused:?}");
        }
    }
    let twice = [good, Change::Delete { document: a }, moved(a, "c.md")];
    assert!(matches!(store.apply(&twice), Err(StoreError::UnknownDocument { .. })));
    assert_eq!((store.documents("here").unwrap().len(), store.summary().unwrap().seq), (1, seq));
}

fn one_text_is_embedded_once_and_its_vector_outlives_it(store: &dyn Store) {
    put(store, vec![prose("a.md", &["licence", "one"]), prose("b.md", &["licence"])]);
    assert_eq!(embed(store), 2);
    assert_eq!(store.coverage(MODEL, &Filter::default()).unwrap().embedded, 3);
    let licence = TextHash::from_text("licence");
    assert_eq!(store.put_vectors(&model(), &[(licence, vector_of(licence))]).unwrap(), 0, "it has one");
    assert_eq!(store.put_vectors(&model(), &[(TextHash::from_text("unheard of"), vec![1.0; 8])]).unwrap(), 0);

    for path in ["a.md", "b.md"] {
        store.apply(&[Change::Delete { document: id_of(store, path) }]).unwrap();
    }
    put(store, vec![prose("c.md", &["licence"])]);
    assert_eq!(store.unembedded(MODEL, &Filter::default(), 10).unwrap(), [], "the vector was kept");
    assert_eq!(store.prune().unwrap().vectors, 1);
    assert_eq!(store.coverage(MODEL, &Filter::default()).unwrap().embedded, 1);
    publish(store);
    assert_sound(store);
}

fn vectors_are_held_to_their_model(store: &dyn Store) {
    put(store, vec![prose("a.md", &["one"])]);
    let hash = TextHash::from_text("one");
    let other = ModelKey { dimension: 4, ..model() };
    let refused = |model: &ModelKey, vector: &[f32]| {
        store.put_vectors(model, &[(hash, vector.to_vec())]).unwrap_err().to_string()
    };
    assert_eq!(refused(&model(), &[1.0; 3]), "model toy: expected vectors of 8 dimensions, received 3");
    let bad = [1.0, 1.0, 1.0, f32::NAN, 1.0, 1.0, 1.0, 1.0].to_vec();
    assert!(matches!(store.put_vectors(&model(), &[(hash, bad)]), Err(StoreError::NotFinite { .. })));
    embed(store);
    assert_eq!(refused(&other, &[1.0; 4]), "model toy: expected vectors of 8 dimensions, received 4");
    assert!(matches!(store.put_vectors(&other, &[]), Err(StoreError::Dimension { expected: 8, received: 4, .. })));
    let stored = store.vectors(MODEL, &[], &all(store)).unwrap().remove(0).unwrap();
    let length: f32 = stored.iter().map(|value| value * value).sum();
    assert!((length - 1.0).abs() < 1e-3);
    assert_eq!(store.vectors("unknown", &[], &all(store)).unwrap(), [None]);
}

fn the_summary_counts_what_is_there(store: &dyn Store) {
    let mut code = document("src/lib.rs", vec![function("open", "fn open() {}"), function("test", "fn test() {}")]);
    code.collection = "code".into();
    code.language = Some("rust".into());
    code.passages[1].role = "test".into();
    put(store, vec![code, prose("a.md", &["one"])]);
    complete(store);
    let summary = store.summary().unwrap();
    assert_eq!((summary.documents, summary.passages), (2, 3));
    let named = |counts: &[Count]| -> Vec<(String, u64, u64)> {
        counts.iter().map(|count| (count.name.clone(), count.documents, count.passages)).collect()
    };
    assert_eq!(named(&summary.counts.namespaces), [("here".to_owned(), 2, 3)]);
    assert_eq!(named(&summary.counts.collections), [("code".to_owned(), 1, 2), ("docs".to_owned(), 1, 1)]);
    assert_eq!(named(&summary.counts.languages), [(String::new(), 1, 1), ("rust".to_owned(), 1, 2)]);
    assert_eq!(named(&summary.counts.roles), [("main".to_owned(), 2, 2), ("test".to_owned(), 1, 1)]);
    assert_eq!(summary.models[0].model, model());
    assert_eq!(summary.models[0].coverage.embedded, 3);
    assert_eq!([summary.lexical_seq, summary.models[0].file_seq], [Some(summary.seq), Some(summary.seq)]);
    assert!(summary.sizes.database > 0 && summary.sizes.lexical > 0 && summary.sizes.vectors > 0);
    assert!(summary.last_publish_ms >= summary.last_change_ms && summary.last_change_ms.is_some());
}

#[test]
fn properties_are_kept() {
    let (directory, store) = opened();
    assert_eq!(store.property("splitter").unwrap(), None);
    store.set_property("splitter", "1").unwrap();
    store.set_property("splitter", "2").unwrap();
    drop(store);
    assert_eq!(open(directory.path()).property("splitter").unwrap().as_deref(), Some("2"));
}

/// Asserts that the database is consistent; nothing is published.
fn assert_sound_database(store: &dyn Store) {
    let problems = store.check().unwrap().problems;
    assert!(problems.iter().all(|problem| problem.mendable), "{problems:?}");
}
