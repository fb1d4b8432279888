//! Both retrievers answer as those of the embedded store, given the same documents, and hold the same after any sequence of changes.

use super::*;
use crate::{LexicalQuery, VectorRetriever};

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
                let other = self.embedded.defining(name, &their_filter, limit).unwrap();
                assert_eq!(numbers(found), other, "{name} {said}");
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
        for (ours, other) in [(ours.mean, other.mean), (ours.deviation, other.deviation)] {
            assert!((ours - other).abs() <= tolerance, "{filter:?}: {ours} {other}");
        }
    }
}

#[test]
fn both_stores_answer_and_filter_alike() {
    let Some(both) = Both::new(1, 60) else { return };
    let mut random = Random(2);
    for namespaces in [&NAMESPACES[..], &NAMESPACES[..1], &NAMESPACES[1..], &[]] {
        let filter = Filter { namespaces: namespaces.iter().map(|&name| name.into()).collect(), ..Filter::default() };
        for k in [0, 1, 10, 1_000] {
            both.assert_same(&random.text(4), &random.vector(), &filter, k);
        }
    }
    for text in ["", "the of", "how is it", "nothing here", "parse_config(utf8) naïve 全文", "\u{0}"] {
        both.assert_same(text, &random.vector(), &Filter::default(), 10);
    }
    both.assert_same(&random.text(400), &random.vector(), &Filter::namespace("anvil"), 10);
    let Some(both) = Both::new(3, 40) else { return };
    let mut random = Random(4);
    for _ in 0..120 {
        let (filter, words) = (both.filter(&mut random), 1 + random.below(6));
        both.assert_same(&random.text(words), &random.vector(), &filter, 1 + random.below(20));
    }
}

#[test]
fn many_namespaces_are_searched_alike() {
    let Some(mut both) = Both::new(19, 3) else { return };
    let mut random = Random(20);
    let trees: Vec<String> = (0..200).map(|number| format!("tree{number:03}")).collect();
    both.apply(trees.iter().map(|tree| Change::Put(document(&mut random, tree, 0))).collect());
    both.embed(&mut random, &Filter::default());
    both.embedded.publish(&mut |_| Ok(())).unwrap();
    both.number();
    let several: Vec<String> = trees.into_iter().step_by(7).collect();
    let some = Filter { namespaces: several.clone(), ..Filter::default() };
    for filter in [Filter::default(), some.clone(), Filter { path_globs: vec!["*.md".into()], ..some }] {
        for k in [5, 1_000] {
            both.assert_same(&random.text(3), &random.vector(), &filter, k);
        }
    }
}

