//! How many of a set of candidates are relevant, when each is with a probability of its own.

/// Probabilities below this are left out of a distribution's ends: together they stay far below a rounding error of
/// what is decided.
const NEGLIGIBLE: f64 = 1e-12;

/// The distribution of a count: the sum of independent trials with unequal probabilities (Poisson binomial), held over
/// the range of counts that have any weight.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counts {
    first: usize,
    mass: Vec<f64>,
}

impl Counts {
    /// Certainly none.
    pub fn none() -> Self {
        Counts { first: 0, mass: vec![1.0] }
    }

    /// A Poisson distribution with this mean: many trials of small probability, seen together (Le Cam 1960).
    pub fn poisson(mean: f64) -> Self {
        let mut counts = Counts::none();
        if mean > NEGLIGIBLE {
            let mut term = (-mean).exp();
            counts.mass[0] = term;
            let mut total = term;
            while 1.0 - total > NEGLIGIBLE && counts.mass.len() < 200 {
                term *= mean / counts.mass.len() as f64;
                counts.mass.push(term);
                total += term;
            }
            counts.mass.iter_mut().for_each(|mass| *mass /= total);
        }
        counts
    }

    /// With one trial more. O(width).
    pub fn and(&self, probability: f64) -> Self {
        let mut mass = vec![0.0; self.mass.len() + 1];
        for (at, &weight) in self.mass.iter().enumerate() {
            mass[at] += weight * (1.0 - probability);
            mass[at + 1] += weight * probability;
        }
        let low = mass.iter().position(|&mass| mass > NEGLIGIBLE).unwrap_or(0);
        let high = mass.iter().rposition(|&mass| mass > NEGLIGIBLE).unwrap_or(0);
        mass.truncate(high + 1);
        mass.drain(..low);
        Counts { first: self.first + low, mass }
    }

    /// Every count that has weight, with its weight.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + Clone {
        self.mass.iter().enumerate().map(|(at, &mass)| (self.first + at, mass))
    }

    /// The probability of a count of zero.
    pub fn zero(&self) -> f64 {
        if self.first == 0 { self.mass[0] } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_trials_by_hand() {
        let counts = Counts::none().and(0.5).and(0.25);
        let weights: Vec<(usize, f64)> = counts.iter().collect();
        assert_eq!(weights, [(0, 0.375), (1, 0.5), (2, 0.125)]);
        assert_eq!(counts.zero(), 0.375);
    }

    #[test]
    fn certain_trials_only_shift() {
        let counts = (0..50).fold(Counts::none(), |counts, _| counts.and(1.0)).and(0.0);
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(50, 1.0)]);
        assert_eq!(counts.zero(), 0.0);
    }

    #[test]
    fn a_poisson_count_has_its_mean_and_sums_to_one() {
        for mean in [0.0, 0.3, 4.0, 20.0] {
            let counts = Counts::poisson(mean);
            let total: f64 = counts.iter().map(|(_, weight)| weight).sum();
            let average: f64 = counts.iter().map(|(count, weight)| count as f64 * weight).sum();
            assert!((total - 1.0).abs() < 1e-9 && (average - mean).abs() < 1e-6, "{mean}: {total}, {average}");
        }
    }
}
