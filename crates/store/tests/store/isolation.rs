//! Several namespaces in one store: a search of some of them answers as if the store held nothing else.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::common::*;

tests_on_every_store! {
    a_namespace_that_is_not_there_or_has_nothing_finds_nothing
}

const NAMESPACES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
const WORDS: [&str; 8] = ["flour", "grain", "sand", "river", "sieve", "sea", "milling", "parseConfig"];

/// A change to a store: each store of the same namespaces applies the same.
#[derive(Debug, Clone)]
enum Step {
    Put { namespace: usize, path: u8, texts: Vec<Vec<usize>>, code: bool },
    Delete { namespace: usize, path: u8 },
    Embed,
    Publish,
}

fn step() -> impl Strategy<Value = Step> {
    let texts = prop::collection::vec(prop::collection::vec(0..WORDS.len(), 1..12), 0..4);
    prop_oneof![
        8 => (0..NAMESPACES.len(), 0u8..4, texts, any::<bool>())
            .prop_map(|(namespace, path, texts, code)| Step::Put { namespace, path, texts, code }),
        2 => (0..NAMESPACES.len(), 0u8..4).prop_map(|(namespace, path)| Step::Delete { namespace, path }),
        1 => Just(Step::Embed),
        1 => Just(Step::Publish),
    ]
}

fn path(number: u8) -> String {
    format!("p{number}.md")
}

/// Makes a store from the changes to some namespaces.
fn made_of(directory: &std::path::Path, steps: &[Step], namespaces: &[usize]) -> EmbeddedStore {
    let store = open(directory);
    for step in steps {
        match step {
            Step::Put { namespace, path: number, texts, code } if namespaces.contains(namespace) => {
                let text = |words: &Vec<usize>| words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" ");
                let passages = texts.iter().map(|words| {
                    let mut passage = passage(&text(words));
                    passage.form = if *code { TextForm::Code } else { TextForm::Prose };
                    passage
                });
                let new = document(&path(*number), passages.collect());
                put(&store, vec![NewDocument { namespace: NAMESPACES[*namespace].into(), ..new }]);
            }
            Step::Delete { namespace, path: number } if namespaces.contains(namespace) => {
                if let Some(known) = store.document(NAMESPACES[*namespace], &path(*number)).unwrap() {
                    store.apply(&[Change::Delete { document: known.document }]).unwrap();
                }
            }
            Step::Put { .. } | Step::Delete { .. } => {}
            Step::Embed => _ = embed(&store),
            Step::Publish => publish(&store),
        }
    }
    complete(&store);
    store
}

fn filter_of(namespaces: &[usize]) -> Filter {
    Filter { namespaces: namespaces.iter().map(|&number| NAMESPACES[number].to_owned()).collect(), ..Filter::default() }
}

/// Names of passages that two stores share: namespace, path, position.
type Names = BTreeMap<PassageId, (String, String, u32)>;

fn names(store: &EmbeddedStore, namespaces: &[usize]) -> Names {
    let mut names = Names::new();
    for namespace in namespaces.iter().map(|&number| NAMESPACES[number]) {
        for known in store.documents(namespace).unwrap() {
            for passage in store.document_passages(namespace, &known.path).unwrap() {
                names.insert(passage.passage, (passage.namespace, passage.path, passage.ordinal));
            }
        }
    }
    names
}

/// A passage by its name, with the bits of its score and coverage.
type Scored = ((String, String, u32), u32, u32);

/// Hits in a form that can be compared between two stores, to the last bit. Passages with equal scores come by their
/// numbers, which follow the order of insertion, in every store.
fn lexical(found: &LexicalHits, names: &Names) -> (Vec<Scored>, String) {
    let scored =
        |hit: &LexicalHit| (names[&hit.passage].clone(), hit.score.bm25.to_bits(), hit.score.coverage.to_bits());
    (found.hits.iter().map(scored).collect(), format!("{:?}", found.statistics))
}

