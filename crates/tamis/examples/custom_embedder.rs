//! Searches with vectors of your own: `cargo run --example custom_embedder`.
//!
//! The model here hashes words into 64 dimensions. Replace it with one that knows meaning.

use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tamis::Index;
use tamis_embed::{EmbedError, Embedder, ModelInfo, Provider, normalise};

const DIMENSION: usize = 64;

struct HashedWords(ModelInfo);

impl HashedWords {
    fn new() -> Self {
        HashedWords(ModelInfo {
            // Vectors are stored under this name. Change it whenever the vectors change.
            id: "hashed-words-64".into(),
            dimension: DIMENSION,
            max_tokens: None,
            provider: Provider::Local,
            fusion_weight: 0.5,
        })
    }
}

impl Embedder for HashedWords {
    fn model(&self) -> &ModelInfo {
        &self.0
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vector = vec![0.0; DIMENSION];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            vector[(hasher.finish() as usize) % DIMENSION] += 1.0;
        }
        normalise(&mut vector);
        Ok(vector)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
    fs::write(directory.path().join("tide.md"), "# Tide\n\nThe tide turns every six hours.\n")?;

    let index = Index::builder(directory.path()).embedder("hashed", Arc::new(HashedWords::new())).open()?;
    index.refresh()?;
    let answer = index.search("how hot should the oven be")?;
    for hit in &answer.results {
        println!("{} (similarity {:.2})", hit.path, hit.similarity.unwrap_or_default());
    }
    println!("model: {}", answer.model.unwrap_or_default());
    Ok(())
}
