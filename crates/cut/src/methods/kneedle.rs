//! `kneedle`: the knee of the curve.

use serde::{Deserialize, Serialize};

use crate::cut::{Cut, NO_CANDIDATES, Value, them};
use crate::method::{Range, Setting, declare};
use crate::pool::{Pool, unit};
use crate::rule::Rule;

/// The knee that decides, of those detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// The one furthest from the diagonal, the first candidate excepted.
    Strongest,
    /// The first one, as the offline mode of `kneed` answers.
    First,
}

impl Setting for Pick {
    fn to_value(&self) -> Value {
        Value::from(match self {
            Pick::Strongest => "strongest",
            Pick::First => "first",
        })
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value.as_text()? {
            "strongest" => Some(Pick::Strongest),
            "first" => Some(Pick::First),
            _ => None,
        }
    }
}

declare! {
    /// Keeps what comes before the knee of the curve.
    ///
    /// The values are a convex, decreasing curve over their positions, both scaled to [0, 1]. Detection follows the distance
    /// of the mirrored curve from the diagonal, left to right. A local maximum is a knee when the distance falls below it
    /// by more than `sensitivity` average steps before it rises again.
    ///
    /// A knee at index k keeps k candidates: the knee itself is the first one left out. A knee may keep fewer than
    /// `min_results`, and never more than `max_results`. Without a knee, or with one at index 0 alone, which would keep
    /// nothing, `min_results` candidates are kept.
    ///
    /// A plateau before a cliff is not convex, and its first knee is index 0; `pick = strongest` finds the cliff.
    ///
    /// O(n). Source: Satopää, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack", ICDCSW 2011. Detection
    /// equals the Python package `kneed` 0.9.0 to the last bit (`interp1d`, `all_knees` of the online mode, the offline
    /// mode for `pick = first`).
    pub struct Kneedle = "kneedle" on Score, "keeps what comes before the knee of the curve"
    where min_results <= max_results
    {
        /// Fall of the curve after a knee, in average steps; higher finds fewer knees.
        pub sensitivity: f64 = 1.0, Range::Number { min: 0.0, max: 1_000.0 };
        /// Candidates to keep when there is no knee.
        pub min_results: usize = 3, Range::Integer { min: 0, max: 1_000_000 };
        /// Most candidates to keep.
        pub max_results: usize = 50, Range::Integer { min: 1, max: 1_000_000 };
        /// The knee that decides: the one furthest from the diagonal, or the first.
        pub pick: Pick = Pick::Strongest, Range::Choice(&["strongest", "first"]);
    }
}

impl Rule for Kneedle {
    fn counts_passages(&self) -> bool {
        true
    }

    fn cut(&self, pool: &Pool) -> Cut {
        let knees = Knees::find(&pool.descending(), self.sensitivity);
        let picked = match self.pick {
            Pick::First => knees.first(),
            Pick::Strongest => knees.strongest(),
        };
        let (wanted, reason) = match picked {
            _ if pool.is_empty() => (0, NO_CANDIDATES.to_string()),
            Some(knee) if knee > self.max_results => (knee, format!("no more than {} may be kept", self.max_results)),
            Some(knee) if knee > 0 => (knee, format!("the scores fall off after {}", them(knee))),
            _ if self.min_results == 0 => (0, "nothing stands out".to_string()),
            _ if pool.len() <= self.min_results.min(self.max_results) => {
                (self.min_results, "there are too few to see where the scores fall off".to_string())
            }
            Some(_) => (self.min_results, "only the first stands out, so the next best are kept too".to_string()),
            None => (self.min_results, format!("the curve has no knee, so the first {} are kept", self.min_results)),
        };
        let keep = wanted.min(self.max_results);
        let cut = Cut::new("kneedle", pool, keep, reason).with("knees_found", knees.all().len());
        match picked {
            Some(knee) => cut.with("knee_index", knee).with("knee_distance", knees.distance(knee)),
            None => cut,
        }
    }
}

