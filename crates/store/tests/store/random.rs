//! After any sequence of changes, the retrievers hold the content of the database and answer as if built at once.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::common::*;

const WORDS: [&str; 6] = ["flour", "grain", "sand", "river", "sieve", "sea"];

#[derive(Debug, Clone)]
enum Step {
    Put(u8, Vec<u8>),
    Delete(u8),
    Move(u8, u8),
    Touch(u8),
    Embed,
    Publish,
    Search,
    Reopen,
    LoseLexical,
    LoseVectors,
    Prune,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u8..6, proptest::collection::vec(0u8..12, 0..4)).prop_map(|(path, texts)| Step::Put(path, texts)),
        3 => (0u8..6).prop_map(Step::Delete),
        3 => (0u8..6, 0u8..6).prop_map(|(from, to)| Step::Move(from, to)),
        1 => (0u8..6).prop_map(Step::Touch),
        3 => Just(Step::Embed),
        3 => Just(Step::Publish),
        2 => Just(Step::Search),
        2 => Just(Step::Reopen),
        1 => Just(Step::LoseLexical),
        1 => Just(Step::LoseVectors),
        1 => Just(Step::Prune),
    ]
}

fn path(number: u8) -> String {
    format!("p{number}.md")
}

fn text(number: u8) -> String {
    let words = WORDS.len() as u8;
    format!("{} and {} {number}", WORDS[usize::from(number % words)], WORDS[usize::from((number + 1) % words)])
}

type Truth = BTreeMap<String, Vec<String>>;

fn perform(store: &EmbeddedStore, truth: &mut Truth, step: &Step) {
    let known = |number: &u8| store.document("here", &path(*number)).unwrap().map(|state| state.document);
    match step {
        Step::Put(number, texts) => {
            let texts: Vec<String> = texts.iter().map(|&number| text(number)).collect();
            let new = document(&path(*number), texts.iter().map(|text| passage(text)).collect());
            store.apply(&[Change::Put(new)]).unwrap();
            truth.insert(path(*number), texts);
        }
        Step::Delete(number) => {
            if let Some(document) = known(number) {
                store.apply(&[Change::Delete { document }]).unwrap();
                truth.remove(&path(*number));
            }
        }
        Step::Move(from, to) => {
            if let Some(document) = known(from) {
                store.apply(&[moved(document, &path(*to))]).unwrap();
                if let Some(texts) = truth.remove(&path(*from)) {
                    truth.insert(path(*to), texts);
                }
            }
        }
        Step::Touch(number) => {
            if let Some(document) = known(number) {
                store.apply(&[touched(document, 2)]).unwrap();
            }
        }
        Step::Embed => _ = embed(store),
        Step::Publish => publish(store),
        Step::Search => {
            let live = all(store);
            let query = LexicalQuery::new("flour sea");
            let lexical = store.lexical(&query, &Filter::default(), 50).unwrap();
            let ids: Vec<PassageId> = lexical.hits.iter().map(|hit| hit.passage).collect();
            assert_eq!(store.passages(&[], &ids).unwrap().len(), ids.len(), "what is found can be shown");
            let nearest = store.nearest(MODEL, &[1.0; 8], &Filter::default(), 50).unwrap();
            assert!(nearest.hits.iter().all(|hit| live.contains(&hit.passage)));
        }
        Step::Prune => _ = store.prune().unwrap(),
        Step::Reopen | Step::LoseLexical | Step::LoseVectors => {}
    }
}

/// The answers for each word, as (path, text) with the score, in a form that can be compared between two stores.
fn answers(store: &EmbeddedStore) -> Vec<Vec<(String, String)>> {
    let with_word = |word: &&str| {
        let hits = store.lexical(&LexicalQuery::new(*word), &Filter::default(), 100).unwrap().hits;
        places(store, hits.iter().map(|hit| hit.passage).collect())
    };
    let nearest = store.nearest(MODEL, &[1.0; 8], &Filter::default(), 100).unwrap();
    let nearest = places(store, nearest.hits.iter().map(|hit| hit.passage).collect());
    WORDS.iter().map(with_word).chain([nearest]).collect()
}

fn places(store: &EmbeddedStore, ids: Vec<PassageId>) -> Vec<(String, String)> {
    let mut places: Vec<(String, String)> =
        store.passages(&[], &ids).unwrap().into_iter().map(|passage| (passage.path, passage.text)).collect();
    assert_eq!(places.len(), ids.len());
    places.sort();
    places
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_retrievers_agree_with_the_database(steps in proptest::collection::vec(step(), 1..25)) {
        let directory = temporary();
        let mut store = open(directory.path());
        let mut truth = Truth::new();
        for step in &steps {
            perform(&store, &mut truth, step);
            let lost = match step {
                Step::LoseLexical => Some("lexical"),
                Step::LoseVectors => Some("vectors"),
                Step::Reopen => None,
                _ => continue,
            };
            drop(store);
            if let Some(part) = lost {
                let _ = std::fs::remove_dir_all(directory.path().join(part));
            }
            store = open(directory.path());
        }
        complete(&store);
        prop_assert_eq!(store.check().unwrap().problems, []);

        let texts = |state: DocumentState| {
            let passages = store.document_passages("here", &state.path).unwrap();
            (state.path, passages.into_iter().map(|passage| passage.text).collect())
        };
        let kept: Truth = store.documents("here").unwrap().into_iter().map(texts).collect();
        prop_assert_eq!(&kept, &truth);

        let other = temporary();
        let built_at_once = open(other.path());
        put(&built_at_once, truth.iter().map(|(path, texts)| {
            document(path, texts.iter().map(|text| passage(text)).collect())
        }).collect());
        complete(&built_at_once);
        prop_assert_eq!(answers(&store), answers(&built_at_once));
    }
}