fn bits(scores: &[LexicalScore]) -> Vec<(u32, u32)> {
    scores.iter().map(|score| (score.bm25.to_bits(), score.coverage.to_bits())).collect()
}

/// Asserts that a search of `some` in a store of everything equals one in a store of `some`.
fn assert_isolated(all: &EmbeddedStore, only: &EmbeddedStore, some: &[usize], query: &str, k: usize) {
    let filter = filter_of(some);
    let (names_of_all, names_of_only) = (names(all, some), names(only, some));
    let selected: Vec<PassageId> = all.select(&filter).unwrap().iter().map(|found| found.passage).collect();
    assert_eq!(selected, names_of_all.keys().copied().collect::<Vec<_>>());

    let query = LexicalQuery::new(query);
    let here = all.lexical(&query, &filter, k).unwrap();
    let there = only.lexical(&query, &Filter::default(), k).unwrap();
    assert_eq!(lexical(&here, &names_of_all), lexical(&there, &names_of_only));
    let statistics = all.lexical(&query, &filter, 0).unwrap();
    assert!(statistics.hits.is_empty());
    assert_eq!(statistics.statistics, here.statistics);

    let ordered = |names: &Names| {
        let mut ids: Vec<PassageId> = names.keys().copied().collect();
        ids.sort_by_key(|id| &names[id]);
        ids
    };
    let (ids_here, ids_there) = (ordered(&names_of_all), ordered(&names_of_only));
    let scores = all.bm25(&query, &filter, &ids_here).unwrap();
    assert_eq!(bits(&scores), bits(&only.bm25(&query, &Filter::default(), &ids_there).unwrap()));
    for hit in &here.hits {
        let place = ids_here.iter().position(|id| *id == hit.passage).unwrap();
        assert_eq!(scores[place], hit.score);
    }
    let strangers: Vec<PassageId> = self::all(all).into_iter().filter(|one| !names_of_all.contains_key(one)).collect();
    assert!(all.bm25(&query, &filter, &strangers).unwrap().iter().all(|score| *score == LexicalScore::default()));

    let vector = [0.3, -0.2, 1.0, 0.5, -0.9, 0.1, 0.0, 0.7];
    let here = all.nearest(MODEL, &vector, &filter, k).unwrap();
    let there = only.nearest(MODEL, &vector, &Filter::default(), k).unwrap();
    let semantic = |found: &Nearest, names: &Names| -> Vec<_> {
        found.hits.iter().map(|hit| (names[&hit.passage].clone(), hit.similarity.to_bits())).collect()
    };
    assert_eq!(semantic(&here, &names_of_all), semantic(&there, &names_of_only));
    assert_eq!(format!("{:?}", here.background), format!("{:?}", there.background));

    assert_eq!(all.coverage(MODEL, &filter).unwrap(), only.coverage(MODEL, &Filter::default()).unwrap());
    let lacking = |store: &EmbeddedStore, filter: &Filter| {
        let mut texts: Vec<String> =
            store.unembedded("another", filter, 1_000).unwrap().into_iter().map(|text| text.text).collect();
        texts.sort();
        texts
    };
    assert_eq!(lacking(all, &filter), lacking(only, &Filter::default()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn no_passage_of_another_namespace_is_read_scored_or_counted(
        steps in prop::collection::vec(step(), 4..24),
        some in prop::sample::subsequence(vec![0usize, 1, 2, 3], 1..4),
        words in prop::collection::vec(0..WORDS.len(), 1..5),
        k in 1usize..40,
    ) {
        let (directory, other) = (temporary(), temporary());
        let every: Vec<usize> = (0..NAMESPACES.len()).collect();
        let all = made_of(directory.path(), &steps, &every);
        let only = made_of(other.path(), &steps, &some);
        let query: Vec<&str> = words.iter().map(|&word| WORDS[word]).collect();
        assert_isolated(&all, &only, &some, &format!("{} unheard", query.join(" ")), k);
        assert_sound(&all);
        // A filter that names every namespace equals no filter.
        let named = all.lexical(&LexicalQuery::new("flour sand"), &filter_of(&every), 40).unwrap();
        prop_assert_eq!(named, all.lexical(&LexicalQuery::new("flour sand"), &Filter::default(), 40).unwrap());
    }
}

/// Blocks of 128 postings are skipped by their passage that scores highest at the average length of all passages in the
/// segment. Here that is one of thirty words among long neighbours, but within its own namespace it is the one of one
/// word.
#[test]
fn a_neighbour_of_long_passages_hides_nothing() {
    let text = |flour: usize, others: usize| [vec![0; flour], (0..others).map(|word| 1 + word % 5).collect()].concat();
    let namespace_of = |namespace, path, texts| Step::Put { namespace, path, texts, code: true };
    let second_block = (0..128).map(|number| if number == 60 { text(1, 0) } else { text(3, 27) }).collect();
    let steps = [
        namespace_of(0, 0, vec![text(1, 3); 128]),
        namespace_of(0, 1, second_block),
        // A second term, as blocks are only skipped with several terms.
        namespace_of(0, 2, [vec![text(1, 3); 20], vec![vec![7]]].concat()),
        namespace_of(1, 0, vec![text(1, 400); 300]),
    ];
    let (directory, other) = (temporary(), temporary());
    let all = made_of(directory.path(), &steps, &[0, 1]);
    let only = made_of(other.path(), &steps, &[0]);
    let best = all.lexical(&LexicalQuery::new("flour parse"), &filter_of(&[0]), 2).unwrap().hits;
    assert_eq!(texts(&all, &[best[1].passage]), ["flour"]);
    for query in ["flour parse", "flour sand", "river sieve sea grain"] {
        for k in [1, 10, 100] {
            assert_isolated(&all, &only, &[0], query, k);
        }
    }
}

fn a_namespace_that_is_not_there_or_has_nothing_finds_nothing(store: &dyn Store) {
    put(store, vec![prose("a.md", &["flour and sand", "flour"])]);
    store.put_namespace(&NewNamespace { name: "empty".into(), ..Default::default() }).unwrap();
    complete(store);
    for name in ["nowhere", "empty"] {
        let filter = Filter::namespace(name);
        let found = store.lexical(&LexicalQuery::new("flour"), &filter, 5).unwrap();
        assert_eq!((found.hits.len(), found.statistics.passages, found.statistics.indexed), (0, 0, 0));
        assert_eq!((found.statistics.terms[0].document_frequency, found.statistics.expected_score), (0, 0.0));
        let nearest = store.nearest(MODEL, &[1.0; 8], &filter, 5).unwrap();
        assert_eq!((nearest.hits.len(), nearest.background.count), (0, 0));
        let scores = store.bm25(&LexicalQuery::new("flour"), &filter, &all(store)).unwrap();
        assert_eq!(scores, [LexicalScore::default(); 2]);
    }
}

/// The words of namespaces with near numbers are read in one pass.
#[test]
fn namespaces_far_apart_are_found_and_those_between_are_not() {
    let (_directory, store) = opened();
    let names: Vec<String> = (0..40).map(|number| format!("tree{number}")).collect();
    let document = |name: &String| NewDocument { namespace: name.clone(), ..prose("a.md", &["flour and sand"]) };
    put(&store, names.iter().map(document).collect());
    publish(&store);
    let filter = Filter { namespaces: [0, 3, 39].map(|number| names[number].clone()).to_vec(), ..Filter::default() };
    let selected: Vec<PassageId> = store.select(&filter).unwrap().iter().map(|found| found.passage).collect();
    let hits = store.lexical(&LexicalQuery::new("flour sand"), &filter, 50).unwrap().hits;
    assert_eq!(hits.iter().map(|hit| hit.passage).collect::<Vec<_>>(), selected);
    assert_eq!(store.containing("sand and flour", &filter, 50).unwrap(), selected);
    assert_eq!(selected.len(), 3);
}
