//! After any sequence of changes, both stores hold the same, and words, frequencies and totals are those of a recount.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

use super::testing::{self, content, counts, embedded};
use crate::access::Access;
use crate::embedded::EmbeddedStore;
use crate::record::{Change, NewDocument, NewPassage, TextForm};
use crate::store::{Changes, Documents, Maintenance};

/// A change by the place of its document among those stored, so that both stores can be asked for the same.
#[derive(Debug, Clone)]
enum Step {
    Put { namespace: bool, path: u8, passages: Vec<(bool, Option<u8>, Vec<u8>)>, title: bool },
    Touch { at: prop::sample::Index },
    Move { at: prop::sample::Index, path: u8 },
    Delete { at: prop::sample::Index },
}

const WORDS: [&str; 8] = ["flour", "sand", "sieves", "parseConfig", "HTTPServer", "the", "naïve", "全文"];
const SYMBOLS: [&str; 3] = ["Store::open", "Door#lock, Door#open", "parse"];

fn step() -> impl Strategy<Value = Step> {
    let passage = (any::<bool>(), prop::option::of(0u8..3), prop::collection::vec(0u8..8, 0..6));
    let put = (any::<bool>(), 0u8..6, prop::collection::vec(passage, 0..4), any::<bool>())
        .prop_map(|(namespace, path, passages, title)| Step::Put { namespace, path, passages, title });
    let at = any::<prop::sample::Index>;
    prop_oneof![
        5 => put,
        1 => at().prop_map(|at| Step::Touch { at }),
        2 => (at(), 0u8..6).prop_map(|(at, path)| Step::Move { at, path }),
        2 => at().prop_map(|at| Step::Delete { at }),
    ]
}

fn path(number: u8) -> String {
    format!("folder/sieve_{number}.md")
}

/// The changes of a list. Those of documents concern what the store held before it.
fn changes(store: &impl Documents, steps: &[Step]) -> Vec<Change> {
    let known: Vec<_> = ["here", "there"].iter().flat_map(|name| store.documents(name).unwrap()).collect();
    let change = |step: &Step| {
        Some(match step {
            Step::Put { namespace, path: at, passages, title } => {
                let namespace = if *namespace { "here" } else { "there" };
                let mut document = NewDocument::new(namespace, "docs", path(*at));
                document.title = title.then(|| "A title of sieves".to_owned());
                document.passages = passages
                    .iter()
                    .map(|(prose, symbol, words)| {
                        let text: Vec<&str> = words.iter().map(|word| WORDS[usize::from(*word)]).collect();
                        let form = if *prose { TextForm::Prose } else { TextForm::Code };
                        NewPassage {
                            symbol: symbol.map(|symbol| SYMBOLS[usize::from(symbol)].to_owned()),
                            ..NewPassage::new("section", 1..=1, text.join(" "), form)
                        }
                    })
                    .collect();
                Change::Put(document)
            }
            _ if known.is_empty() => return None,
            Step::Touch { at } => {
                Change::Touch { document: at.get(&known).document, size: 5, modified_ns: 6, stamp: 0 }
            }
            Step::Move { at, path: to } => {
                Change::Move { document: at.get(&known).document, path: path(*to), size: 7, modified_ns: 8, stamp: 0 }
            }
            Step::Delete { at } => Change::Delete { document: at.get(&known).document },
        })
    };
    steps.iter().filter_map(change).collect()
}

#[test]
fn both_stores_hold_the_same_after_any_changes() {
    let Some(store) = testing::store() else { return };
    let lists = prop::collection::vec(prop::collection::vec(step(), 1..8), 1..6);
    let config = Config { cases: 40, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    TestRunner::new(config)
        .run(&lists, |lists| {
            let (directory, known) = embedded();
            for name in ["here", "there"] {
                store.remove_namespace(name).unwrap();
            }
            for steps in &lists {
                let before = store.change_number().unwrap();
                let (ours, theirs) = (changes(&*store, steps), changes(&known, steps));
                // A list can name a document that it has deleted. Then both refuse all of it.
                match (store.apply(&ours), known.apply(&theirs)) {
                    (Ok(ours), Ok(theirs)) => {
                        prop_assert_eq!(counts(ours), counts(theirs));
                        prop_assert!(ours.seq >= before && ours.seq == store.change_number().unwrap());
                    }
                    (Err(_), Err(_)) => prop_assert_eq!(store.change_number().unwrap(), before),
                    (ours, theirs) => prop_assert!(false, "{:?} but {:?}", ours, theirs),
                }
                // The embedded store remembers namespaces by its change number, which a document without passages leaves.
                let fresh = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
                prop_assert_eq!(store.namespaces().unwrap(), fresh.namespaces().unwrap());
                prop_assert_eq!(content(&*store), content(&fresh));
                prop_assert_eq!(store.check().unwrap().problems, vec![]);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn rebuilt_words_are_those_that_were_written() {
    let Some(store) = testing::store() else { return };
    let mut runner = TestRunner::deterministic();
    for _ in 0..20 {
        let steps = prop::collection::vec(step(), 1..8).new_tree(&mut runner).unwrap().current();
        let _ = store.apply(&changes(&*store, &steps));
    }
    let written = words(&store);
    assert!(!written.is_empty());
    store.execute(
        "DELETE FROM tamis.frequencies; UPDATE tamis.words SET terms = '{}', body_counts = '{}', name_counts = '{}'",
    );
    store.mend(&mut |_| Ok(())).unwrap();
    assert_eq!(words(&store), written);
}

/// All words and frequencies, as text.
fn words(store: &super::PostgresStore) -> Vec<String> {
    store
        .connections
        .read(async |transaction| {
            let select = "SELECT w::text FROM words w UNION ALL SELECT f::text FROM frequencies f ORDER BY 1";
            Ok(transaction.query(select, &[]).await?.iter().map(|row| row.get(0)).collect())
        })
        .unwrap()
}
