//! The number of relevant candidates, when each is relevant with a probability of its own.

/// Probabilities below this are dropped from the ends of a distribution. All that is dropped is too little to change a decision
/// that is not a tie.
pub const NEGLIGIBLE: f64 = 1e-10;

/// Trials of at most this probability are rare: they are counted together.
const RARE: f64 = 0.01;

/// Power sums of the rare trials that are needed: the next one is negligible, even of the most candidates that are looked at.
const POWERS: usize = 5;

/// Trials, not rare, that are added at once.
const TOGETHER: usize = 8;

/// The distribution of a count, the sum of independent trials with unequal probabilities (Poisson binomial), over the
/// range of counts that have weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    first: usize,
    mass: Vec<f64>,
}

/// Makes distributions of counts one after the other, in the same memory.
#[derive(Debug)]
pub struct Counter {
    first: usize,
    mass: Vec<f64>,
    /// The weights before trials are added.
    before: Vec<f64>,
}

impl Counter {
    /// A counter with memory for this many trials.
    pub fn with_capacity(trials: usize) -> Self {
        let weights = || Vec::with_capacity(trials + 2 * TOGETHER);
        Counter { first: 0, mass: weights(), before: weights() }
    }

    /// The count of these trials and of many others of small probability, whose count is Poisson with the mean `others` (Le Cam
    /// 1960). Each weight is multiplied by `weight`. O(n · w), with n the number of trials that are not rare and w the width of the
    /// range.
    #[inline(always)]
    pub fn count(&mut self, probabilities: &[f64], others: f64, weight: f64) -> Counts {
        self.rare(probabilities, others);
        let mut likely = probabilities.iter().copied().filter(|&probability| probability > RARE);
        while let Some(first) = likely.next() {
            self.add(std::array::from_fn(|at| if at == 0 { first } else { likely.next().unwrap_or(0.0) }));
        }
        Counts { first: self.first, mass: self.mass.iter().map(|mass| weight * mass).collect() }
    }

    /// Starts with those trials that are rare, and the others.
    ///
    /// With o the odds of each, G(z) = Π (1 + o z) / (1 + o) generates the distribution P. As G' / G = Σ o / (1 + o z), each
    /// P(t) = (T₁ P(t − 1) − T₂ P(t − 2) + …) / t, where Tᵢ is the sum of the odds' i-th powers (Chen, Dempster and Liu, "Weighted
    /// finite population sampling to maximize entropy", Biometrika 1994). The powers vanish fast, since the odds are small.
    #[inline(always)]
    fn rare(&mut self, probabilities: &[f64], others: f64) {
        let sums = power_sums(probabilities);
        let none = -others - sums.iter().zip(1..).map(|(sum, power)| sum / f64::from(power)).sum::<f64>();
        let mut odds = powers_of_odds(&sums);
        odds[0] += others;
        let needed = odds.iter().rposition(|&sum| sum > NEGLIGIBLE * NEGLIGIBLE).map_or(0, |last| last + 1);
        self.first = 0;
        self.mass.clear();
        self.mass.push(none.exp());
        // The mean is at most the sum of the odds, and behind it the weights fall.
        while self.mass.last().is_some_and(|&mass| mass > NEGLIGIBLE) || self.mass.len() as f64 <= odds[0] {
            let mut sum = 0.0;
            for (power, (odds, mass)) in odds[..needed].iter().zip(self.mass.iter().rev()).enumerate() {
                sum += if power % 2 == 0 { odds * mass } else { -odds * mass };
            }
            self.mass.push(sum / self.mass.len() as f64);
        }
        self.drop_ends();
    }

