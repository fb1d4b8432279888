//! The token budget: how many candidates it pays for.

use super::Auto;
use super::expectation::Expectation;
use crate::pool::Pool;

/// The number of tokens of each candidate, in the order of the list as given.
struct Sizes(Vec<usize>);

impl Pool {
    /// The pool with the number of tokens of each candidate's text, in the order of the list as given.
    pub fn with_sizes(self, sizes: Vec<usize>) -> Self {
        self.with(Sizes(sizes))
    }

    /// The number of tokens of the candidate at `rank` (from 0), where the pool has it.
    pub fn size(&self, rank: usize) -> Option<usize> {
        self.get::<Sizes>()?.0.get(self.position(rank)?).copied()
    }
}

impl Auto {
    /// The number of first candidates that the budget pays for, at most `depth`.
    pub(super) fn affordable(&self, pool: &Pool, depth: usize) -> usize {
        if self.budget_tokens == 0 {
            return depth;
        }
        let mut spent = 0_usize;
        let fits = |rank: &usize| {
            spent = spent.saturating_add(pool.size(*rank).unwrap_or(0));
            spent <= self.budget_tokens
        };
        (0..depth).take_while(fits).count()
    }

    /// The size of the best candidate, where it alone is the reason for keeping nothing.
    pub(super) fn unaffordable(&self, pool: &Pool, table: &[Expectation], within: usize) -> Option<usize> {
        let gated = pool.probabilities().is_some();
        let only_for_the_budget = within == 0 && self.choose(table, table.len() - 1, gated).0 > 0;
        pool.size(0).filter(|_| only_for_the_budget)
    }
}
