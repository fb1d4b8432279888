//! Evidence on single candidates from a model that read query and passage together.

use crate::pool::Pool;

/// The opinion of a judge, such as a cross-encoder, on the first candidates of a pool.
///
/// A score says how near a passage is to a query. A judge reads both and says whether one answers the other. Its
/// probabilities are those at even odds: 0.5 says nothing, whatever share of the candidates is relevant. The base rate
/// comes from the scores.
///
/// A judge whose probabilities hold on every collection changes the odds of each candidate by Bayes' rule. Few do: most compare
/// the passages of one list well, and are too generous on one collection and too strict on the next. See
/// [`comparing`](Self::comparing) for those.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgements {
    log_odds: Vec<Option<f64>>,
    comparing: Option<f64>,
}

/// The most that one opinion counts, in log odds: nobody is right more often than 3,000 times in 3,001.
const MOST: f64 = 8.0;

/// The probability of relevance that the scores leave to a candidate below the end of relevance, so that a judge can still
/// find it. Chosen with simulated judges; see `docs/research/auto.md`.
const FLOOR: f64 = 0.01;

impl Judgements {
    /// The judge's probabilities in the order of the pool's values, best first. `None`, a number that is not finite, and
    /// candidates beyond the end of the list are unjudged.
    pub fn new(probabilities: impl IntoIterator<Item = Option<f64>>) -> Self {
        let log_odds = |probability: f64| (probability / (1.0 - probability)).ln().clamp(-MOST, MOST);
        let opinion = |probability: Option<f64>| {
            probability.filter(|probability| (0.0..=1.0).contains(probability)).map(log_odds)
        };
        Judgements { log_odds: probabilities.into_iter().map(opinion).collect(), comparing: None }
    }

    /// The judgements of a judge that compares: it orders the candidates of a list better than it knows how many of them are
    /// relevant.
    ///
    /// Its log odds, standardized within the list, move the scores by `weight` times the deviation of the scores of the
    /// judged candidates. They still change the odds of each candidate, and no longer the belief where relevance ends.
    #[must_use]
    pub fn comparing(self, weight: f64) -> Self {
        Judgements { comparing: Some(weight), ..self }
    }

    /// The judgements of a judge whose log odds are `slope` times too weak and `offset` too low.
    /// The two come from a logistic regression of relevance on its log odds (Platt 1999).
    #[must_use]
    pub fn calibrated(mut self, slope: f64, offset: f64) -> Self {
        for log_odds in self.log_odds.iter_mut().flatten() {
            *log_odds = (slope * *log_odds + offset).clamp(-MOST, MOST);
        }
        self
    }

    /// Returns true if no candidate is judged.
    pub fn is_empty(&self) -> bool {
        self.log_odds.iter().all(Option::is_none)
    }

    /// The log odds by which judgements speak for an answer among the candidates, given how likely each is to be it: those of
    /// the best judgement where the judge compares. 0 where they say nothing.
    pub(crate) fn for_an_answer(&self, weights: &[f64]) -> f64 {
        if self.comparing.is_some() {
            return self.log_odds.iter().flatten().copied().reduce(f64::max).unwrap_or(0.0);
        }
        let (mut sum, mut total) = (0.0, 0.0);
        for (at, &weight) in weights.iter().enumerate() {
            let odds = self.log_odds.get(at).copied().flatten().map_or(1.0, f64::exp);
            sum += weight * odds;
            total += weight;
        }
        if total > 0.0 && sum > 0.0 { (sum / total).ln() } else { 0.0 }
    }

    /// The normalized scores, moved by a judge that compares, and the judgements in their new order. The order is that of the
    /// moved scores, as positions in the list. `None` where the judge does not compare, or has nothing to compare.
    pub(super) fn moved(&self, scores: &[f64]) -> Option<Moved> {
        let weight = self.comparing?;
        let judged: Vec<(usize, f64)> =
            self.log_odds.iter().enumerate().take(scores.len()).filter_map(|(at, odds)| Some((at, (*odds)?))).collect();
        let (_, spread_of_scores) = moments(judged.iter().map(|&(at, _)| scores[at]))?;
        let (mean, spread) = moments(judged.iter().map(|&(_, odds)| odds))?;
        let mut moved = scores.to_vec();
        for (at, odds) in judged {
            moved[at] += weight * spread_of_scores * (odds - mean) / spread;
        }
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| moved[b].total_cmp(&moved[a]));
        let best = order.first().map(|&at| moved[at]).filter(|&best| best > 0.0)?;
        let log_odds = order.iter().map(|&at| self.log_odds.get(at).copied().flatten()).collect();
        Some(Moved {
            scores: order.iter().map(|&at| moved[at] / best).collect(),
            judgements: Judgements { log_odds, comparing: self.comparing },
            order,
        })
    }

    /// Turns prior probabilities into posterior ones. Returns the logarithm of the probability of these judgements under
    /// the prior, but for a constant; 0 where the judge compares.
    pub(super) fn apply(&self, probabilities: &mut [f64]) -> f64 {
        let mut log = 0.0;
        for (probability, log_odds) in probabilities.iter_mut().zip(&self.log_odds) {
            let Some(log_odds) = log_odds else { continue };
            let prior = FLOOR + (1.0 - FLOOR) * *probability;
            let relevant = prior * log_odds.exp();
            let either = relevant + 1.0 - prior;
            log += either.ln();
            *probability = relevant / either;
        }
        if self.comparing.is_some() { 0.0 } else { log }
    }
}

