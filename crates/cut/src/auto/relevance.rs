//! From the candidates' values to probabilities of relevance.

use serde::{Deserialize, Serialize};

use super::expectation::Scenario;
use super::profile::Profile;

/// What is believed of where relevance ends.
///
/// A candidate's *height* is how far it stands between the background (0) and the best candidate (1). Relevance ends at
/// some height θ of each query: above it candidates are relevant with probability `ceiling`, below it they are not, with
/// a logistic step of width `softness` between. Where θ is differs from query to query, normally with mean `level` and
/// standard deviation `spread`; the level is what differs from collection to collection: near 0.5 where many passages
/// answer a query, near 0.95 where one does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Relevance {
    /// Mean height at which relevance ends, 0.1 to 1.
    pub level: f64,
    /// Standard deviation of that height from query to query, above 0.
    pub spread: f64,
    /// Width of the step, above 0.
    pub softness: f64,
    /// Probability that a candidate far above the step is relevant, 0 to 1.
    pub ceiling: f64,
    /// What the level was made from.
    pub basis: Basis,
}

/// What a level was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The built-in constants alone.
    BuiltIn,
    /// How the results of so many earlier queries stood out, without any judgement of them.
    PastQueries(usize),
    /// So many judged queries.
    Judged(usize),
    /// What the asker said is wanted.
    Asked,
}

impl Default for Relevance {
    fn default() -> Self {
        Relevance::of(&Profile::default())
    }
}

/// Places of equal weight that stand for a standard normal variable: its quantiles at (i + 1/2) / 11, drawn out to unit
/// variance. Many near ones, since the step is narrow: a rule with few nodes would decide by where they happen to be.
const PLACES: [f64; 11] = [
    -1.791717111,
    -1.162390020,
    -0.792578906,
    -0.501060878,
    -0.243630686,
    0.0,
    0.243630686,
    0.501060878,
    0.792578906,
    1.162390020,
    1.791717111,
];

/// Standard deviation of the height at which relevance ends, from query to query of one collection.
const WITHIN_COLLECTION: f64 = 0.16;

/// Standard deviation of the level, from collection to collection.
const BETWEEN_COLLECTIONS: f64 = 0.15;

impl Relevance {
    /// The level that a profile of past queries speaks for: the more the first candidate stands out of the next ones,
    /// the fewer answer a query. The constants were fitted on public collections; see `docs/research/auto.md`.
    pub fn of(profile: &Profile) -> Self {
        let level = (0.735 + 1.63 * (profile.focus() - 0.25)).clamp(0.45, 0.97);
        let basis = match profile.queries {
            0 => Basis::BuiltIn,
            queries => Basis::PastQueries(queries),
        };
        // While the level is little known, ends far from it are to be reckoned with.
        let unknown = BETWEEN_COLLECTIONS * (1.0 - profile.weight()).sqrt();
        Relevance { level, spread: WITHIN_COLLECTION.hypot(unknown), softness: 0.038, ceiling: 0.865, basis }
    }

    /// The step for one height: the probability that a candidate at `height` is relevant when relevance ends at `end`.
    pub(super) fn step(&self, height: f64, end: f64) -> f64 {
        self.ceiling / (1.0 + ((end - height) / self.softness).exp())
    }

    /// The ends of relevance to reckon with, each with its weight.
    pub(super) fn ends(&self) -> impl Iterator<Item = (f64, f64)> {
        PLACES.iter().map(|&place| ((self.level + self.spread * place).clamp(0.1, 1.0), 1.0 / PLACES.len() as f64))
    }

    /// One scenario for each end of relevance. `heights` do not ascend.
    pub(super) fn scenarios(&self, heights: &[f64]) -> Vec<Scenario> {
        let scenario = |(end, weight)| {
            let probabilities: Vec<f64> = heights.iter().map(|&height| self.step(height, end)).collect();
            let outside = outside(&probabilities);
            Scenario { weight, probabilities, outside }
        };
        self.ends().map(scenario).collect()
    }

    /// The probability that each candidate is relevant, over all ends. `heights` do not ascend, so neither do these.
    pub fn probabilities(&self, heights: &[f64]) -> Vec<f64> {
        let probability = |&height: &f64| self.ends().map(|(end, weight)| weight * self.step(height, end)).sum();
        heights.iter().map(probability).collect()
    }
}

/// How many relevant passages a pool cut off: its probabilities go on falling as they do over its second half.
fn outside(probabilities: &[f64]) -> f64 {
    let (count, Some(&last)) = (probabilities.len(), probabilities.last()) else { return 0.0 };
    let middle = probabilities[count / 2];
    // A short list was not cut off: it is all there is.
    if count < SHORTEST_CUT_POOL || last <= 0.0 || middle <= last {
        return 0.0;
    }
    let fall = (last / middle).powf(1.0 / (count - 1 - count / 2) as f64).min(0.98);
    last * fall / (1.0 - fall)
}

/// Pools of fewer candidates are taken for whole.
const SHORTEST_CUT_POOL: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_are_symmetric_with_unit_variance() {
        let mean = |power: i32| PLACES.iter().map(|place| place.powi(power)).sum::<f64>() / PLACES.len() as f64;
        assert!(mean(1).abs() < 1e-9 && (mean(2) - 1.0).abs() < 1e-6 && mean(3).abs() < 1e-9);
    }

    #[test]
    fn probabilities_fall_with_the_height_and_rise_as_the_level_falls() {
        let heights = [1.0, 0.9, 0.7, 0.5, 0.2, -0.3];
        let strict = Relevance { level: 0.9, ..Relevance::default() }.probabilities(&heights);
        let lax = Relevance { level: 0.5, ..Relevance::default() }.probabilities(&heights);
        assert!(strict.windows(2).all(|pair| pair[0] >= pair[1]));
        assert!(strict.iter().zip(&lax).all(|(strict, lax)| strict <= lax));
        assert!(lax[3] > 0.3 && strict[3] < 0.05, "{lax:?} {strict:?}");
    }

    #[test]
    fn a_list_that_still_falls_at_its_end_has_something_outside() {
        let falling: Vec<f64> = (0..40).map(|rank| 0.9_f64.powi(rank)).collect();
        let all: f64 = (0..400).map(|rank| 0.9_f64.powi(rank)).sum();
        let inside: f64 = falling.iter().sum();
        assert!((outside(&falling) - (all - inside)).abs() < 1e-6);
        assert_eq!(outside(&falling[..10]), 0.0);
        assert_eq!(outside(&[0.0; 40]), 0.0);
        assert_eq!(outside(&[]), 0.0);
    }
}
