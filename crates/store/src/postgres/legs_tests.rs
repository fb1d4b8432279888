//! Both legs answer as those of the embedded store, given the same documents.

use std::collections::HashMap;

use super::testing::{TestStore, store};
use crate::access::Access;
use crate::embedded::EmbeddedStore;
use crate::filter::{AttributeCondition, Filter};
use crate::hits::LexicalQuery;
use crate::record::{Attribute, Change, DocumentId, ModelKey, NewDocument, NewPassage, PassageId, TextForm, TextHash};
use crate::store::{Changes, Documents, LexicalLeg, Maintenance, VectorLeg};

const NAMESPACES: [&str; 3] = ["anvil", "bellows", "crucible"];
const DIMENSION: usize = 24;
const MODEL: &str = "model";

/// Numbers from a seed (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one_of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    fn often(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A word, the first ones most often.
    fn word(&mut self) -> &'static str {
        let rank = self.below(WORDS.len()) * self.below(WORDS.len()) / WORDS.len();
        WORDS[rank]
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSION).map(|_| self.below(2_000) as f32 / 1_000.0 - 0.8).collect()
    }
}

const WORDS: &[&str] = &[
    "the",
    "of",
    "parse",
    "parsing",
    "configuration",
    "config",
    "parse_config",
    "ParseConfig",
    "store",
    "open",
    "close",
    "reader",
    "writer",
    "retries",
    "retry",
    "timeout",
    "connection",
    "pool",
    "index",
    "indexes",
    "searching",
    "query",
    "naïve",
    "全文",
    "utf8",
    "HTTPServer",
    "http",
    "server",
    "buffer",
    "flush",
    "token",
    "tokens",
    "stem",
    "stemming",
    "lock",
    "unlock",
    "door",
    "forge",
    "hammer",
    "steel",
    "bellows_pump",
    "ember",
    "quench",
    "temper",
    "alloy",
    "ingot",
    "x86_64",
    "why",
    "how",
    "rust",
];
const SYMBOLS: &[&str] = &[
    "Store::open",
    "Store::close",
    "Door#lock",
    "net/http.Get",
    "open_all",
    "LIMIT, Store::open",
    "Map<K, V>::get",
    "parse",
];
const LANGUAGES: &[&str] = &["rust", "markdown", "go", "python"];
const AUTHORS: &[&str] = &["Ada", "ADA", "Grüße", "GRÜSSE", "Bo"];
const LABELS: &[&str] = &["Bug", "bug", "feature", "Straße", "STRASSE"];

fn document(random: &mut Random, namespace: &str, number: usize) -> NewDocument {
    let code = random.often(50);
    let folder = *random.one_of(&["src", "src/deep", "docs", "tests"]);
    let path = format!("{folder}/{}_{number}.{}", random.word(), if code { "rs" } else { "md" });
    let collection = if code { "code" } else { "docs" };
    let mut document = NewDocument::new(namespace, collection, path);
    document.language = random.often(90).then(|| random.one_of(LANGUAGES).to_string());
    document.title = random.often(50).then(|| random.text(3));
    document.modified_ns = if random.often(70) { random.below(1_000) as i64 } else { 0 };
    document.dated_ns = random.often(40).then(|| random.below(1_000) as i64);
    document.attributes = (0..random.below(3))
        .map(|_| Attribute {
            name: random.one_of(&["label", "state"]).to_string(),
            value: random.one_of(LABELS).to_string(),
        })
        .collect();
    let passages = random.below(6);
    document.passages = (0..passages).map(|at| passage(random, code, at as u32)).collect();
    document
}

fn passage(random: &mut Random, code: bool, at: u32) -> NewPassage {
    let form = if code { TextForm::Code } else { TextForm::Prose };
    let length = 1 + random.below(60);
    let text = random.text(length);
    let kind = *random.one_of(&["function", "type", "section"]);
    NewPassage {
        symbol: (code && random.often(70)).then(|| random.one_of(SYMBOLS).to_string()),
        heading: (!code && random.often(60)).then(|| random.text(2)),
        role: random.one_of(&["main", "test"]).to_string(),
        language: random.often(20).then(|| random.one_of(LANGUAGES).to_string()),
        author: random.often(40).then(|| random.one_of(AUTHORS).to_string()),
        dated_ns: random.often(30).then(|| random.below(1_000) as i64),
        embedded_text: if random.often(50) { format!("{kind}: {text}") } else { text.clone() },
        ..NewPassage::new(kind, at + 1..=at + 1, text, form)
    }
}

/// The same content in both stores.
struct Both {
    postgres: TestStore,
    embedded: EmbeddedStore,
    /// The passages of each, in the same order.
    passages: Vec<(PassageId, PassageId)>,
    _directory: tempfile::TempDir,
}

