//! The two retrievers: their hits, order and scores.

use crate::common::*;

tests_on_every_store! {
    more_and_rarer_words_rank_higher_and_every_score_can_be_asked_for
    bm25_is_the_textbook_formula
    words_of_most_passages_cover_nothing
    identifiers_are_found_however_they_are_written
    a_query_of_nothing_finds_nothing
    a_long_query_is_answered_by_its_rarest_words
    the_nearest_are_those_of_an_exact_search
    a_query_vector_is_held_to_its_model
    equal_passages_are_found_in_the_order_of_their_paths_whenever_they_were_stored
}

const TEXTS: [&str; 6] = [
    "The sieve keeps the coarse grains and lets the fine flour through.",
    "Flour is milled from grains; coarse flour is called semolina.",
    "A river carries fine sand to the sea.",
    "Call parse_config before anything else; parseConfig is its name in other languages.",
    "The sea is salty and the sand is warm.",
    "検索は全文を見る",
];

fn more_and_rarer_words_rank_higher_and_every_score_can_be_asked_for(store: &dyn Store) {
    put(store, vec![prose("a.md", &TEXTS)]);
    publish(store);
    let query = LexicalQuery::new("coarse grains of sieves, with unicorns");
    let found = store.lexical(&query, &Filter::default(), 10).unwrap();
    let order: Vec<String> = texts(store, &found.hits.iter().map(|hit| hit.passage).collect::<Vec<_>>());
    assert_eq!(order, [TEXTS[0], TEXTS[1]]);
    assert!(found.hits[0].score.bm25 > found.hits[1].score.bm25);

    let every = all(store);
    let scores = store.bm25(&query, &Filter::default(), &every).unwrap();
    for (id, score) in every.iter().zip(&scores) {
        let hit = found.hits.iter().find(|hit| hit.passage == *id);
        assert_eq!(*score, hit.map(|hit| hit.score).unwrap_or_default());
    }
    assert_eq!(store.bm25(&query, &Filter::default(), &[PassageId(9_999)]).unwrap()[0].bm25, 0.0);

    let statistics = &found.statistics;
    assert_eq!((statistics.passages, statistics.indexed), (6, 6));
    let term = |name: &str| statistics.terms.iter().find(|term| term.term == name).unwrap();
    assert_eq!(term("grains").document_frequency, 2);
    assert_eq!(term("sieves").document_frequency, 1, "found by its stem");
    assert_eq!(term("unicorns").document_frequency, 0);
    assert!(term("unicorns").idf > term("sieves").idf);
    let mass: f32 = statistics.terms.iter().map(|term| term.idf).sum();
    let matched = term("coarse").idf + term("grains").idf + term("sieves").idf;
    assert!((found.hits[0].score.coverage - matched / mass).abs() < 1e-6);
    let expected: f32 = statistics.terms.iter().map(|term| term.document_frequency as f32 / 6.0 * term.idf).sum();
    assert!((statistics.expected_score - expected).abs() < 1e-5);
}

fn bm25_is_the_textbook_formula(store: &dyn Store) {
    // Lengths below 40 are kept exactly.
    put(store, vec![prose("a.md", &["wheat wheat rye", "wheat oats", "barley"])]);
    publish(store);
    let score = store.bm25(&LexicalQuery::new("wheat"), &Filter::default(), &all(store)).unwrap();
    let idf = (1.0f32 + (3.0 - 2.0 + 0.5) / (2.0 + 0.5)).ln();
    let bm25 = |frequency: f32, length: f32| idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / 2.0));
    assert!((score[0].bm25 - bm25(2.0, 3.0)).abs() < 1e-5);
    assert!((score[1].bm25 - bm25(1.0, 2.0)).abs() < 1e-5);
    assert_eq!(score[2].bm25, 0.0);
}

fn words_of_most_passages_cover_nothing(store: &dyn Store) {
    put(store, vec![prose("a.md", &["mill sieve", "mill flour", "mill sand"])]);
    publish(store);
    let scores = store.bm25(&LexicalQuery::new("mill sieve"), &Filter::default(), &all(store)).unwrap();
    assert_eq!(scores[0].coverage, 1.0);
    assert!(scores[1].bm25 > 0.0);
    assert_eq!(scores[1].coverage, 0.0);
    // Without rarer words, frequent ones count.
    assert_eq!(store.bm25(&LexicalQuery::new("mill"), &Filter::default(), &all(store)).unwrap()[2].coverage, 1.0);
}

