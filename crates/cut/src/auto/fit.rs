//! Learning from judged queries, with what is believed without them as the prior.

use super::relevance::{Basis, Relevance};

/// One judged query: its candidates' heights, best first, and what was said of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgedPool {
    /// How far each candidate stands between the background (0) and the best one (1).
    pub heights: Vec<f64>,
    /// Whether it is relevant; `None` where nobody said.
    pub relevant: Vec<Option<bool>>,
}

/// Candidates of a query that are looked at.
const DEEPEST: usize = 60;

/// Standard deviations of the prior: how far a collection's level, and the logit of its ceiling, are from what is
/// believed of it without judgements.
const LEVEL_DEVIATION: f64 = 0.12;
const CEILING_DEVIATION: f64 = 0.8;
const SPREAD_DEVIATION: f64 = 0.5;

/// A judgement is never held for quite impossible, so that a single odd one does not outweigh all others.
const DOUBT: f64 = 0.01;

impl Relevance {
    /// The relevance at the highest posterior probability of level, ceiling and spread, with this one as the prior
    /// (normal in the level, in the ceiling's logit and in the spread's logarithm). The likelihood of a query is that of
    /// its judgements, averaged over where relevance may end.
    ///
    /// Without judgements it is this one. Each query counts once, however many of its candidates were judged. O(judged
    /// candidates), some milliseconds for a hundred queries.
    pub fn fit(&self, judged: &[JudgedPool]) -> Relevance {
        let judged: Vec<Vec<(f64, bool)>> = judged.iter().map(observations).filter(|pool| !pool.is_empty()).collect();
        if judged.is_empty() {
            return *self;
        }
        let score = |relevance: &Relevance| {
            self.prior(relevance) + judged.iter().map(|pool| relevance.likelihood(pool)).sum::<f64>()
        };
        let mut best = (score(self), *self);
        for _ in 0..3 {
            for change in CHANGES {
                for candidate in change(&best.1) {
                    let value = score(&candidate);
                    if value > best.0 {
                        best = (value, candidate);
                    }
                }
            }
        }
        Relevance { basis: Basis::Judged(judged.len()), ..best.1 }
    }

    /// Logarithm of the prior density of `other`, up to a constant.
    fn prior(&self, other: &Relevance) -> f64 {
        let logit = |share: f64| (share / (1.0 - share)).ln();
        let level = (other.level - self.level) / LEVEL_DEVIATION;
        let ceiling = (logit(other.ceiling) - logit(self.ceiling)) / CEILING_DEVIATION;
        let spread = (other.spread / self.spread).ln() / SPREAD_DEVIATION;
        -0.5 * (level * level + ceiling * ceiling + spread * spread)
    }

    /// Logarithm of the probability of a query's judgements.
    fn likelihood(&self, pool: &[(f64, bool)]) -> f64 {
        let scenario = |(end, weight): (f64, f64)| {
            let odds = |&(height, relevant): &(f64, bool)| {
                let probability = self.step(height, end);
                (if relevant { probability } else { 1.0 - probability }).max(DOUBT).ln()
            };
            weight.ln() + pool.iter().map(odds).sum::<f64>()
        };
        let logs: Vec<f64> = self.ends().map(scenario).collect();
        let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        highest + logs.iter().map(|log| (log - highest).exp()).sum::<f64>().ln()
    }
}

fn observations(pool: &JudgedPool) -> Vec<(f64, bool)> {
    let pairs = pool.heights.iter().zip(&pool.relevant).take(DEEPEST);
    pairs
        .filter_map(|(&height, relevant)| Some((height, (*relevant)?)))
        .filter(|(height, _)| height.is_finite())
        .collect()
}

type Change = fn(&Relevance) -> Vec<Relevance>;

/// One parameter at a time over a grid.
const CHANGES: [Change; 3] = [
    |relevance| (0..=35).map(|step| Relevance { level: 0.3 + 0.02 * f64::from(step), ..*relevance }).collect(),
    |relevance| (0..=14).map(|step| Relevance { ceiling: 0.28 + 0.05 * f64::from(step), ..*relevance }).collect(),
    |relevance| {
        [0.04, 0.06, 0.09, 0.12, 0.16, 0.2, 0.25, 0.3].map(|spread| Relevance { spread, ..*relevance }).to_vec()
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(heights: &[f64], relevant: &[bool]) -> JudgedPool {
        JudgedPool { heights: heights.to_vec(), relevant: relevant.iter().map(|&relevant| Some(relevant)).collect() }
    }

    #[test]
    fn without_judgements_nothing_changes() {
        let prior = Relevance::default();
        assert_eq!(prior.fit(&[]), prior);
        assert_eq!(prior.fit(&[JudgedPool { heights: vec![1.0], relevant: vec![None] }]), prior);
    }

    #[test]
    fn the_level_moves_to_where_the_judgements_put_it_and_further_with_more_of_them() {
        let heights = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];
        let lax = pool(&heights, &[true, true, true, true, true, true, false, false]);
        let strict = pool(&heights, &[true, false, false, false, false, false, false, false]);
        let prior = Relevance::default();
        let level = |judged: &JudgedPool, queries: usize| prior.fit(&vec![judged.clone(); queries]).level;
        assert!(level(&lax, 20) < 0.5 && level(&strict, 20) > 0.92, "{} {}", level(&lax, 20), level(&strict, 20));
        // More judgements also narrow the spread, which gives the level a little back.
        let (one, many) = (prior.fit(std::slice::from_ref(&lax)), prior.fit(&vec![lax.clone(); 20]));
        assert!(one.level < prior.level && many.level < prior.level, "{one:?} {many:?}");
        assert!(many.spread < one.spread, "{one:?} {many:?}");
        assert!(matches!(prior.fit(&[lax]).basis, Basis::Judged(1)));
    }

    #[test]
    fn one_odd_judgement_does_not_outweigh_the_others() {
        let heights = [1.0, 0.9, 0.8, 0.3, 0.2, 0.1];
        let mut judged = vec![pool(&heights, &[true, false, false, false, false, false]); 10];
        judged.push(pool(&heights, &[false, false, false, false, false, true]));
        assert!(Relevance::default().fit(&judged).level > 0.85);
    }

    #[test]
    fn relevant_first_candidates_that_are_few_lower_the_ceiling() {
        let judged = vec![pool(&[1.0, 0.4], &[false, false]); 12];
        let prior = Relevance::default();
        assert!(prior.fit(&judged).ceiling < prior.ceiling);
    }
}
