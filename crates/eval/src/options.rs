//! The options of an evaluation.

use serde::{Deserialize, Serialize};

use crate::error::EvalError;

/// The options of an evaluation. The same options on the same data give the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Seed of all random draws: folds, resamples, and the queries to plot.
    pub seed: u64,
    /// Resamples of the bootstrap, 0 to 100,000; 0 leaves the intervals out. 1,000 by default.
    pub resamples: usize,
    /// The k of the reference methods `fixed-k`, each 1 to 10,000; 1, 3, 5, 10 and 20 by default.
    pub fixed: Vec<usize>,
    /// Folds over which `fixed-fitted` is fitted, 2 to 100; 5 by default.
    pub folds: usize,
    /// Name of the method that every other is compared with; a reference method by default.
    pub baseline: String,
    /// β of F_β, above 0: the weight of recall relative to precision. 1 by default.
    pub beta: f64,
    /// Depths k of nDCG@k and recall@k, each at least 1; 10 and 100 by default.
    pub ranking_depths: Vec<usize>,
    /// Bins of the calibration error and of the reliability diagram, 1 to 100; 10 by default.
    pub bins: usize,
    /// Queries of each collection whose score curves are kept for the plots; 4 by default.
    pub sampled_queries: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 0,
            resamples: 1000,
            fixed: vec![1, 3, 5, 10, 20],
            folds: 5,
            baseline: "fixed-fitted".into(),
            beta: 1.0,
            ranking_depths: vec![10, 100],
            bins: 10,
            sampled_queries: 4,
        }
    }
}

impl Options {
    /// Checks every range.
    ///
    /// # Errors
    /// The first option that is out of its range, with what is allowed.
    pub fn check(&self) -> Result<(), EvalError> {
        let bad = |option, value: String, expected| Err(EvalError::Option { option, value, expected });
        if self.resamples > 100_000 {
            return bad("resamples", self.resamples.to_string(), "0 to 100000");
        }
        if let Some(k) = self.fixed.iter().find(|k| !(1..=10_000).contains(*k)) {
            return bad("fixed", k.to_string(), "each k is 1 to 10000");
        }
        if !(2..=100).contains(&self.folds) {
            return bad("folds", self.folds.to_string(), "2 to 100");
        }
        if !(self.beta > 0.0 && self.beta.is_finite()) {
            return bad("beta", self.beta.to_string(), "above 0");
        }
        if let Some(depth) = self.ranking_depths.iter().find(|depth| **depth == 0) {
            return bad("ranking_depths", depth.to_string(), "each depth is at least 1");
        }
        if !(1..=100).contains(&self.bins) {
            return bad("bins", self.bins.to_string(), "1 to 100");
        }
        Ok(())
    }
}