impl Both {
    fn new(seed: u64, documents: usize) -> Option<Both> {
        let postgres = store()?;
        let directory = tempfile::tempdir().unwrap();
        let embedded = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
        let mut random = Random(seed);
        let mut both = Both { postgres, embedded, passages: Vec::new(), _directory: directory };
        for namespace in NAMESPACES {
            let put = (0..documents).map(|number| Change::Put(document(&mut random, namespace, number))).collect();
            both.apply(put);
        }
        both.embed(&mut random, &Filter::default());
        // Some documents are replaced, moved or deleted.
        for namespace in NAMESPACES {
            let (ours, theirs) =
                (both.postgres.documents(namespace).unwrap(), both.embedded.documents(namespace).unwrap());
            for (ours, theirs) in ours.iter().zip(&theirs).step_by(7) {
                let mut replaced = document(&mut random, namespace, 1_000);
                let (size, modified_ns) = (7, 8);
                let path = format!("moved/{}", ours.path);
                let choice = random.below(3);
                let change = |document: DocumentId| match choice {
                    0 => Change::Delete { document },
                    1 => Change::Move { document, path: path.clone(), size, modified_ns },
                    _ => {
                        replaced.path.clone_from(&ours.path);
                        Change::Put(replaced.clone())
                    }
                };
                let mut change = change;
                both.postgres.apply(&[change(ours.document)]).unwrap();
                both.embedded.apply(&[change(theirs.document)]).unwrap();
            }
        }
        both.embed(&mut random, &Filter::default());
        both.embedded.publish(&mut |_| {}).unwrap();
        both.postgres.publish(&mut |_| {}).unwrap();
        both.number();
        Some(both)
    }

    fn apply(&self, changes: Vec<Change>) {
        self.postgres.apply(&changes).unwrap();
        self.embedded.apply(&changes).unwrap();
    }

    /// Gives four of five texts a vector.
    fn embed(&self, random: &mut Random, filter: &Filter) {
        let model = ModelKey { id: MODEL.into(), dimension: DIMENSION };
        let mut ours = self.postgres.unembedded(MODEL, filter, usize::MAX).unwrap();
        let mut theirs = self.embedded.unembedded(MODEL, filter, usize::MAX).unwrap();
        ours.sort_by_key(|text| text.hash);
        theirs.sort_by_key(|text| text.hash);
        assert_eq!(ours, theirs);
        let vectors: Vec<(TextHash, Vec<f32>)> = ours
            .iter()
            .filter(|_| random.often(80))
            .map(|text| text.hash)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|hash| (hash, random.vector()))
            .collect();
        let stored = self.postgres.put_vectors(&model, &vectors).unwrap();
        assert_eq!(stored, self.embedded.put_vectors(&model, &vectors).unwrap());
        assert_eq!(stored, vectors.len() as u64);
        assert_eq!(self.postgres.put_vectors(&model, &vectors).unwrap(), 0);
    }

    fn number(&mut self) {
        let ours = self.postgres.select(&Filter::default()).unwrap();
        let theirs = self.embedded.select(&Filter::default()).unwrap();
        self.passages = ours.iter().map(|one| one.passage).zip(theirs.iter().map(|one| one.passage)).collect();
        let (ours, theirs): (Vec<_>, Vec<_>) = self.passages.iter().copied().unzip();
        let ours = self.postgres.passages(&ours).unwrap();
        let theirs = self.embedded.passages(&theirs).unwrap();
        let name = |passage: &crate::StoredPassage| {
            (passage.namespace.clone(), passage.path.clone(), passage.ordinal, passage.text.clone())
        };
        assert_eq!(ours.iter().map(name).collect::<Vec<_>>(), theirs.iter().map(name).collect::<Vec<_>>());
    }

    /// The embedded store's numbers of our passages.
    fn theirs(&self) -> HashMap<PassageId, PassageId> {
        self.passages.iter().copied().collect()
    }

    /// A filter in the embedded store's numbers.
    fn their_filter(&self, filter: &Filter) -> Filter {
        let numbers = self.theirs();
        let number = |id: &PassageId| numbers.get(id).copied().unwrap_or(PassageId(u64::MAX >> 1));
        Filter { ids: filter.ids.iter().map(number).collect(), ..filter.clone() }
    }

    fn filter(&self, random: &mut Random) -> Filter {
        let mut filter = Filter::default();
        for _ in 0..1 + random.below(3) {
            match random.below(12) {
                0 | 1 => filter.namespaces.push(random.one_of(&["anvil", "bellows", "crucible", "none"]).to_string()),
                2 => filter.collections.push(random.one_of(&["code", "docs"]).to_string()),
                3 => filter.languages.push(random.one_of(LANGUAGES).to_string()),
                4 => filter.kinds.push(random.one_of(&["function", "type", "section"]).to_string()),
                5 => filter.roles.push(random.one_of(&["main", "test"]).to_string()),
                6 => filter
                    .path_globs
                    .push(random.one_of(&["*.rs", "src/", "!src/deep", "src/*.md", "!*.md", "moved"]).to_string()),
                7 => filter.ids.extend((0..60).map(|_| random.one_of(&self.passages).0)),
                8 => filter.symbols.push(
                    random
                        .one_of(&[
                            "open",
                            "Store::open",
                            "Store::o*",
                            "*",
                            "Get",
                            "net/http.Get",
                            "open*",
                            "Map<K, V>::get",
                            "",
                        ])
                        .to_string(),
                ),
                9 => {
                    let condition =
                        AttributeCondition::new(*random.one_of(&["label", "state"]), [*random.one_of(LABELS)]);
                    filter.attributes.push(condition);
                }
                10 => filter.authors.push(random.one_of(&["ada", "GRÜßE", "bo", "nobody"]).to_string()),
                _ => {
                    filter.since_ns = random.often(60).then(|| random.below(900) as i64);
                    filter.until_ns = random.often(60).then(|| random.below(1_000) as i64);
                }
            }
        }
        filter
    }

    fn assert_same(&self, text: &str, vector: &[f32], filter: &Filter, k: usize) {
        let (theirs, their_filter) = (self.theirs(), self.their_filter(filter));
        let said = format!("{text:?} with {filter:?}");
        let selected: Vec<_> = self.postgres.select(filter).unwrap().iter().map(|one| theirs[&one.passage]).collect();
        let expected: Vec<_> = self.embedded.select(&their_filter).unwrap().iter().map(|one| one.passage).collect();
        assert_eq!(selected, expected, "{said}");

        let query = LexicalQuery::new(text);
        let found = self.postgres.lexical(&query, filter, k).unwrap();
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
        let scores = self.postgres.bm25(&query, filter, &ids).unwrap();
        for (ours, other) in scores.iter().zip(self.embedded.bm25(&query, &their_filter, &their_ids).unwrap()) {
            assert!((ours.bm25 - other.bm25).abs() < 1e-4 && (ours.coverage - other.coverage).abs() < 1e-6, "{said}");
        }

        let numbers = |ids: Vec<PassageId>| ids.iter().map(|id| theirs[id]).collect::<Vec<_>>();
        let two = text.split(' ').take(2).collect::<Vec<_>>().join(" ");
        for name in ["open", "lock", "Get", "get", "none"] {
            let found = self.postgres.defining(name, filter, 1_000).unwrap();
            assert_eq!(numbers(found), self.embedded.defining(name, &their_filter, 1_000).unwrap(), "{name} {said}");
        }
        let found = self.postgres.containing(&two, filter, 1_000).unwrap();
        assert_eq!(numbers(found), self.embedded.containing(&two, &their_filter, 1_000).unwrap(), "{said}");
        self.assert_same_semantic(vector, filter, k, 0.000_1);
    }

    fn assert_same_semantic(&self, vector: &[f32], filter: &Filter, k: usize, tolerance: f32) {
        let (theirs, their_filter) = (self.theirs(), self.their_filter(filter));
        let coverage = self.postgres.coverage(MODEL, filter).unwrap();
        assert_eq!(coverage, self.embedded.coverage(MODEL, &their_filter).unwrap(), "{filter:?}");
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
    store.legs.sizes = super::legs::Sizes { few: 100, sample: 1_000_000, ..Default::default() };
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
    connections.wait(async { super::vector_index::ensure(&*connections.connection().await?, 10).await }).unwrap();
    connections.wait(async { super::vector_index::ensure(&*connections.connection().await?, 10).await }).unwrap();
    for filter in &filters {
        scanned(filter, &random.vector());
    }
    let mut store = both.postgres.another();
    store.legs.sizes = super::legs::Sizes { few: 100, sample: 50, ..Default::default() };
    let sampled = store.nearest(MODEL, &random.vector(), &Filter::default(), 10).unwrap().background;
    assert!(sampled.sampled && sampled.count > 100 && sampled.quantiles.is_sorted_by(|a, b| a.1 <= b.1));
}