fn identifiers_are_found_however_they_are_written(store: &dyn Store) {
    let parse = function("parse_config", "fn parse_config(text: &str) {}");
    let code = document("src/config.rs", vec![parse, function("Reader::read", "fn read(&self) {}")]);
    put(store, vec![prose("guide.md", &TEXTS), code]);
    publish(store);
    for query in ["parse_config", "parseConfig", "ParseConfig", "parse config", "PARSE_CONFIG"] {
        let found = found(store, query);
        assert_eq!(found[0], "fn parse_config(text: &str) {}", "{query}");
        assert!(found.contains(&TEXTS[3].to_owned()), "{query}");
    }
    assert_eq!(found(store, "全文")[0], TEXTS[5]);
    assert_eq!(found(store, "config")[0], "fn parse_config(text: &str) {}", "symbol and path count");
    let whole = store.lexical(&LexicalQuery::new("parseConfig"), &Filter::default(), 1).unwrap();
    assert_eq!(whole.hits[0].score.coverage, 1.0);
    assert!(whole.statistics.terms[0].compound);
}

fn a_query_of_nothing_finds_nothing(store: &dyn Store) {
    assert_eq!(found(store, "anything"), [""; 0], "an index without passages");
    let unknown = store.bm25(&LexicalQuery::new("anything"), &Filter::default(), &[PassageId(1)]).unwrap();
    assert_eq!(unknown[0].bm25, 0.0);
    put(store, vec![prose("a.md", &TEXTS)]);
    publish(store);
    for query in ["", "  ", "?!", "___", "unicorn"] {
        assert_eq!(found(store, query), [""; 0], "{query:?}");
    }
    assert_eq!(store.lexical(&LexicalQuery::new("sea"), &Filter::default(), 0).unwrap().hits, []);
}

fn a_long_query_is_answered_by_its_rarest_words(store: &dyn Store) {
    let mut documents = vec![prose("a.md", &TEXTS)];
    documents.extend((0..200).map(|number| prose(&format!("{number}.md"), &[&format!("line{number} the sea")])));
    put(store, documents);
    publish(store);
    let mut query = String::from("the sea semolina ");
    for number in 0..150 {
        query.push_str(&format!("unheard{number} the line{number} sea "));
    }
    let found = store.lexical(&LexicalQuery::new(query), &Filter::default(), 300).unwrap();
    let occurring = found.statistics.terms.iter().filter(|term| term.document_frequency > 0).count();
    assert_eq!(occurring, 96);
    assert!(found.statistics.terms.len() > 96, "what nobody has still counts");
    let ids: Vec<_> = found.hits.iter().map(|hit| hit.passage).collect();
    assert!(texts(store, &ids).contains(&TEXTS[1].to_owned()));
    assert!(found.hits.iter().all(|hit| hit.score.coverage < 0.1));
}

fn the_nearest_are_those_of_an_exact_search(store: &dyn Store) {
    let many: Vec<String> = (0..300).map(|number| format!("text {number}")).collect();
    put(store, vec![document("a.md", many.iter().map(|text| passage(text)).collect())]);
    embed(store);
    for published in [false, true] {
        if published {
            publish(store);
        }
        let query = vector_of(TextHash::from_text("the query"));
        let every = all(store);
        let exact = store.similarities(MODEL, &query, &Filter::default(), &every).unwrap();
        let mut expected: Vec<(f32, PassageId)> =
            exact.iter().zip(&every).map(|(similarity, id)| (similarity.unwrap(), *id)).collect();
        expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let nearest = store.nearest(MODEL, &query, &Filter::default(), 20).unwrap();
        let hits: Vec<(f32, PassageId)> = nearest.hits.iter().map(|hit| (hit.similarity, hit.passage)).collect();
        assert_eq!(hits, expected[..20]);
        let mean = expected.iter().map(|(similarity, _)| similarity).sum::<f32>() / 300.0;
        assert_eq!((nearest.background.count, nearest.background.sampled), (300, false));
        assert!((nearest.background.mean - mean).abs() < 0.01);
        assert_eq!(store.nearest(MODEL, &query, &Filter::default(), 0).unwrap().hits, []);
        assert_eq!(store.nearest(MODEL, &query, &Filter::default(), 1_000).unwrap().hits.len(), 300);
    }
}

