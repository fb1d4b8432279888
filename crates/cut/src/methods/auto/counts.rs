//! The number of relevant candidates, when each is relevant with a probability of its own.

/// Probabilities below this are dropped from the ends of a distribution. Together they stay far below a rounding error of
/// the decision.
pub(super) const NEGLIGIBLE: f64 = 1e-12;

/// The distribution of a count, the sum of independent trials with unequal probabilities (Poisson binomial), over the
/// range of counts that have weight.
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

    /// A Poisson distribution with this mean, for many trials of small probability (Le Cam 1960).
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

    /// Adds one trial. O(width).
    pub fn add(&mut self, probability: f64) {
        if probability <= NEGLIGIBLE {
            return;
        }
        self.mass.push(0.0);
        let mut below = 0.0;
        for mass in &mut self.mass {
            let here = *mass;
            *mass = here * (1.0 - probability) + below * probability;
            below = here;
        }
        let low = self.mass.iter().position(|&mass| mass > NEGLIGIBLE).unwrap_or(0);
        let high = self.mass.iter().rposition(|&mass| mass > NEGLIGIBLE).unwrap_or(0);
        self.mass.truncate(high + 1);
        self.mass.drain(..low);
        self.first += low;
    }

    /// The lowest count that has weight.
    pub fn first(&self) -> usize {
        self.first
    }

    /// The weights of the counts from the lowest on.
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// The probability of a count of zero.
    pub fn zero(&self) -> f64 {
        if self.first == 0 { self.mass[0] } else { 0.0 }
    }

    /// For each of these trials, which are among those counted, and each count: the joint probability that the trial
    /// succeeds and the count is reached. `receive` gets the index of the count in [`Counts::mass`], in ascending or
    /// descending order, and these probabilities. O(width).
    ///
    /// Each trial, of probability p, is taken out of the count: with Q the distribution without it, P(t) = (1 − p) · Q(t) +
    /// p · Q(t − 1). The equation is solved from the low end for p up to 1/2 and from the high end above, so that errors do
    /// not grow on the way. The trials of one call are solved side by side, so all must lie on one side of 1/2.
    pub fn joint<const N: usize>(&self, probabilities: [f64; N], mut receive: impl FnMut(usize, &[f64; N])) {
        let mut joint = [0.0; N];
        if probabilities[0] > 0.5 {
            // p · Q(t − 1) = P(t) − (1 − p) / p · p · Q(t)
            let odds = probabilities.map(|probability| (1.0 - probability) / probability);
            for (at, &mass) in self.mass.iter().enumerate().rev() {
                for (joint, odds) in joint.iter_mut().zip(&odds) {
                    *joint = mass - odds * *joint;
                }
                receive(at, &joint);
            }
        } else {
            // p · Q(t − 1) = p / (1 − p) · (P(t − 1) − p · Q(t − 2))
            let odds = probabilities.map(|probability| probability / (1.0 - probability));
            let mut below = 0.0;
            for (at, &mass) in self.mass.iter().enumerate() {
                for (joint, odds) in joint.iter_mut().zip(&odds) {
                    *joint = odds * (below - *joint);
                }
                receive(at, &joint);
                below = mass;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(probabilities: &[f64]) -> Counts {
        let mut counts = Counts::none();
        probabilities.iter().for_each(|&probability| counts.add(probability));
        counts
    }

    #[test]
    fn two_trials_by_hand() {
        let counts = counts(&[0.5, 0.25]);
        assert_eq!((counts.first(), counts.mass()), (0, &[0.375, 0.5, 0.125][..]));
        assert_eq!(counts.zero(), 0.375);
    }

    #[test]
    fn certain_trials_only_shift() {
        let counts = counts(&[[1.0; 50], [0.0; 50]].concat());
        assert_eq!((counts.first(), counts.mass()), (50, &[1.0][..]));
        assert_eq!(counts.zero(), 0.0);
    }

    #[test]
    fn a_poisson_count_has_its_mean_and_sums_to_one() {
        for mean in [0.0, 0.3, 4.0, 20.0] {
            let counts = Counts::poisson(mean);
            let total: f64 = counts.mass().iter().sum();
            let average: f64 = counts.mass().iter().enumerate().map(|(count, weight)| count as f64 * weight).sum();
            assert!((total - 1.0).abs() < 1e-9 && (average - mean).abs() < 1e-6, "{mean}: {total}, {average}");
        }
    }

    proptest! {
        #[test]
        fn a_trial_comes_out_as_it_went_in(others in prop::collection::vec(0.0..=1.0f64, 0..60), probability in 1e-6..=1.0f64) {
            let without = counts(&others);
            let mut all = without.clone();
            all.add(probability);
            let mut joint = vec![0.0; all.mass().len()];
            all.joint([probability], |at, &[weight]| joint[at] = weight);
            for (at, joint) in joint.iter().enumerate() {
                // The same event with the trial left out: the others are one fewer.
                let before = (all.first() + at).checked_sub(1 + without.first());
                let expected = before.and_then(|at| without.mass().get(at)).map_or(0.0, |mass| probability * mass);
                prop_assert!((joint - expected).abs() < 1e-10, "{} {joint} {expected}", all.first() + at);
            }
        }
    }
}
