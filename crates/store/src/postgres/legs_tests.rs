//! Both legs answer as those of the embedded store, given the same documents, and hold the same after any sequence of changes.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

use super::testing::{Both, DIMENSION, MODEL, NAMESPACES, Random, content, counts, document, embedded};
use super::{PostgresStore, testing};
use crate::connection::Access;
use crate::embedded::EmbeddedStore;
use crate::filter::Filter;
use crate::hits::LexicalQuery;
use crate::record::{Change, ModelKey, NewDocument, NewPassage, PassageId, TextForm, TextHash};
use crate::store::{Changes, Documents, LexicalLeg, Maintenance, VectorLeg};

impl Both {
    fn assert_same(&self, text: &str, vector: &[f32], filter: &Filter, k: usize) {
        let (theirs, their_filter) = (self.theirs(), self.their_filter(filter));
        let said = format!("{text:?} with {filter:?}");
        let selected: Vec<_> = self.postgres.select(filter).unwrap().iter().map(|one| theirs[&one.passage]).collect();
        let expected: Vec<_> = self.embedded.select(&their_filter).unwrap().iter().map(|one| one.passage).collect();
        assert_eq!(selected, expected, "{said}");

        for postgres in [&*self.postgres, &self.in_memory] {
            self.assert_same_words(postgres, text, filter, k, &said);
        }
        self.assert_same_semantic(vector, filter, k, 0.000_1);
    }

    fn assert_same_words(&self, postgres: &PostgresStore, text: &str, filter: &Filter, k: usize, said: &str) {
        let (theirs, their_filter) = (self.theirs(), self.their_filter(filter));
        let query = LexicalQuery::new(text);
        let found = postgres.lexical(&query, filter, k).unwrap();
        let expected = self.embedded.lexical(&query, &their_filter, k).unwrap();
        assert_eq!(found.hits.len(), expected.hits.len(), "{said}");
        for (ours, other) in found.hits.iter().zip(&expected.hits) {
            assert_eq!(theirs[&ours.passage], other.passage, "{said}");
            assert!((ours.score.bm25 - other.score.bm25).abs() < 1e-4, "{said}: {ours:?} {other:?}");
            assert!((ours.score.coverage - other.score.coverage).abs() < 1e-6, "{said}: {ours:?} {other:?}");
        }
        assert_eq!(found.statistics, expected.statistics, "{said}");

        let ids: Vec<PassageId> = self.passages.iter().step_by(5).map(|(ours, _)| *ours).collect();
        let their_ids: Vec<PassageId> = ids.iter().map(|id| theirs[id]).collect();
        let scores = postgres.bm25(&query, filter, &ids).unwrap();
        for (ours, other) in scores.iter().zip(self.embedded.bm25(&query, &their_filter, &their_ids).unwrap()) {
            assert!((ours.bm25 - other.bm25).abs() < 1e-4 && (ours.coverage - other.coverage).abs() < 1e-6, "{said}");
        }

        let numbers = |ids: Vec<PassageId>| ids.iter().map(|id| theirs[id]).collect::<Vec<_>>();
        let two = text.split(' ').take(2).collect::<Vec<_>>().join(" ");
        for limit in [1_000, 5, 0] {
            for name in ["open", "lock", "Get", "get", "none"] {
                let found = postgres.defining(name, filter, limit).unwrap();
                assert_eq!(
                    numbers(found),
                    self.embedded.defining(name, &their_filter, limit).unwrap(),
                    "{name} {said}"
                );
            }
            for text in [&two, text.split(' ').next().unwrap_or_default()] {
                let found = postgres.containing(text, filter, limit).unwrap();
                assert_eq!(numbers(found), self.embedded.containing(text, &their_filter, limit).unwrap(), "{said}");
            }
        }
    }

    fn assert_same_coverage(&self, filter: &Filter) {
        let coverage = self.postgres.coverage(MODEL, filter).unwrap();
        assert_eq!(coverage, self.embedded.coverage(MODEL, &self.their_filter(filter)).unwrap(), "{filter:?}");
    }

