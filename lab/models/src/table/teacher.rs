//! The transformer's vectors of tokens and passages. They take most of the time, so files keep them.

use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tamis_embed::{Embedder, MiniLm, WordPiece};

/// Length of the transformer's vectors.
pub const WIDTH: usize = 384;

/// The number of texts embedded between two writes to the file.
const STEP: usize = 512;

/// Returns the vector of each token of the vocabulary, as a text of its own.
pub fn tokens(cache: &Path) -> Result<Vec<f32>> {
    let tokenizer = WordPiece::uncased_bert();
    let texts: Vec<String> = (0..tokenizer.size() as u32)
        .map(|id| tokenizer.token(id).unwrap_or_default().trim_start_matches("##").to_owned())
        .collect();
    embed(cache, "tokens", &texts)
}

/// Returns the vector of each passage.
pub fn passages(cache: &Path, texts: &[String]) -> Result<Vec<f32>> {
    embed(cache, "passages", texts)
}

/// Embeds texts, and continues after the vectors that a file already has.
fn embed(cache: &Path, name: &str, texts: &[String]) -> Result<Vec<f32>> {
    let checksum = blake3::hash(texts.join("\0").as_bytes()).to_hex();
    let path = cache.join(format!("{name}-{}.f32", &checksum[..16]));
    let mut bytes = fs::read(&path).unwrap_or_default();
    bytes.truncate(bytes.len() / (WIDTH * 4) * WIDTH * 4);
    let mut vectors: Vec<f32> = bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    let model = MiniLm::load()?;
    let file = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    file.set_len(bytes.len() as u64)?;
    let mut file = BufWriter::new(file);
    std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0))?;
    while vectors.len() < texts.len() * WIDTH {
        let done = vectors.len() / WIDTH;
        for text in texts[done..].iter().take(STEP) {
            // As a query, which is in full precision.
            let vector = model.embed_query(text)?;
            ensure!(vector.len() == WIDTH, "a vector has {} entries; expected {WIDTH}", vector.len());
            file.write_all(&vector.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())?;
            vectors.extend(vector);
        }
        file.flush()?;
        println!("{name}: {} of {} embedded", vectors.len() / WIDTH, texts.len());
    }
    Ok(vectors)
}
