//! A reranker that knows the answers and is wrong as often as it is told to be: what a real one of that error would bring.

use super::{TestCollection, TestQuery};
use crate::search::{RerankedPassage, Reranker};
use std::collections::HashMap;

/// Reads the judgements of a test collection and turns a known share of them. Its figures are simulated, and named so.
#[derive(Debug)]
pub(super) struct SimulatedReranker {
    name: String,
    error: f64,
    queries: HashMap<String, TestQuery>,
}

/// The number of first entries that it reads.
const DEPTH: usize = 30;

impl SimulatedReranker {
    /// A reranker that is wrong about this share of passages, above 0 and below 0.5.
    pub fn new(test: &TestCollection, error: f64) -> Self {
        let queries = test.queries.iter().map(|query| (query.text.clone(), query.clone())).collect();
        SimulatedReranker { name: format!("simulated, {error} wrong"), error, queries }
    }

    /// Returns `true` if it is wrong about this pair: always the same pairs.
    fn is_wrong(&self, query: &str, document: &str) -> bool {
        let hash = blake3::hash(format!("{query}\0{document}").as_bytes());
        let drawn = hash.as_bytes()[..8].iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        (drawn as f64) < self.error * u64::MAX as f64
    }
}

impl Reranker for SimulatedReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn depth(&self) -> usize {
        DEPTH
    }

    fn probabilities(&self, query: &str, passages: &[RerankedPassage<'_>]) -> Result<Vec<Option<f64>>, String> {
        let judged = self.queries.get(query).map(|query| &query.judged);
        let opinion = |passage: &RerankedPassage<'_>| {
            let relevant = judged.and_then(|judged| judged.get(passage.path)).is_some_and(|&grade| grade > 0);
            let says = relevant != self.is_wrong(query, passage.path);
            Some(if says { 1.0 - self.error } else { self.error })
        };
        Ok(passages.iter().map(opinion).collect())
    }
}
