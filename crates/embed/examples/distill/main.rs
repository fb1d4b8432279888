//! `cargo xtask distill static`: makes the static model's token table from the built-in transformer.
//!
//! 1. Every token of the vocabulary is run through the transformer alone; the leading 256 principal directions of its
//!    vectors of the corpus give each token its first row, weighted down the more frequent the token is.
//! 2. The transformer embeds a corpus of unlabelled passages ([`corpus`]).
//! 3. The rows are fitted so that the normalised sum of a passage's rows points where the transformer's vector does
//!    ([`fit`]).
//! 4. Rows become signed bytes.
//!
//! Everything is deterministic for a given corpus: sampling by checksum, one thread for the fit, a fixed seed. A file keeps the
//! vectors of the corpus, so that another fit need not embed again.

mod corpus;
mod fit;
mod space;
mod teacher;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use tamis_embed::TokenTable;

use corpus::Kind;

const USAGE: &str = "usage: distill --output TABLE.bin --cache DIRECTORY CORPUS...\n\
    CORPUS: directories with WordNet's data files, HTML documentation and source code; see docs/research/static-table.md";

/// Length of a row.
const DIMENSION: usize = 256;

/// The number of passages of each kind to draw from.
const SHARES: [(Kind, usize); 3] = [(Kind::Gloss, 50_000), (Kind::Prose, 22_000), (Kind::Code, 14_000)];

/// The number of passages to learn from: the first of those, which are well mixed in the order of their checksums.
const PASSAGES: usize = 32_000;

fn main() -> Result<()> {
    let (mut output, mut cache, mut directories) = (None, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--output" => output = arguments.next().map(PathBuf::from),
            "--cache" => cache = arguments.next().map(PathBuf::from),
            _ => directories.push(argument),
        }
    }
    let (Some(output), Some(cache)) = (output, cache) else { bail!(USAGE) };
    if directories.is_empty() {
        bail!(USAGE);
    }
    fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
    let mut passages = corpus::collect(&directories, &SHARES)?;
    passages.truncate(PASSAGES);
    let tokens = teacher::tokens(&cache)?;
    let vectors = teacher::passages(&cache, &passages)?;
    let space = space::Space::of(&vectors, DIMENSION);
    println!("{DIMENSION} directions hold {:.2}% of the passages' squared length", space.kept() * 100.0);
    let rows = fit::fit(&space, &tokens, &passages, &vectors);
    fs::write(&output, TokenTable::encode(&rows, DIMENSION)?)
        .with_context(|| format!("cannot write {}", output.display()))
}