    fn assert_same_semantic(&self, vector: &[f32], filter: &Filter, k: usize, tolerance: f32) {
        let (theirs, their_filter) = (self.theirs(), self.their_filter(filter));
        self.assert_same_coverage(filter);
        let found = self.postgres.nearest(MODEL, vector, filter, k).unwrap();
        let expected = self.embedded.nearest(MODEL, vector, &their_filter, k).unwrap();
        assert_eq!(found.hits.len(), expected.hits.len(), "{filter:?}");
        for (ours, other) in found.hits.iter().zip(&expected.hits) {
            assert_eq!(theirs[&ours.passage], other.passage, "{filter:?}");
            assert!((ours.similarity - other.similarity).abs() < 1e-4, "{filter:?}");
        }
        let (ours, other) = (found.background, expected.background);
        assert_eq!(ours.count, other.count, "{filter:?}");
        let pairs = [(ours.mean, other.mean), (ours.deviation, other.deviation)];
        let quantiles = ours.quantiles.iter().zip(&other.quantiles).map(|(ours, other)| (ours.1, other.1));
        for (ours, other) in pairs.into_iter().chain(quantiles) {
            assert!((ours - other).abs() <= tolerance, "{filter:?}: {ours} {other}");
        }
    }
}

#[test]
fn both_stores_answer_alike() {
    let Some(both) = Both::new(1, 60) else { return };
    let mut random = Random(2);
    for namespaces in [&NAMESPACES[..], &NAMESPACES[..1], &NAMESPACES[1..], &[]] {
        let filter =
            Filter { namespaces: namespaces.iter().map(|name| (*name).to_owned()).collect(), ..Filter::default() };
        for k in [0, 1, 10, 1_000] {
            both.assert_same(&random.text(4), &random.vector(), &filter, k);
        }
    }
    for text in ["", "the of", "how is it", "nothing here", "parse_config(utf8) naïve 全文", "\u{0}"] {
        both.assert_same(text, &random.vector(), &Filter::default(), 10);
    }
    both.assert_same(&random.text(400), &random.vector(), &Filter::namespace("anvil"), 10);
}

#[test]
fn both_stores_filter_alike() {
    let Some(both) = Both::new(3, 40) else { return };
    let mut random = Random(4);
    for _ in 0..120 {
        let (filter, words) = (both.filter(&mut random), 1 + random.below(6));
        both.assert_same(&random.text(words), &random.vector(), &filter, 1 + random.below(20));
    }
}

#[test]
fn large_namespaces_are_searched_alike() {
    let Some(both) = Both::new(5, 60) else { return };
    let mut random = Random(6);
    let mut store = both.postgres.another();
    store.legs.sizes = crate::postgres::Sizes { few: 100, sample: 1_000_000, ..Default::default() };
    let connections = &store.connections;
    let scanned = |filter: &Filter, vector: &[f32]| {
        let found = store.nearest(MODEL, vector, filter, 10).unwrap();
        let expected = both.postgres.nearest(MODEL, vector, filter, 10).unwrap();
        assert_eq!(found.hits, expected.hits, "{filter:?}");
        let (ours, other) = (&found.background, &expected.background);
        assert_eq!((ours.count, ours.sampled), (other.count, false), "{filter:?}");
        assert!(
            (ours.mean - other.mean).abs() < 0.005 && (ours.deviation - other.deviation).abs() < 0.005,
            "{filter:?}"
        );
        for (ours, other) in ours.quantiles.iter().zip(&other.quantiles) {
            assert!((ours.1 - other.1).abs() < 0.01, "{filter:?}: {ours:?} {other:?}");
        }
    };
    let mut filters: Vec<Filter> = (0..25).map(|_| both.filter(&mut random)).collect();
    filters.extend([Filter::default(), Filter::namespace("anvil")]);
    for filter in &filters {
        scanned(filter, &random.vector());
    }
    connections.wait(crate::postgres::vectors::in_database::ensure(connections, 10)).unwrap();
    connections.wait(crate::postgres::vectors::in_database::ensure(connections, 10)).unwrap();
    for filter in &filters {
        scanned(filter, &random.vector());
    }
    let mut store = both.postgres.another();
    store.legs.sizes = crate::postgres::Sizes { few: 100, sample: 50, ..Default::default() };
    let sampled = store.nearest(MODEL, &random.vector(), &Filter::default(), 10).unwrap().background;
    assert!(sampled.sampled && sampled.count > 100 && sampled.quantiles.is_sorted_by(|a, b| a.1 <= b.1));
}

