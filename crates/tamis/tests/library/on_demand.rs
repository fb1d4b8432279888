//! Late vectors: the better model reads the best passages of the first entries while somebody waits.

use crate::support::{Tree, paths, search, stop_everywhere};
use std::sync::{Arc, Mutex};
use tamis::{Freshness, Index, RunOptions, SearchRequest};
use tamis_embed::{EmbedError, Embedder, ModelInfo, Provider, StaticModel};

/// Knows one thing: texts of boilers are about warmth. It keeps what it reads.
#[derive(Debug)]
struct Warmth {
    info: ModelInfo,
    read: Mutex<Vec<String>>,
}

impl Warmth {
    fn new() -> Arc<Warmth> {
        let (id, provider) = ("warmth".into(), Provider::Local);
        let info = ModelInfo { id, dimension: 2, max_tokens: None, provider, fusion_weight: 0.5 };
        Arc::new(Warmth { info, read: Mutex::default() })
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.read.lock().expect("no panic"))
    }
}

impl Embedder for Warmth {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.read.lock().expect("no panic").extend(texts.iter().map(|&text| text.to_owned()));
        let vector = |text: &&str| if text.contains("boiler") { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
        Ok(texts.iter().map(vector).collect())
    }

    fn embed_query(&self, _: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(vec![1.0, 0.0])
    }
}

const QUESTION: &str = "why is it so cold in the rooms upstairs";

/// Fifteen pages about rooms, and one about the boiler that shares no word with the question.
fn tree() -> Tree {
    let tree = Tree::new(&[]);
    for number in 0..15 {
        let text = format!("# Room {number}\n\nThe rooms on floor {number} have windows and curtains of {number}.\n");
        tree.write(&format!("house/plans/floors/room{number}.md"), text.as_bytes());
    }
    let heating = b"# Heating\n\nBleed the radiators, then press the button of the boiler in rooms.\n";
    tree.write("house/plans/floors/heating.md", heating);
    tree
}

fn open(tree: &Tree, model: &Arc<Warmth>) -> Index {
    let builder = Index::builder(tree.root()).set("index.embedding_cache_mb", "0");
    let quick = Arc::new(StaticModel::built_in());
    let index = builder.embedder("quick", quick).embedder("warmth", model.clone()).open().expect("opened");
    index.refresh_with(RunOptions { embed_at_most: 0, ..RunOptions::WHOLE }, &()).expect("indexed");
    index
}

#[test]
fn late_vectors_are_read_once_unless_words_answer_or_the_search_hurries() {
    let (tree, model) = (tree(), Warmth::new());
    let index = open(&tree, &model);
    assert!(model.taken().is_empty(), "nobody waited for it");
    let answer = search(&index, SearchRequest::new(QUESTION).explain());
    let read = model.taken();
    assert!((1..=24).contains(&read.len()), "{}", read.len());
    assert!(read.iter().all(|text| text.starts_with("plans/floors/") && text.contains(".md\n")), "{read:?}");
    let pool = answer.pool.as_ref().expect("a pool");
    assert_eq!(pool[0].path, "house/plans/floors/heating.md", "{:?}", &pool[..3]);
    assert!(pool[0].evidence.iter().any(|part| part.name == "on_demand"), "{:?}", pool[0].evidence);
    // The index keeps the vectors, also for another handle.
    let again = search(&index, SearchRequest::new(QUESTION).explain());
    drop(index);
    let anew = search(&open(&tree, &model), SearchRequest::new(QUESTION).explain());
    assert!(model.taken().is_empty(), "it reads nothing twice");
    assert_eq!([paths(&again), paths(&anew)], [paths(&answer), paths(&answer)]);

    let (tree, model) = (self::tree(), Warmth::new());
    let index = open(&tree, &model);
    let words = "bleed the radiators then press the button of the boiler";
    assert_eq!(paths(&search(&index, SearchRequest::new(words)))[0], "house/plans/floors/heating.md");
    let fast = SearchRequest::new(QUESTION).fast();
    search(&index, fast);
    assert!(model.taken().is_empty(), "nothing was to be read");

    let (tree, model) = (self::tree(), Warmth::new());
    let builder = Index::builder(tree.root()).set("index.embedding_cache_mb", "0");
    let index = builder.embedder("warmth", model.clone()).open().expect("opened");
    index.refresh().expect("indexed");
    assert_eq!(model.taken().len(), 16);
    let answer = search(&index, SearchRequest::new(QUESTION).explain());
    assert!(model.taken().is_empty() && answer.model.as_deref() == Some("warmth"));
    assert_eq!(answer.pool.expect("a pool")[0].path, "house/plans/floors/heating.md");
}

#[test]
fn an_observer_stops_a_search_while_the_better_model_reads() {
    let (tree, model) = (tree(), Warmth::new());
    let index = open(&tree, &model);
    let mut read = Vec::new();
    stop_everywhere(|observer| {
        let answer = index.search_with(&SearchRequest::new(QUESTION), &Freshness::default(), observer);
        read.push(model.taken().len());
        answer
    });
    assert!(read.contains(&8) && read.iter().any(|&read| read > 8), "{read:?}");
}
