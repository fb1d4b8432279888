//! What a copy needs: everything can be read back in the form in which it is put.

use crate::common::*;

tests_on_every_store! {
    a_whole_document_is_the_one_that_was_put
    vectors_are_read_by_text_and_stored_elsewhere_as_they_are
    settings_are_listed
    a_log_takes_what_another_one_recorded_once
    records_of_evidence_are_found_by_their_origin
}

/// A document that has everything.
fn rich() -> NewDocument {
    NewDocument {
        origin: Some("github:mill/mill".into()),
        language: Some("rust".into()),
        title: Some("The mill".into()),
        dated_ns: Some(5),
        severity: Some("major".into()),
        note: Some("read in part".into()),
        attributes: ["bug", "ui"].map(|value| Attribute { name: "label".into(), value: value.into() }).into(),
        record: Some("{\"a\":1}".into()),
        passages: vec![
            NewPassage {
                signature: Some("fn(u32)".into()),
                context: Some("impl Mill".into()),
                author: Some("Ada".into()),
                dated_ns: Some(7),
                part: Some(3),
                role: "test".into(),
                ..function("Mill::grind", "fn grind() {}")
            },
            NewPassage {
                heading: Some("Mill > Stone".into()),
                language: Some("markdown".into()),
                embedded_text: "another text".into(),
                ..passage("the stone turns")
            },
        ],
        ..document("mill.rs", Vec::new())
    }
}

fn a_whole_document_is_the_one_that_was_put(store: &dyn Store) {
    put(store, vec![rich(), prose("a.md", &["one", "two"])]);
    let ids = [id_of(store, "mill.rs"), id_of(store, "a.md")];
    let whole = store.whole_documents("here", &ids).unwrap();
    assert_eq!(whole[0].as_ref().unwrap().content, rich());
    assert_eq!(whole[1].as_ref().unwrap().content, prose("a.md", &["one", "two"]));
    for (document, path) in whole.iter().flatten().zip(["mill.rs", "a.md"]) {
        let stored = store.document_passages("here", path).unwrap();
        let keys: Vec<_> = stored.into_iter().map(|passage| (passage.id, passage.text_hash)).collect();
        assert_eq!(document.keys.iter().map(|key| (key.id.clone(), key.text_hash)).collect::<Vec<_>>(), keys);
    }
    assert_eq!(store.whole_documents("elsewhere", &ids).unwrap(), [None, None], "isolated");
    // Putting it again as it was read changes nothing.
    store.apply(&[Change::Put(whole[0].clone().unwrap().content)]).unwrap();
    let again = store.whole_documents("here", &ids[..1]).unwrap().remove(0).unwrap();
    assert_eq!((&again.content, &again.keys), (&rich(), &whole[0].as_ref().unwrap().keys));
}

fn vectors_are_read_by_text_and_stored_elsewhere_as_they_are(store: &dyn Store) {
    assert_eq!(store.models().unwrap(), []);
    let there = NewDocument { namespace: "there".into(), ..prose("b.md", &["three"]) };
    put(store, vec![prose("a.md", &["one", "two"]), there]);
    embed(store);
    assert_eq!(store.models().unwrap(), [model()]);
    let texts = ["two", "three", "one", "none"].map(TextHash::from_text);
    let vectors = store.text_vectors("here", MODEL, &texts).unwrap();
    assert_eq!(vectors.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true, false], "isolated");
    assert_eq!(store.text_vectors("here", "unknown", &texts).unwrap(), [None, None, None, None]);
    let read: Vec<_> = texts.iter().zip(&vectors).filter_map(|(text, one)| Some((*text, one.clone()?))).collect();
    on_every_store(|other| {
        put(other, vec![prose("a.md", &["one", "two"])]);
        assert_eq!(other.put_vectors(&model(), &read).unwrap(), 2);
        assert_eq!(other.text_vectors("here", MODEL, &texts).unwrap(), vectors, "to the last bit");
    });
}

fn settings_are_listed(store: &dyn Store) {
    assert_eq!(store.properties().unwrap(), []);
    store.set_property("splitter", "1").unwrap();
    store.set_property("a", "").unwrap();
    assert_eq!(store.properties().unwrap(), [("a".into(), String::new()), ("splitter".into(), "1".into())]);
}

fn a_log_takes_what_another_one_recorded_once(store: &dyn Store) {
    let log = store.usage().unwrap();
    let search = |id: &str| RecordedSearch { id: id.into(), namespace: "here".into(), ..RecordedSearch::default() };
    log.record_query(&search("aaaa"), Some(&QueryQuality { at_ms: 1, ..QueryQuality::default() })).unwrap();
    log.record(&search("bbbb")).unwrap();
    log.judge("aaaa", &[("p1", true)], 5).unwrap();
    log.judge("aaaa", &[("p1", false)], 6).unwrap();
    let judgement = Judgement { passage: "p2".into(), relevant: true, in_pool: false, at_ms: 7 };
    let judged = LoggedSearch { search: search("bbbb"), judgements: vec![judgement], ..LoggedSearch::default() };
    log.add_searches(&[judged]).unwrap();
    let searches = log.logged_searches(0, 9).unwrap();
    assert_eq!(searches.iter().map(|one| one.judgements.len()).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(log.logged_searches(searches[0].number, 9).unwrap(), searches[1..]);
    assert_eq!(log.logged(&["bbbb", "none"]).unwrap(), [Some(searches[1].clone()), None]);
    let quality = log.logged_quality(0, 9).unwrap();
    on_every_store(|other| {
        let other = other.usage().unwrap();
        assert_eq!(other.add_searches(&searches).unwrap(), 2);
        assert_eq!(other.add_searches(&searches).unwrap(), 0, "once");
        other.add_quality(&quality.iter().map(|(_, row)| row.clone()).collect::<Vec<_>>()).unwrap();
        let same = |one: LoggedSearch| LoggedSearch { number: 0, ..one };
        let read: Vec<_> = other.logged_searches(0, 9).unwrap().into_iter().map(same).collect();
        assert_eq!(read, searches.clone().into_iter().map(same).collect::<Vec<_>>());
        assert_eq!(other.judged().unwrap(), log.judged().unwrap());
        assert_eq!(other.logged_quality(0, 9).unwrap().len(), 1);
    });
}

fn records_of_evidence_are_found_by_their_origin(store: &dyn Store) {
    use tamis_store::{EvidenceRecord, Task, Work};
    let task = EvidenceRecord::Task(Task { id: "t".into(), question: "why".into(), ..Task::default() });
    let work = EvidenceRecord::Work(Work { id: "w".into(), title: "how".into(), ..Work::default() });
    store.apply_evidence("here", "one", std::slice::from_ref(&task), &[]).unwrap();
    store.apply_evidence("here", "two", std::slice::from_ref(&work), &[]).unwrap();
    assert_eq!(store.evidence_of_origin("here", "one").unwrap(), [task]);
    assert_eq!(store.evidence_of_origin("here", "two").unwrap(), [work]);
    assert_eq!(store.evidence_of_origin("elsewhere", "two").unwrap(), []);
}
