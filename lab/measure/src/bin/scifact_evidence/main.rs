//! SciFact's claims as an evidence graph.
//!
//! ```text
//! cargo xtask lab scifact_evidence DIRECTORY > scifact.jsonl
//! tamis import evidence scifact.jsonl
//! ```
//!
//! `DIRECTORY` holds `claims.jsonl` (the claims with the labels of their rationales) and `corpus.jsonl` (the abstracts
//! in BEIR's layout, with their sentences as `metadata.sentences`). The module `convert` documents the conversion to
//! records.

mod convert;

use convert::{Abstract, ScifactClaim, convert, lines};
use std::error::Error;
use std::io::{BufWriter, Write};
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(directory) = std::env::args().nth(1) else {
        return Err("usage: scifact_evidence DIRECTORY > FILE".into());
    };
    let read = |name: &str| std::fs::read_to_string(Path::new(&directory).join(name));
    let claims: Vec<ScifactClaim> = lines(&read("claims.jsonl")?)?;
    let corpus: Vec<Abstract> = lines(&read("corpus.jsonl")?)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for record in convert(&claims, &corpus)? {
        writeln!(out, "{}", serde_json::to_string(&record)?)?;
    }
    Ok(out.flush()?)
}