#[test]
fn words_that_are_not_searched_for_change_nothing() {
    let Some(both) = Both::new(14, 60) else { return };
    let mut random = Random(15);
    let mut store = both.postgres.another();
    store.legs.sizes = crate::postgres::Sizes { few: 30, first: 5, ..Default::default() };
    let mut searched = |store: &PostgresStore| {
        for _ in 0..60 {
            let (query, filter) = (LexicalQuery::new(random.text(5)), both.filter(&mut random));
            for filter in [Filter::default(), Filter::namespace("bellows"), filter] {
                let k = 1 + random.below(12);
                let expected = both.postgres.lexical(&query, &filter, k).unwrap();
                assert_eq!(store.lexical(&query, &filter, k).unwrap(), expected, "{query:?} {filter:?}");
            }
        }
    };
    searched(&store);
    // Every word is frequent.
    store.legs.sizes = crate::postgres::Sizes { few: 30, first: 0, ..Default::default() };
    searched(&store);
    let connections = &store.connections;
    if !connections.wait(crate::postgres::words::index::create(connections)).unwrap() {
        eprintln!("skipped: the server has no index of words");
        return;
    }
    store.legs.sizes = crate::postgres::Sizes { few: 30, many: 1, ..Default::default() };
    searched(&store);
}

#[test]
fn a_text_keeps_its_vector_in_another_namespace() {
    let Some(both) = Both::new(16, 10) else { return };
    let (mut random, model) = (Random(17), ModelKey { id: MODEL.into(), dimension: DIMENSION });
    let copy = |namespace: &str| {
        let passages = vec![NewPassage::new("section", 1..=1, "one text in two places", TextForm::Prose)];
        Change::Put(NewDocument { passages, ..NewDocument::new(namespace, "docs", "copy.md") })
    };
    both.apply(vec![copy("anvil"), copy("bellows")]);
    let vector = (TextHash::of("one text in two places"), random.vector());
    for store in [&*both.postgres as &dyn VectorLeg, &both.embedded] {
        assert_eq!(store.put_vectors(&model, std::slice::from_ref(&vector)).unwrap(), 1);
    }
    both.apply(vec![copy("crucible")]);
    both.embedded.publish(&mut |_| Ok(())).unwrap();
    for namespace in NAMESPACES {
        let filter = Filter::namespace(namespace);
        both.assert_same_coverage(&filter);
        let near = both.postgres.nearest(MODEL, &vector.1, &filter, 1).unwrap();
        assert!(near.hits[0].similarity > 0.999, "{namespace}");
    }
    let missing = both.postgres.unembedded(MODEL, &Filter::default(), 1_000).unwrap();
    assert!(missing.iter().all(|text| text.hash != vector.0));
}

#[test]
fn a_namespace_does_not_influence_another() {
    let Some(both) = Both::new(7, 20) else { return };
    let (filter, query, mut random) =
        (Filter::namespace("anvil"), LexicalQuery::new("retry the connection pool"), Random(8));
    let vector = random.vector();
    let lexical = both.postgres.lexical(&query, &filter, 50).unwrap();
    let nearest = both.postgres.nearest(MODEL, &vector, &filter, 50).unwrap();
    assert!(!lexical.hits.is_empty() && !nearest.hits.is_empty());
    let more = (0..30).map(|number| Change::Put(document(&mut random, "bellows", 5_000 + number))).collect();
    both.apply(more);
    both.embed(&mut random, &Filter::namespace("bellows"));
    both.postgres.publish(&mut |_| Ok(())).unwrap();
    assert_eq!(both.postgres.lexical(&query, &filter, 50).unwrap(), lexical);
    assert_eq!(both.postgres.nearest(MODEL, &vector, &filter, 50).unwrap(), nearest);
}

#[test]
fn changes_are_seen_at_once() {
    let Some(mut both) = Both::new(9, 20) else { return };
    let mut random = Random(10);
    for round in 0..4 {
        let put = (0..5).map(|number| Change::Put(document(&mut random, "anvil", 100 * round + number))).collect();
        both.apply(put);
        both.embed(&mut random, &Filter::default());
        both.embedded.publish(&mut |_| Ok(())).unwrap();
        both.number();
        for filter in [Filter::default(), Filter::namespace("anvil"), both.filter(&mut random)] {
            both.assert_same(&random.text(3), &random.vector(), &filter, 10);
        }
    }
}