fn a_query_vector_is_held_to_its_model(store: &dyn Store) {
    put(store, vec![prose("a.md", &["one", "two"])]);
    assert_eq!(store.nearest(MODEL, &[1.0; 8], &Filter::default(), 5).unwrap().hits, [], "no model yet");
    let one = TextHash::from_text("one");
    store.put_vectors(&model(), &[(one, vector_of(one))]).unwrap();
    assert_eq!(store.nearest("unknown", &[1.0], &Filter::default(), 3).unwrap(), Nearest::default());
    let refused = store.nearest(MODEL, &[1.0; 3], &Filter::default(), 5);
    assert!(matches!(refused, Err(StoreError::Dimension { expected: 8, received: 3, .. })));
    let infinite = [f32::INFINITY; 8];
    for refused in [
        store.nearest(MODEL, &infinite, &Filter::default(), 3).map(drop),
        store.similarities(MODEL, &infinite, &Filter::default(), &all(store)).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::NotFinite { .. }), "{error}");
    }
    let similarities = store.similarities(MODEL, &vector_of(one), &Filter::default(), &all(store)).unwrap();
    assert!((similarities[0].unwrap() - 1.0).abs() < 1e-6);
    assert_eq!(similarities[1], None, "it has no vector");
    let elsewhere = store.similarities(MODEL, &vector_of(one), &Filter::namespace("elsewhere"), &all(store)).unwrap();
    assert_eq!(elsewhere, [None, None]);
    assert_eq!(store.nearest(MODEL, &[0.0; 8], &Filter::default(), 5).unwrap().hits[0].similarity, 0.0);
}

#[test]
fn what_is_gone_is_found_as_it_was_until_that_is_published() {
    // Of the embedded store alone: in PostgreSQL a change of documents changes both retrievers with it.
    let (_directory, store) = opened();
    put(&store, vec![prose("a.md", &["flour"]), prose("b.md", &["flour too"])]);
    complete(&store);
    store.apply(&[Change::Delete { document: id_of(&store, "a.md") }]).unwrap();
    put(&store, vec![prose("c.md", &["flour again"])]);
    assert_eq!(found(&store, "flour"), ["flour", "flour too"]);
    let count = || store.nearest(MODEL, &[1.0; 8], &Filter::default(), 9).unwrap().hits.len();
    assert_eq!(count(), 1);
    embed(&store);
    assert_eq!(count(), 2, "vectors are seen at once");
    publish(&store);
    assert_eq!(found(&store, "flour"), ["flour too", "flour again"]);
}

fn equal_passages_are_found_in_the_order_of_their_paths_whenever_they_were_stored(store: &dyn Store) {
    let paths = ["c.md", "a.md", "d.md", "b.md"];
    for path in paths {
        put(store, vec![prose(path, &["the mill grinds flour", "the tide turns"])]);
        // Each publication makes a segment of its own.
        publish(store);
    }
    // More that are as good than a retriever is asked for.
    put(store, (0..20).map(|at| prose(&format!("e{at:02}.md"), &["the mill grinds flour"])).collect());
    complete(store);
    let filter = Filter::namespace("here");
    let of = |passages: Vec<PassageId>| -> Vec<String> {
        let found = store.passages(&[], &passages).unwrap();
        passages.iter().map(|id| found.iter().find(|known| known.passage == *id).unwrap().path.clone()).collect()
    };
    for k in [1, 3, 4, 10] {
        let by_words = store.lexical(&LexicalQuery::new("grinds flour"), &filter, k).unwrap().hits;
        let same = vector_of(TextHash::from_text("the mill grinds flour"));
        let by_meaning = store.nearest(MODEL, &same, &filter, k).unwrap().hits;
        let expected = ["a.md", "b.md", "c.md", "d.md", "e00.md", "e01.md", "e02.md", "e03.md", "e04.md", "e05.md"];
        assert_eq!(of(by_words.iter().map(|hit| hit.passage).collect()), expected[..k]);
        assert_eq!(of(by_meaning.iter().map(|hit| hit.passage).collect()), expected[..k]);
    }
}
