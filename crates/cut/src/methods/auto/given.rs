//! Probabilities that the caller gives, from more evidence than a list of scores.

use super::expectation::Scenario;
use crate::pool::Pool;

/// The probability of relevance of each candidate, in the pool's order, which they do not ascend in.
#[derive(Debug, Clone, PartialEq)]
struct Given(Vec<f64>);

/// A candidate with no greater probability is never kept.
const IMPOSSIBLE: f64 = 1e-9;

/// The number of first candidates that passed the gate.
struct Passing(usize);

impl Pool {
    /// The pool with the probability of relevance of each of its candidates, best first. [`Auto`](crate::Auto) decides by these alone, and
    /// the [`Gate`](crate::Gate) refuses candidates below its least probability. Values outside 0 to 1 are limited to it, one that is
    /// not a number counts as 0, and one above that of the candidate before it is lowered to that.
    pub fn with_probabilities(self, probabilities: Vec<f64>) -> Self {
        let mut most = 1.0_f64;
        let limited = probabilities.into_iter().map(|probability| {
            most = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, most) };
            most
        });
        let mut limited: Vec<f64> = limited.collect();
        limited.resize(self.len(), 0.0);
        self.with(Given(limited))
    }

    /// The pool in which this many candidates, the first ones, are likely enough to be kept.
    pub(crate) fn with_passing(self, passing: usize) -> Self {
        self.with(Passing(passing))
    }

    /// The number of first candidates that may be kept: those that passed the gate, or without one those that are possible at all.
    pub(crate) fn passing(&self) -> usize {
        let possible = self.possible();
        self.get::<Passing>().map_or(possible, |passing| passing.0.min(possible))
    }

    /// The number of first candidates that passed the gate; `None` without one.
    pub(crate) fn gated(&self) -> Option<usize> {
        self.get::<Passing>().map(|passing| passing.0.min(self.possible()))
    }

    /// The number of first candidates that are possible at all.
    pub(crate) fn possible(&self) -> usize {
        self.probabilities().map_or(self.len(), |all| all.partition_point(|&one| one > IMPOSSIBLE))
    }

    /// The probabilities that the caller gave.
    pub fn probabilities(&self) -> Option<&[f64]> {
        self.get::<Given>().map(|given| given.0.as_slice())
    }
}

/// The only scenario there is: each candidate is relevant by itself.
pub(super) fn scenario(probabilities: &[f64]) -> Scenario {
    Scenario { weight: 1.0, outside: 0.0, probabilities: probabilities.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_probabilities_never_ascend() {
        let pool = Pool::scores([0.9, 0.8, 0.7, 0.6]).unwrap().with_probabilities(vec![1.5, 0.4, f64::NAN]);
        assert_eq!(pool.probabilities(), Some(&[1.0, 0.4, 0.0, 0.0][..]));
    }
}
