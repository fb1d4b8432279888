//! One answer, compared with what was expected.

use crate::list::{Question, Topic};
use anyhow::{Result, ensure};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Instant;
use tamis::{Index, SearchRequest};

/// More than any cut keeps of a pool, so that every kept result is seen.
const ALL: usize = 1000;

/// What a search gave for a question.
#[derive(Clone, Debug, Serialize)]
pub struct Answered {
    /// The place of the first expected document among the documents of the pool, from 1; `None` if it is not in the pool.
    pub rank: Option<usize>,
    /// Whether an expected document was kept.
    pub expected_kept: bool,
    /// Whether an expected document is visible: kept, or among the less likely ones below the line.
    pub visible: bool,
    /// The probability of each entry that was kept, and whether it was expected.
    pub probabilities: Vec<(f64, bool)>,
    /// The probability of the best entry; 0 without one.
    pub best: f64,
    /// Milliseconds until the answer.
    pub milliseconds: f64,
    /// The identifiers of the results that were kept.
    pub kept: BTreeSet<String>,
    /// The number of documents among them.
    pub documents: usize,
    /// The first document of the pool.
    pub first: Option<String>,
    /// What decided: the name of a cut, or the gate.
    pub method: String,
    /// Its reason.
    pub reason: String,
}

impl Answered {
    /// Asks a question with the settings of the index.
    ///
    /// # Errors
    /// The search fails, or falls back to another model or to one retriever.
    pub fn to(question: &Question, index: &Index) -> Result<Answered> {
        let request = SearchRequest::new(&question.ask).limit(ALL).explain();
        let started = Instant::now();
        let answer = index.search(request)?;
        let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
        ensure!(answer.fallback_reason.is_none(), "{:?}: {:?}", question.ask, answer.fallback_reason);
        let mut ranked: Vec<&str> = Vec::new();
        for entry in answer.pool.iter().flatten() {
            if !ranked.contains(&entry.path.as_str()) {
                ranked.push(&entry.path);
            }
        }
        let expected = |path: &str| question.expect.iter().any(|expected| expected == path);
        let documents: BTreeSet<&str> = answer.results.iter().map(|hit| hit.path.as_str()).collect();
        let kept = answer.pool.iter().flatten().filter(|entry| entry.kept);
        let probability = |entry: &tamis::search::PoolEntry| Some((entry.probability?, expected(&entry.path)));
        Ok(Answered {
            visible: documents.iter().any(|path| expected(path))
                || answer.nearest.iter().any(|one| expected(&one.path)),
            probabilities: kept.filter_map(probability).collect(),
            best: answer.pool.iter().flatten().next().and_then(|best| best.probability).unwrap_or(0.0),
            milliseconds,
            rank: ranked.iter().position(|path| expected(path)).map(|at| at + 1),
            expected_kept: documents.iter().any(|path| expected(path)),
            documents: documents.len(),
            first: ranked.first().map(|&path| path.to_owned()),
            kept: answer.results.iter().map(|hit| hit.id.clone()).collect(),
            method: answer.cut.method,
            reason: answer.cut.reason,
        })
    }

    /// Returns `true` if nothing was kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns `true` if what is kept differs from `first` by more than a quarter of `first` and by more than one result.
    #[must_use]
    pub fn drifted_from(&self, first: &Answered) -> bool {
        let differing = self.kept.symmetric_difference(&first.kept).count();
        differing > 1 && 4 * differing > first.kept.len()
    }

    /// Returns `true` if the question was served: an expected document was kept, or rightly nothing.
    #[must_use]
    pub fn serves(&self, question: &Question) -> bool {
        if question.topic == Topic::Answerable { self.expected_kept } else { self.is_empty() }
    }
}