    /// Adds trials. O(width).
    #[inline(always)]
    fn add(&mut self, trials: [f64; TOGETHER]) {
        // How many of these succeed.
        let mut some = [0.0; TOGETHER + 1];
        some[0] = 1.0;
        for trial in trials {
            for count in (0..TOGETHER).rev() {
                some[count + 1] = some[count + 1] * (1.0 - trial) + some[count] * trial;
            }
            some[0] *= 1.0 - trial;
        }
        self.before.clear();
        self.before.extend([0.0; TOGETHER]);
        self.before.append(&mut self.mass);
        self.before.extend([0.0; TOGETHER]);
        let here =
            |before: &[f64]| some.iter().zip(before.iter().rev()).map(|(some, before)| some * before).sum::<f64>();
        self.mass.extend(self.before.windows(TOGETHER + 1).map(here));
        self.drop_ends();
    }

    /// Drops what has no weight at either end.
    #[inline(always)]
    fn drop_ends(&mut self) {
        let has_weight = |&mass: &f64| mass > NEGLIGIBLE;
        let low = self.mass.iter().position(has_weight).unwrap_or(0);
        let high = self.mass.iter().rposition(has_weight).unwrap_or(0);
        self.mass.truncate(high + 1);
        self.mass.drain(..low);
        self.first += low;
    }
}

impl Counts {
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
    /// succeeds and the count is reached. `receive` gets a count and these probabilities. It may get a count twice; then the sum
    /// holds. A trial of probability 0 stands for none. O(width).
    ///
    /// Each trial, of probability p, is taken out of the count: with Q the distribution without it, P(t) = (1 − p) · Q(t) +
    /// p · Q(t − 1). The equation is solved from the low end for p up to 1/2 and from the high end above, so that errors do
    /// not grow on the way. The trials of one call are solved side by side.
    #[inline(always)]
    pub fn joint<const N: usize>(&self, probabilities: [f64; N], mut receive: impl FnMut(usize, &[f64; N])) {
        let likely = probabilities.map(|probability| probability > 0.5);
        if likely.contains(&true) {
            // p · Q(t − 1) = P(t) − (1 − p) / p · p · Q(t)
            let odds = probabilities
                .map(|probability| if probability > 0.5 { (1.0 - probability) / probability } else { 0.0 });
            let counted = likely.map(|likely| f64::from(u8::from(likely)));
            let mut joint = [0.0; N];
            for (at, &mass) in self.mass.iter().enumerate().rev() {
                for lane in 0..N {
                    joint[lane] = counted[lane] * mass - odds[lane] * joint[lane];
                }
                receive(self.first + at, &joint);
            }
        }
        if likely.contains(&false) {
            // p · Q(t − 1) = p / (1 − p) · (P(t − 1) − p · Q(t − 2))
            let odds = probabilities
                .map(|probability| if probability > 0.5 { 0.0 } else { probability / (1.0 - probability) });
            let mut joint = [0.0; N];
            let mut below = 0.0;
            for (at, &mass) in self.mass.iter().enumerate() {
                for lane in 0..N {
                    joint[lane] = odds[lane] * (below - joint[lane]);
                }
                receive(self.first + at, &joint);
                below = mass;
            }
        }
    }
}

/// The sums of the first powers of those probabilities that are rare.
#[inline(always)]
fn power_sums(probabilities: &[f64]) -> [f64; POWERS] {
    const LANES: usize = 4;
    let mut sums = [[0.0; LANES]; POWERS];
    let mut add = |trials: [f64; LANES]| {
        let trials = trials.map(|probability| if probability > RARE { 0.0 } else { probability });
        let most = trials.into_iter().fold(0.0, f64::max);
        let (mut powers, mut most_power) = (trials, most);
        for sums in &mut sums {
            for lane in 0..LANES {
                sums[lane] += powers[lane];
                powers[lane] *= trials[lane];
            }
            most_power *= most;
            if most_power < NEGLIGIBLE * NEGLIGIBLE {
                break;
            }
        }
    };
    let (chunks, rest) = probabilities.as_chunks();
    chunks.iter().for_each(|&trials| add(trials));
    add(std::array::from_fn(|lane| rest.get(lane).copied().unwrap_or(0.0)));
    sums.map(|lanes| lanes.iter().sum())
}

