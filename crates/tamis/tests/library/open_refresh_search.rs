//! The shortest use of the library, with any set of features.

use crate::support::StopsAfter;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tamis::tree::GrepRequest;
use tamis::{Error, Freshness, Index, Observer, SearchRequest, Stage};
use tamis_embed::{EmbedError, Embedder, ModelInfo, Provider, normalise};

fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees first.\n").expect("written");
    fs::write(directory.path().join("tide.md"), "# Tide\n\nThe tide turns every six hours.\n").expect("written");
    fs::create_dir(directory.path().join(".tamis")).expect("made");
    fs::write(directory.path().join(".tamis/config.toml"), "[index]\nmodels = [\"static\"]\n").expect("written");
    directory
}

#[test]
fn a_directory_is_opened_configured_refreshed_searched_and_stopped() {
    let tree = tree();
    let index = Index::open(tree.path()).expect("opened");
    assert_eq!(index.refresh().expect("refreshed").counts.added, 2);
    let answer = index.search("how hot should the oven be").expect("searched");
    assert_eq!(answer.results[0].path, "oven.md");
    let tide = index.search(SearchRequest::new("tide").limit(1).paths(["tide.*"])).expect("searched");
    assert_eq!(tide.results[0].path, "tide.md");
    assert_eq!((index.get("oven.md").expect("there").start_line, index.status().expect("read").files.stale), (1, 0));

    let stopped = index.search_with(&SearchRequest::new("oven"), &Freshness::default(), &Stops::default());
    assert!(matches!(stopped, Err(Error::Cancelled)));

    assert_eq!(index.config().index.models, ["static"]);
    let index = Index::builder(tree.path()).set("search.top_k", "3").open().expect("opened");
    assert_eq!((index.config().search.top_k, index.config().index.models.len()), (3, 1));
    let error = Index::builder(tree.path()).set("search.top_kk", "3").open().err().expect("no such key").to_string();
    assert!(error.contains("search.top_kk") && error.contains("search.top_k"), "{error}");
    assert!(Index::open(tree.path().join("nowhere")).is_err());
}

/// Counts a few words.
struct FewWords(ModelInfo);

impl Embedder for FewWords {
    fn model(&self) -> &ModelInfo {
        &self.0
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let words = [["oven", "stove"], ["tide", "ocean"]];
        let count = |words: [&str; 2]| words.iter().filter(|word| text.to_lowercase().contains(**word)).count() as f32;
        let mut vector: Vec<f32> = words.map(count).to_vec();
        vector.resize(64, 0.0);
        normalise(&mut vector);
        Ok(vector)
    }
}

#[test]
fn vectors_can_come_from_the_program() {
    let tree = tree();
    let (id, provider) = ("few-words".into(), Provider::Local);
    let info = ModelInfo { id, dimension: 64, max_tokens: None, provider, fusion_weight: 0.5 };
    let model = Arc::new(FewWords(info));
    let index = Index::builder(tree.path())
        .embedder("few", model)
        .set("search.cut", "fixed:k=1")
        .set("index.embedding_cache_mb", "0")
        .set("search.gate", "false")
        .open()
        .expect("opened");
    let report = index.refresh().expect("refreshed");
    assert_eq!(report.embedding.embedded.get("few"), Some(&2));
    let answer = index.search("ocean").expect("searched");
    assert_eq!((answer.model.as_deref(), answer.results[0].path.as_str()), (Some("few-words"), "tide.md"));
}

/// Stops at the first step of a search.
#[derive(Default)]
struct Stops {
    searching: AtomicBool,
}

impl Observer for Stops {
    fn stage(&self, stage: Stage, _: u64) {
        self.searching.store(stage == Stage::Search, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.searching.load(Ordering::Relaxed)
    }
}

#[test]
fn an_observer_stops_a_grep_between_two_files() {
    let tree = tree();
    for number in 0..50 {
        fs::write(tree.path().join(format!("{number}.md")), "# Tide\n\nIt turns.\n").expect("written");
    }
    let index = Index::open(tree.path()).expect("opened");
    index.refresh().expect("refreshed");
    let stops = StopsAfter::new(10);
    let stopped = index.tree().grep(&GrepRequest::new("tide"), &stops);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
}
