//! How long the built-in judge takes: `cargo run --release --example judge_latency`.
//!
//! Sixteen passages, each of 128 tokens with the query, over and over.

use std::time::{Duration, Instant};

use tamis_embed::{CrossEncoder, EmbedError, Purpose, Reranker, WordPiece};

const PASSAGES: usize = 16;
const TOKENS: usize = 128;
const ROUNDS: usize = 40;

fn main() -> Result<(), EmbedError> {
    let query = "where is the retry of a failed request implemented";
    let words = include_str!("../src/cross_encoder.rs");
    let tokenizer = WordPiece::uncased_bert();
    let room = TOKENS - 3 - tokenizer.tokenize(query, usize::MAX).len();
    let lines: Vec<&str> = words.split_inclusive('\n').collect();
    let passages: Vec<String> = (0..PASSAGES)
        .map(|start| {
            let mut passage = String::new();
            for line in lines.iter().cycle().skip(start * 5) {
                if tokenizer.tokenize(&format!("{passage}{line}"), usize::MAX).len() > room {
                    break;
                }
                passage.push_str(line);
            }
            passage
        })
        .collect();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    for purpose in [Purpose::Query, Purpose::Passages] {
        let start = Instant::now();
        let judge = CrossEncoder::load(purpose)?;
        let loaded = start.elapsed();
        let start = Instant::now();
        judge.score(query, &passages)?;
        let first = start.elapsed();
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            judge.score(query, &passages)?;
            times.push(start.elapsed());
        }
        times.sort();
        println!(
            "{purpose:?}: loaded in {loaded:.1?}, first {first:.1?}; {PASSAGES} passages in {:.1?} (p50), {:.1?} (p90)",
            times[ROUNDS / 2],
            times[ROUNDS * 9 / 10]
        );
    }
    Ok(())
}