/// The power sums of the odds from those of the probabilities: with o = p / (1 − p), oⁱ = Σ C(i + j − 1, j) · pⁱ⁺ʲ.
fn powers_of_odds(sums: &[f64; POWERS]) -> [f64; POWERS] {
    let mut odds = [0.0; POWERS];
    for (power, odds) in odds.iter_mut().enumerate() {
        let mut binomial = 1.0;
        for (more, sum) in sums[power..].iter().enumerate() {
            *odds += binomial * sum;
            binomial *= (power + 1 + more) as f64 / (more + 1) as f64;
        }
    }
    odds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(probabilities: &[f64]) -> Counts {
        Counter::with_capacity(0).count(probabilities, 0.0, 1.0)
    }

    /// The distribution without any sum of powers, from zero on.
    fn one_by_one(probabilities: &[f64]) -> Vec<f64> {
        probabilities.iter().fold(vec![1.0], |mass, probability| {
            let at = |count: usize| mass.get(count).copied().unwrap_or(0.0);
            let below = |count: usize| count.checked_sub(1).map_or(0.0, at);
            (0..=mass.len()).map(|count| at(count) * (1.0 - probability) + below(count) * probability).collect()
        })
    }

    #[test]
    fn two_trials_by_hand_and_certain_ones_that_only_shift() {
        let two = counts(&[0.5, 0.25]);
        assert_eq!((two.first(), two.mass(), two.zero()), (0, &[0.375, 0.5, 0.125][..], 0.375));
        let certain = counts(&[[1.0; 50], [0.0; 50]].concat());
        assert_eq!((certain.first(), certain.mass(), certain.zero()), (50, &[1.0][..], 0.0));
    }

    #[test]
    fn a_poisson_count_has_its_mean_and_sums_to_one() {
        for mean in [0.0, 0.3, 4.0, 20.0] {
            let counts = Counter::with_capacity(0).count(&[], mean, 1.0);
            let total: f64 = counts.mass().iter().sum();
            let average: f64 = (counts.first()..).zip(counts.mass()).map(|(count, weight)| count as f64 * weight).sum();
            assert!((total - 1.0).abs() < 1e-9 && (average - mean).abs() < 1e-6, "{mean}: {total}, {average}");
        }
    }

    proptest! {
        #[test]
        fn rare_trials_count_as_they_do_one_by_one(
            rare in prop::collection::vec(0.0..=RARE, 0..400),
            more in prop::collection::vec(0.0..=1.0f64, 0..20),
        ) {
            let trials = [rare, more].concat();
            let (fast, slow) = (counts(&trials), one_by_one(&trials));
            for (count, slow) in slow.iter().enumerate() {
                let fast = count.checked_sub(fast.first()).and_then(|at| fast.mass().get(at)).copied().unwrap_or(0.0);
                prop_assert!((fast - slow).abs() < 20.0 * NEGLIGIBLE, "{count} {fast} {slow}");
            }
        }

        #[test]
        fn a_trial_comes_out_as_it_went_in(others in prop::collection::vec(0.0..=1.0f64, 0..60), probability in 1e-6..=1.0f64) {
            let without = one_by_one(&others);
            let all = counts(&[&others[..], &[probability]].concat());
            let mut joint = vec![0.0; others.len() + 2];
            all.joint([probability, 0.0], |count, &[weight, none]| {
                joint[count] += weight;
                assert_eq!(none, 0.0);
            });
            for (count, joint) in joint.iter().enumerate() {
                // The same event with the trial left out: the others are one fewer.
                let before = count.checked_sub(1).and_then(|count| without.get(count));
                let expected = before.map_or(0.0, |mass| probability * mass);
                prop_assert!((joint - expected).abs() < 20.0 * NEGLIGIBLE, "{count} {joint} {expected}");
            }
        }
    }
}