/// A list in the order of its scores and a judge that compares.
pub(super) struct Moved {
    /// The moved scores, normalized again: best first, the best 1.
    pub scores: Vec<f64>,
    /// The judgements in this order.
    pub judgements: Judgements,
    /// The position of each in the list before.
    pub order: Vec<usize>,
}

/// Mean and standard deviation; `None` where nothing differs.
fn moments(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let deviation = (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    (deviation > 0.0).then_some((mean, deviation))
}

impl Pool {
    /// The pool with a judge's opinion of its first candidates, for [`Auto`](crate::Auto) and the gate.
    pub fn with_judgements(self, judgements: Judgements) -> Self {
        self.with(judgements)
    }

    /// The judge's opinion of the first candidates.
    pub fn judgements(&self) -> Option<&Judgements> {
        self.get().filter(|judgements: &&Judgements| !judgements.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_odds_say_nothing_and_the_base_rate_stays() {
        let mut probabilities = [0.3, 0.3, 0.3];
        let log = Judgements::new([Some(0.5), None, Some(f64::NAN)]).apply(&mut probabilities);
        assert!((probabilities[0] - (FLOOR + (1.0 - FLOOR) * 0.3)).abs() < 1e-12 && log.abs() < 1e-12);
        assert_eq!(probabilities[1..], [0.3, 0.3]);
    }

    #[test]
    fn a_judge_raises_and_lowers_by_its_odds() {
        let mut probabilities = [0.2, 0.2];
        Judgements::new([Some(0.9), Some(0.1)]).apply(&mut probabilities);
        let prior = FLOOR + (1.0 - FLOOR) * 0.2;
        let expected = 9.0 * prior / (9.0 * prior + 1.0 - prior);
        assert!((probabilities[0] - expected).abs() < 1e-12 && probabilities[1] < 0.05);
    }

    #[test]
    fn a_judge_that_compares_moves_scores_by_its_own_order_and_not_by_its_level() {
        let scores = [1.0, 0.9, 0.8, 0.2];
        let moved = |probabilities: [Option<f64>; 4]| {
            Judgements::new(probabilities).comparing(2.0).moved(&scores).map(|moved| (moved.order, moved.scores))
        };
        let generous = moved([Some(0.7), Some(0.7), Some(0.97), None]).expect("compared");
        assert_eq!(generous.0, [2, 0, 1, 3]);
        assert!(generous.1[0] == 1.0 && generous.1.is_sorted_by(|a, b| a >= b));
        // What is not judged keeps its score, on the scale of the new best.
        let best = 0.8 + 2.0 * (0.02_f64 / 3.0).sqrt() * 2_f64.sqrt();
        assert!((generous.1[3] - 0.2 / best).abs() < 1e-9, "{generous:?}");
        // Nothing to compare.
        assert!(moved([Some(0.9), Some(0.9), None, None]).is_none() && moved([None; 4]).is_none());
        assert!(Judgements::new([Some(0.9), Some(0.1)]).moved(&scores).is_none());
    }

    #[test]
    fn a_judge_that_compares_says_nothing_about_where_relevance_ends() {
        let opinions = || Judgements::new([Some(0.9), Some(0.2)]);
        let (mut one, mut other) = ([0.5, 0.5], [0.5, 0.5]);
        let said = opinions().apply(&mut one);
        assert_eq!(opinions().comparing(0.5).apply(&mut other), 0.0);
        assert!(said != 0.0 && one == other);
    }

    #[test]
    fn certainty_stays_finite_and_calibration_changes_strength() {
        let mut certain = [0.5, 0.5];
        Judgements::new([Some(1.0), Some(0.0)]).apply(&mut certain);
        assert!(certain[0] > 0.99 && certain[1] < 0.01 && certain.iter().all(|p| p.is_finite()));
        let mut weak = [0.5];
        Judgements::new([Some(0.9)]).calibrated(0.0, 0.0).apply(&mut weak);
        assert!((weak[0] - 0.505).abs() < 1e-9);
    }

    #[test]
    fn an_answer_among_the_candidates_is_likelier_the_more_a_likely_one_is_judged_to_be_it() {
        let weights = [0.8, 0.1, 0.1];
        let of = |probabilities: [f64; 3]| Judgements::new(probabilities.map(Some)).for_an_answer(&weights);
        assert!(of([0.9, 0.1, 0.1]) > of([0.1, 0.9, 0.1]));
        assert!(of([0.1, 0.1, 0.1]) < -2.0);
        assert_eq!(Judgements::default().for_an_answer(&weights), 0.0);
        let best = Judgements::new([0.2, 0.3, 0.9].map(Some)).comparing(0.5).for_an_answer(&weights);
        assert!((best - 9.0_f64.ln()).abs() < 1e-9);
    }
}