/// The knees of a convex, decreasing curve, as `kneed` 0.9.0 finds them.
///
/// ```
/// use tamis_cut::Knees;
///
/// let knees = Knees::find(&[0.9, 0.88, 0.86, 0.3, 0.29, 0.28, 0.27, 0.26], 1.0);
/// assert_eq!(knees.all(), [0, 3]);
/// assert_eq!(knees.strongest(), Some(3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Knees {
    indexes: Vec<usize>,
    differences: Vec<f64>,
}

impl Knees {
    /// Finds every knee of `values`, finite and best first, over their positions. Fewer than two values, or all equal, have
    /// none.
    pub fn find(values: &[f64], sensitivity: f64) -> Self {
        let Some(normalized) = unit(values) else {
            return Knees { indexes: Vec::new(), differences: Vec::new() };
        };
        let last = values.len() - 1;
        let positions: Vec<f64> = (0..=last).map(|index| index as f64 / last as f64).collect();
        let differences: Vec<f64> =
            normalized.iter().zip(&positions).map(|(value, position)| (1.0 - value) - position).collect();
        let margin = sensitivity * mean_step(&positions).abs();
        let indexes = detect(&differences, margin);
        Knees { indexes, differences }
    }

    /// The indexes of all knees, ascending, as `all_knees` of the online mode.
    pub fn all(&self) -> &[usize] {
        &self.indexes
    }

    /// The first knee, as `knee` of the offline mode.
    pub fn first(&self) -> Option<usize> {
        self.indexes.first().copied()
    }

    /// The knee furthest from the diagonal, the first of equal ones, index 0 excepted; index 0 when it is the only one.
    pub fn strongest(&self) -> Option<usize> {
        let mut strongest: Option<usize> = None;
        for &knee in self.indexes.iter().filter(|&&knee| knee > 0) {
            if strongest.is_none_or(|other| self.distance(knee) > self.distance(other)) {
                strongest = Some(knee);
            }
        }
        strongest.or(self.first())
    }

    /// Distance of the normalized, mirrored curve above the diagonal at `index`; 0 beyond its end.
    pub fn distance(&self, index: usize) -> f64 {
        self.differences.get(index).copied().unwrap_or(0.0)
    }
}

/// The knees of a difference curve of at least two points. From each local maximum on, detection watches the curve until it
/// falls by `margin` (a knee) or reaches a local minimum. Points on a level are both.
fn detect(differences: &[f64], margin: f64) -> Vec<usize> {
    let last = differences.len() - 1;
    let neighbours = |index: usize| (differences[index.saturating_sub(1)], differences[(index + 1).min(last)]);
    let mut knees: Vec<usize> = Vec::new();
    let mut watched: Option<(usize, f64)> = None;
    for (index, &here) in differences.iter().enumerate().take(last) {
        let (before, after) = neighbours(index);
        if here >= before && here >= after {
            watched = Some((index, here - margin));
        }
        if here <= before && here <= after {
            watched = None;
        }
        if let Some((knee, threshold)) = watched
            && after < threshold
            && knees.last() != Some(&knee)
        {
            knees.push(knee);
        }
    }
    knees
}

/// The mean difference of neighbours, summed in NumPy's order so that ties break as they do there.
fn mean_step(positions: &[f64]) -> f64 {
    let steps: Vec<f64> = positions.windows(2).map(|pair| pair[1] - pair[0]).collect();
    pairwise_sum(&steps) / steps.len() as f64
}