#[test]
fn words_that_are_not_searched_for_change_nothing() {
    let Some(both) = Both::new(14, 60) else { return };
    let mut random = Random(15);
    let mut store = both.postgres.another();
    store.legs.sizes = super::legs::Sizes { few: 30, first: 5, ..Default::default() };
    let mut searched = |store: &super::PostgresStore| {
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
    let connections = &store.connections;
    let create = async { super::word_index::create(&*connections.connection().await?).await };
    if !connections.wait(create).unwrap() {
        eprintln!("skipped: the server has no index of words");
        return;
    }
    store.legs.sizes = super::legs::Sizes { few: 30, many: 1, ..Default::default() };
    searched(&store);
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
    both.postgres.publish(&mut |_| {}).unwrap();
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
        both.embedded.publish(&mut |_| {}).unwrap();
        both.number();
        for filter in [Filter::default(), Filter::namespace("anvil"), both.filter(&mut random)] {
            both.assert_same(&random.text(3), &random.vector(), &filter, 10);
        }
    }
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
            store.similarities(MODEL, &infinite, &[]).unwrap_err().to_string(),
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
    let found = both.postgres.similarities(MODEL, &vector, &ours).unwrap();
    let expected = both.embedded.similarities(MODEL, &vector, &theirs).unwrap();
    assert_eq!(found, expected);
    assert!(found.iter().any(Option::is_some) && found.iter().any(Option::is_none));
    assert_eq!(both.postgres.vectors(MODEL, &ours).unwrap(), both.embedded.vectors(MODEL, &theirs).unwrap());
}