#[test]
fn large_namespaces_are_searched_alike() {
    let Some(both) = Both::new(5, 60) else { return };
    let mut random = Random(6);
    let mut store = both.postgres.another();
    store.retrievers.sizes = crate::postgres::Sizes { few: 100, sample: 1_000_000, ..Default::default() };
    let connections = &store.connections;
    let scanned = |filter: &Filter, vector: &[f32]| {
        let found = store.nearest(MODEL, vector, filter, 10).unwrap();
        let expected = both.postgres.nearest(MODEL, vector, filter, 10).unwrap();
        assert_eq!(found.hits, expected.hits, "{filter:?}");
        let (ours, other) = (&found.background, &expected.background);
        assert_eq!((ours.count, ours.sampled), (other.count, false), "{filter:?}");
        let apart = (ours.mean - other.mean).abs().max((ours.deviation - other.deviation).abs());
        assert!(apart < 0.005, "{filter:?}");
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
    store.retrievers.sizes = crate::postgres::Sizes { few: 100, sample: 50, ..Default::default() };
    let sampled = store.nearest(MODEL, &random.vector(), &Filter::default(), 10).unwrap().background;
    assert!(sampled.sampled && sampled.count > 100);
}

#[test]
fn words_that_are_not_searched_for_change_nothing() {
    let Some(both) = Both::new(14, 60) else { return };
    let mut random = Random(15);
    let mut store = both.postgres.another();
    store.retrievers.sizes = crate::postgres::Sizes { few: 30, first: 5, ..Default::default() };
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
    store.retrievers.sizes = crate::postgres::Sizes { few: 30, first: 0, ..Default::default() };
    searched(&store);
    let connections = &store.connections;
    if !connections.wait(crate::postgres::words::index::create(connections)).unwrap() {
        eprintln!("skipped: the server has no index of words");
        return;
    }
    store.retrievers.sizes = crate::postgres::Sizes { few: 30, many: 1, ..Default::default() };
    searched(&store);
}

#[test]
fn a_text_keeps_its_vector_in_another_namespace() {
    let Some(both) = Both::new(16, 10) else { return };
    let (mut random, model) = (Random(17), ModelKey { id: MODEL.into(), dimension: DIMENSION });
    let copy = |namespace: &str| put_in(namespace, "copy.md", &["one text in two places"]);
    both.apply(vec![copy("anvil"), copy("bellows")]);
    let vector = (TextHash::from_text("one text in two places"), random.vector());
    for store in [&*both.postgres as &dyn VectorRetriever, &both.embedded] {
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
    later.retrievers.sizes.patience = 0;
    assert_eq!(found(&later), damaged, "it is as the database has it");
    both.postgres.mend(&mut |_| Ok(())).unwrap();
    assert_eq!(found(&later), expected);
    assert_eq!(found(&both.in_memory), expected);
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

/// Changes for two stores of the same documents, which have numbers of their own in each.
fn changes(random: &mut Random, ours: &dyn Documents, theirs: &dyn Documents) -> (Vec<Change>, Vec<Change>) {
    let known = |store: &dyn Documents| -> Vec<DocumentId> {
        let states = ["here", "there"].into_iter().flat_map(|name| store.documents(name).unwrap());
        states.map(|state| state.document).collect()
    };
    let (ours, theirs, count) = (known(ours), known(theirs), 1 + random.below(7));
    let mut change = || {
        let path = format!("folder/sieve_{}.md", random.below(6));
        let at = random.below(ours.len().max(1));
        let numbers = ours.get(at).zip(theirs.get(at)).map(|(ours, theirs)| [*ours, *theirs]);
        match (random.below(10), numbers) {
            (0, Some(numbers)) => {
                numbers.map(|document| Change::Touch { document, file: FileStat { size: 5, modified_ns: 6, stamp: 0 } })
            }
            (1 | 2, Some(numbers)) => numbers.map(|document| {
                let path = path.clone();
                Change::Move { document, path, file: FileStat { size: 7, modified_ns: 8, stamp: 0 } }
            }),
            (3 | 4, Some(numbers)) => numbers.map(|document| Change::Delete { document }),
            _ => {
                let namespace = *random.one_of(&["here", "there"]);
                let put = Change::Put(NewDocument { path, ..document(random, namespace, 0) });
                [put.clone(), put]
            }
        }
    };
    let steps: Vec<[Change; 2]> = (0..count).map(|_| change()).collect();
    steps.into_iter().map(|[ours, theirs]| (ours, theirs)).unzip()
}

#[test]
fn both_stores_hold_the_same_after_any_changes() {
    let Some(store) = store() else { return };
    for seed in 0..40 {
        let mut random = Random(seed);
        let (directory, known) = embedded();
        for name in ["here", "there"] {
            store.remove_namespace(name).unwrap();
        }
        for list in 0..1 + random.below(5) {
            let before = store.change_number().unwrap();
            let (ours, theirs) = changes(&mut random, &*store, &known);
            let said = format!("list {list} of seed {seed}: {ours:?}");
            // A list can name a document that it has deleted. Then both refuse all of it.
            match (store.apply(&ours), known.apply(&theirs)) {
                (Ok(ours), Ok(theirs)) => {
                    assert_eq!(counts(ours), counts(theirs), "{said}");
                    assert!(ours.seq >= before && ours.seq == store.change_number().unwrap(), "{said}");
                }
                (Err(_), Err(_)) => assert_eq!(store.change_number().unwrap(), before, "{said}"),
                (ours, theirs) => panic!("{said}: {ours:?} but {theirs:?}"),
            }
            // The embedded store remembers namespaces by its change number, which a document without passages leaves.
            let fresh = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
            assert_eq!(store.namespaces().unwrap(), fresh.namespaces().unwrap(), "{said}");
            assert_eq!(content(&*store), content(&fresh), "{said}");
            assert_eq!(store.check().unwrap().problems, [], "{said}");
        }
    }
}

#[test]
fn rebuilt_words_are_those_that_were_written() {
    let Some(store) = store() else { return };
    let mut random = Random(21);
    for _ in 0..20 {
        let _ = store.apply(&changes(&mut random, &*store, &*store).0);
    }
    let words = || store.rows("SELECT w::text FROM words w UNION ALL SELECT f::text FROM frequencies f ORDER BY 1");
    let written = words();
    assert!(!written.is_empty());
    store.execute(
        "DELETE FROM tamis.frequencies; UPDATE tamis.words SET terms = '{}', body_counts = '{}', name_counts = '{}'",
    );
    store.mend(&mut |_| Ok(())).unwrap();
    assert_eq!(words(), written);
}