/// NumPy's summation: eight running sums over blocks of up to 128, halves beyond.
fn pairwise_sum(values: &[f64]) -> f64 {
    const LANES: usize = 8;
    const BLOCK: usize = 128;
    if values.len() < LANES {
        return values.iter().fold(-0.0, |sum, value| sum + value);
    }
    if values.len() <= BLOCK {
        let mut chunks = values.chunks_exact(LANES);
        let mut lanes = [-0.0; LANES];
        for chunk in &mut chunks {
            lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += value);
        }
        let sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
        return chunks.remainder().iter().fold(sum, |sum, value| sum + value);
    }
    let half = values.len() / 2;
    let (left, right) = values.split_at(half - half % LANES);
    pairwise_sum(left) + pairwise_sum(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `good` values from 0.9 down in steps of 0.02, then `noise` from 0.3 down in steps of 0.01.
    fn cliff(good: u32, noise: u32) -> Vec<f64> {
        let high = (0..good).map(|i| 0.9 - 0.02 * f64::from(i));
        let low = (0..noise).map(|i| 0.3 - 0.01 * f64::from(i));
        high.chain(low).collect()
    }

    fn cut(rule: &Kneedle, values: &[f64]) -> Cut {
        rule.cut(&Pool::scores(values.iter().copied()).unwrap())
    }

    #[test]
    fn trap_a_plateau_and_then_a_cliff_is_cut_at_the_cliff() {
        for (good, noise, knee) in [(5, 7, 5), (3, 12, 3), (1, 12, 1)] {
            let cut = cut(&Kneedle::default(), &cliff(good, noise));
            assert_eq!(cut.keep, knee, "{good} and {noise}: {}", cut.reason);
            assert_eq!(cut.diagnostics["knee_index"].as_integer(), Some(knee as i64));
        }
        let knees = Knees::find(&cliff(5, 7), 1.0);
        assert_eq!((knees.all(), knees.first(), knees.strongest()), (&[0, 5][..], Some(0), Some(5)));
    }

    #[test]
    fn trap_no_knee_or_one_at_the_first_candidate_does_not_keep_the_whole_list() {
        let line: Vec<f64> = (0..20).map(|i| f64::from(20 - i)).collect();
        assert_eq!([cut(&Kneedle::default(), &line).keep, cut(&Kneedle::default(), &[0.5; 20]).keep], [3, 3]);
        // The first knee of a plateau and a cliff is index 0.
        let first = Kneedle { pick: Pick::First, ..Kneedle::default() };
        let cut_first = cut(&first, &cliff(5, 7));
        assert_eq!((cut_first.keep, cut_first.diagnostics["knee_index"].as_integer()), (3, Some(0)));
        // A concave curve has no other knee.
        assert_eq!(cut(&Kneedle::default(), &[1.0, 1.0, 1.0, 1.0, 0.0]).keep, 3);
    }

    #[test]
    fn the_least_and_the_most() {
        let rule = Kneedle { min_results: 2, max_results: 4, ..Kneedle::default() };
        assert_eq!(cut(&rule, &cliff(5, 7)).keep, 4);
        assert_eq!(cut(&rule, &cliff(1, 12)).keep, 1, "a knee is believed below the least");
        assert_eq!([cut(&rule, &[0.5; 9]).keep, cut(&rule, &[0.5]).keep, cut(&rule, &[]).keep], [2, 1, 0]);
        let reversed = Kneedle { min_results: 9, max_results: 4, ..Kneedle::default() };
        assert_eq!(cut(&reversed, &[0.5; 20]).keep, 4);
    }

    #[test]
    fn sums_are_those_of_numpy_in_every_size_class() {
        // numpy.diff(numpy.arange(n) / (n - 1)).mean() differs from 1 / (n - 1) in its last bit for some n.
        for (n, differs) in [(2, false), (50, false), (87, true), (91, true), (200, false), (281, true), (316, true)] {
            let positions: Vec<f64> = (0..n).map(|i| f64::from(i) / f64::from(n - 1)).collect();
            let mean = mean_step(&positions);
            assert!((mean * f64::from(n - 1) - 1.0).abs() < 1e-15, "{n}");
            assert_eq!(mean != 1.0 / f64::from(n - 1), differs, "{n}");
        }
    }
}