#[test]
fn words_in_memory_that_disagree_with_the_database_are_read_again() {
    let Some(both) = Both::new(18, 20) else { return };
    let (filter, query) = (Filter::namespace("anvil"), LexicalQuery::new("retry the connection pool"));
    let found = |store: &PostgresStore| store.lexical(&query, &filter, 50).unwrap().hits;
    let expected = found(&both.in_memory);
    assert!(!expected.is_empty());
    both.postgres.execute(
        "UPDATE tamis.words SET terms = array_fill(0::bigint, ARRAY[cardinality(terms)]) WHERE passage % 2 = 0",
    );
    assert_eq!(found(&both.in_memory), expected, "nothing says that it changed");
    let damaged = found(&both.postgres);
    assert!(damaged.len() < expected.len());
    let mut later = both.postgres.another();
    later.legs.sizes.patience = 0;
    assert_eq!(found(&later), damaged, "it is as the database has it");
    both.postgres.mend(&mut |_| Ok(())).unwrap();
    assert_eq!(found(&later), expected);
    assert_eq!(found(&both.in_memory), expected);
}

#[test]
fn a_vector_that_does_not_fit_is_refused() {
    let Some(both) = Both::new(11, 5) else { return };
    let model = ModelKey { id: MODEL.into(), dimension: DIMENSION };
    let hash = TextHash::of("text");
    let said = |store: &dyn VectorLeg| {
        let infinite = [vec![0.0; DIMENSION - 1], vec![f32::NAN]].concat();
        let other = ModelKey { dimension: DIMENSION + 1, ..model.clone() };
        [
            store.put_vectors(&model, &[(hash, vec![1.0; 3])]).unwrap_err().to_string(),
            store.put_vectors(&model, &[(hash, infinite.clone())]).unwrap_err().to_string(),
            store.put_vectors(&other, &[(hash, vec![1.0; DIMENSION + 1])]).unwrap_err().to_string(),
            store.nearest(MODEL, &[1.0], &Filter::default(), 3).unwrap_err().to_string(),
            store.nearest(MODEL, &infinite, &Filter::default(), 3).unwrap_err().to_string(),
            store.similarities(MODEL, &infinite, &Filter::default(), &[]).unwrap_err().to_string(),
        ]
    };
    assert_eq!(said(&*both.postgres), said(&both.embedded));
    assert_eq!(
        both.postgres.put_vectors(&model, &[(hash, vec![1.0; DIMENSION])]).unwrap(),
        0,
        "no passage has the text"
    );
    assert_eq!(
        both.postgres.nearest("unknown", &[1.0], &Filter::default(), 3).unwrap(),
        crate::hits::Nearest::default()
    );
    let glob = Filter { path_globs: vec!["src/[".to_owned()], ..Filter::default() };
    let refused = |error: crate::StoreError| error.to_string();
    assert_eq!(
        both.postgres.select(&glob).map_err(refused).unwrap_err(),
        both.embedded.select(&glob).map_err(refused).unwrap_err()
    );
}

#[test]
fn similarities_and_vectors_are_those_of_the_passages_asked_for() {
    let Some(both) = Both::new(12, 20) else { return };
    let vector = Random(13).vector();
    let (mut ours, mut theirs): (Vec<_>, Vec<_>) = both.passages.iter().rev().copied().unzip();
    ours.push(PassageId(u64::MAX));
    theirs.push(PassageId(u64::MAX >> 1));
    let everything = Filter::default();
    let found = both.postgres.similarities(MODEL, &vector, &everything, &ours).unwrap();
    assert_eq!(found, both.embedded.similarities(MODEL, &vector, &everything, &theirs).unwrap());
    assert!(found.iter().any(Option::is_some) && found.iter().any(Option::is_none));
    let of_one = Filter::namespace(NAMESPACES[0]);
    for in_memory in [false, true] {
        if in_memory {
            both.postgres.nearest(MODEL, &vector, &of_one, 1).unwrap();
        }
        let among = both.postgres.similarities(MODEL, &vector, &of_one, &ours).unwrap();
        assert_eq!(among, both.embedded.similarities(MODEL, &vector, &of_one, &theirs).unwrap());
        assert!(among.iter().flatten().count() < found.iter().flatten().count());
    }
    assert_eq!(both.postgres.vectors(MODEL, &[], &ours).unwrap(), both.embedded.vectors(MODEL, &[], &theirs).unwrap());
}

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
fn words(store: &crate::postgres::PostgresStore) -> Vec<String> {
    store
        .connections
        .read(async |transaction| {
            let select = "SELECT w::text FROM words w UNION ALL SELECT f::text FROM frequencies f ORDER BY 1";
            Ok(transaction.query(select, &[]).await?.iter().map(|row| row.get(0)).collect())
        })
        .unwrap()
}
