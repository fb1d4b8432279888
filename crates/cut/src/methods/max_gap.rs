//! `max_gap`: a threshold before the largest gap between neighbouring distances.

use super::percentile::value_at_share;
use crate::cut::{Cut, NO_CANDIDATES, NOTHING_CLOSE, figure, percent, them};
use crate::method::{Range, declare};
use crate::pool::{Pool, largest_drop};
use crate::rule::{Admission, RawScores, Rule};

declare! {
    /// Keeps what lies before the largest gap between neighbouring distances, within fixed bounds.
    ///
    /// On cosine distances, best first:
    ///
    /// | candidates | threshold | `threshold_method` |
    /// | --- | --- | --- |
    /// | none | `configured` | `configured` |
    /// | fewer than `min_candidates_for_gap` | the distance at `fallback_percentile` of the list | `percentile` |
    /// | more | the distance just before the largest gap, the first of equal ones | `adaptive` |
    /// | more, and no gap of at least `min_gap` | `configured` | `configured` |
    ///
    /// The threshold is clamped to `floor` and `ceiling`; candidates at or below it are kept. `adaptive = false` keeps
    /// candidates at or below `configured` and ignores everything else. In a search it then filters by the raw distance,
    /// before any reranking.
    ///
    /// Distances are used as given; a similarity s has distance 1 − s. O(n).
    ///
    /// Relevance need not end at the largest gap: when one candidate lies far behind ten that are equally bad, the gap
    /// precedes the outlier, and only the ceiling keeps the ten out. The diagnostic `after_gap` counts the candidates beyond
    /// the gap, and the reason says so when there is only one.
    pub struct MaxGap = "max_gap" on Similarity, "keeps what lies before the largest gap between neighbouring distances"
    where floor <= ceiling
    {
        /// Fewest candidates in which to look for a gap.
        pub min_candidates_for_gap: usize = 8, Range::Integer { min: 2, max: 1_000_000 };
        /// Share of a shorter list, from the best, at which the threshold is read.
        pub fallback_percentile: f64 = 0.75, Range::Number { min: 0.0, max: 1.0 };
        /// Smallest difference of distances that counts as a gap.
        pub min_gap: f64 = 0.05, Range::Number { min: 0.0, max: 2.0 };
        /// Lowest distance that the threshold may have.
        pub floor: f64 = 0.15, Range::Number { min: 0.0, max: 2.0 };
        /// Highest distance that the threshold may have.
        pub ceiling: f64 = 0.65, Range::Number { min: 0.0, max: 2.0 };
        /// Distance threshold where there is no gap, or always when `adaptive` is false.
        pub configured: f64 = 0.30, Range::Number { min: 0.0, max: 2.0 };
        /// Let the list decide; false applies `configured` to every query.
        pub adaptive: bool = true, Range::Flag;
    }
}

impl Rule for MaxGap {
    fn counts_passages(&self) -> bool {
        true
    }

    fn reads_aged_distances(&self) -> bool {
        true
    }

    fn admits(&self, candidate: &RawScores) -> Option<Admission> {
        let within = candidate.similarity.is_some_and(|similarity| 1.0 - similarity <= self.configured);
        (!self.adaptive).then_some(if within { Admission::Similarity } else { Admission::Refused })
    }

    fn cut(&self, pool: &Pool) -> Cut {
        if let Some(admitted) = pool.admitted().filter(|_| !self.adaptive) {
            return Cut::new("max_gap", pool, admitted.total(), self.fixed_reason(pool, admitted.total()))
                .with_distance_threshold(self.configured)
                .with("threshold_on", "raw_distance")
                .with("threshold_method", "configured")
                .with("clamped", false);
        }
        let distances = pool.as_distances();
        let gap = largest_gap(&distances);
        let (method, wanted) = self.threshold(&distances, gap);
        let threshold = if self.adaptive { wanted.max(self.floor).min(self.ceiling) } else { wanted };
        let clamped = threshold != wanted;

        let keep = distances.partition_point(|&distance| distance <= threshold);
        let after_gap = gap.map_or(0, |(index, _)| distances.len() - index - 1);
        let reason = match method {
            _ if pool.is_empty() => NO_CANDIDATES.to_string(),
            _ if !self.adaptive => self.fixed_reason(pool, keep),
            _ if keep == 0 => NOTHING_CLOSE.to_string(),
            "percentile" if keep == pool.len() => "too few to look for a gap".to_string(),
            "percentile" if clamped => {
                format!("too few to look for a gap, so those within distance {} are kept", figure(threshold))
            }
            "percentile" => {
                format!("too few to look for a gap, so the nearest {} count", percent(self.fallback_percentile))
            }
            "adaptive" if !clamped && after_gap == 1 => {
                format!("the largest gap comes after {}, with only 1 candidate beyond", them(keep))
            }
            "adaptive" if !clamped => format!("the largest gap comes after {}", them(keep)),
            "adaptive" if keep == pool.len() => "all are close enough".to_string(),
            "adaptive" => "the rest are too far away".to_string(),
            _ => format!("no clear gap, so those within distance {} are kept", figure(threshold)),
        };
        let cut = Cut::new("max_gap", pool, keep, reason)
            .with_distance_threshold(threshold)
            .with("threshold_method", method)
            .with("clamped", clamped);
        match gap.filter(|_| self.adaptive && distances.len() >= self.min_candidates_for_gap) {
            Some((index, size)) => {
                cut.with("gap_size", size).with("gap_index", index).with("after_gap", distances.len() - index - 1)
            }
            None => cut,
        }
    }
}

impl MaxGap {
    /// The threshold before clamping, and how it was found.
    fn threshold(&self, distances: &[f64], gap: Option<(usize, f64)>) -> (&'static str, f64) {
        if !self.adaptive {
            return ("configured", self.configured);
        }
        let (Some((index, size)), Some(fallback)) = (gap, value_at_share(distances, self.fallback_percentile)) else {
            // One candidate has no gap; an empty list has no percentile either.
            return distances.first().map_or(("configured", self.configured), |&only| ("percentile", only));
        };
        if distances.len() < self.min_candidates_for_gap {
            return ("percentile", fallback);
        }
        if size < self.min_gap { ("configured", self.configured) } else { ("adaptive", distances[index]) }
    }

    /// The reason of a fixed threshold.
    fn fixed_reason(&self, pool: &Pool, keep: usize) -> String {
        let distance = figure(self.configured);
        match keep {
            0 => format!("nothing is within distance {distance}"),
            all if all == pool.len() => format!("all are within distance {distance}"),
            _ => format!("the rest are beyond distance {distance}"),
        }
    }
}

/// Position before the largest difference of neighbours in an ascending list, and its size; the first of equal ones.
fn largest_gap(ascending: &[f64]) -> Option<(usize, f64)> {
    let descending: Vec<f64> = ascending.iter().map(|distance| -distance).collect();
    largest_drop(&descending)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Admitted;

    fn cut(distances: &[f64]) -> Cut {
        MaxGap::default().cut(&Pool::distances(distances.iter().copied()).unwrap())
    }

    fn found(cut: &Cut) -> &str {
        cut.diagnostics["threshold_method"].as_text().unwrap()
    }

    #[test]
    fn the_table_of_cases() {
        let cases: &[(&str, &[f64], usize, f64, &str)] = &[
            ("no candidates", &[], 0, 0.30, "configured"),
            ("one", &[0.4], 1, 0.4, "percentile"),
            ("one, too close to be a threshold", &[0.05], 1, 0.15, "percentile"),
            ("one, too far", &[0.9], 0, 0.65, "percentile"),
            ("seven are still too few", &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], 6, 0.6, "percentile"),
            ("four: floor(0.75 * 4) is the last", &[0.1, 0.2, 0.3, 0.4], 4, 0.4, "percentile"),
            ("eight with a gap", &[0.10, 0.12, 0.15, 0.20, 0.50, 0.52, 0.55, 0.60], 4, 0.20, "adaptive"),
            ("no gap of 0.05", &[0.20, 0.22, 0.24, 0.26, 0.28, 0.30, 0.32, 0.34], 6, 0.30, "configured"),
            ("all equal", &[0.25; 9], 9, 0.30, "configured"),
            ("floor", &[0.01, 0.10, 0.50, 0.51, 0.52, 0.53, 0.54, 0.55], 2, 0.15, "adaptive"),
            ("ceiling", &[0.70, 0.71, 0.72, 0.73, 1.20, 1.21, 1.22, 1.23], 0, 0.65, "adaptive"),
        ];
        for (name, distances, keep, threshold, method) in cases {
            let cut = cut(distances);
            assert_eq!((cut.keep, cut.threshold, found(&cut)), (*keep, Some(*threshold), *method), "{name}");
        }
    }

    #[test]
    fn the_first_of_equal_gaps_wins_and_one_that_is_too_small_is_reported() {
        // Quarters are exact in binary, so the two gaps are equal and not only nearly so.
        let cut = cut(&[0.0, 0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5]);
        assert_eq!(cut.diagnostics["gap_index"].as_integer(), Some(0));
        assert_eq!(cut.diagnostics["gap_size"].as_number(), Some(0.25));
        assert_eq!((cut.keep, cut.threshold), (1, Some(0.15)));
        let small = self::cut(&[0.20, 0.22, 0.24, 0.28, 0.30, 0.31, 0.32, 0.33]);
        assert_eq!((found(&small), small.diagnostics["gap_index"].as_integer()), ("configured", Some(2)));
        assert!((small.diagnostics["gap_size"].as_number().unwrap() - 0.04).abs() < 1e-12);
    }

    #[test]
    fn trap_ten_noise_items_and_one_far_outlier() {
        // The gap is the outlier's. Noise beyond the ceiling stays out all the same.
        let mut distances: Vec<f64> = (0..10).map(|i| 0.70 + 0.005 * f64::from(i)).collect();
        distances.push(1.4);
        let far = cut(&distances);
        assert_eq!((far.keep, far.threshold, found(&far)), (0, Some(0.65), "adaptive"));
        assert_eq!(far.diagnostics["clamped"].as_flag(), Some(true));
        assert_eq!(far.diagnostics["after_gap"].as_integer(), Some(1));
        // One good answer before the noise is found, since its gap is the larger one within reach, or the ceiling cuts.
        distances.insert(0, 0.30);
        let one = cut(&distances);
        assert_eq!((one.keep, one.threshold), (1, Some(0.65)));
        // Within the ceiling nothing in the list tells noise from answers: the rule keeps it, and says on what ground.
        let mut near: Vec<f64> = (0..10).map(|i| 0.50 + 0.005 * f64::from(i)).collect();
        near.push(1.1);
        let near = cut(&near);
        assert_eq!(near.keep, 10);
        assert_eq!(near.reason, "the largest gap comes after them, with only 1 candidate beyond");
    }

    #[test]
    fn not_adaptive_is_the_configured_threshold_and_nothing_else() {
        let pool = Pool::distances([0.1, 0.2, 0.7, 0.75, 0.8, 0.81, 0.9, 0.95]).unwrap();
        for (configured, keep) in [(0.05, 0), (0.1, 1), (0.30, 2), (0.78, 4), (2.0, 8)] {
            let cut = MaxGap { adaptive: false, configured, ..MaxGap::default() }.cut(&pool);
            assert_eq!((cut.keep, cut.threshold, found(&cut)), (keep, Some(configured), "configured"));
            assert!(!cut.diagnostics.contains_key("gap_size"));
        }
    }

    #[test]
    fn distances_take_no_round_trip_through_similarity() {
        // 1 - (1 - 0.3) is 0.30000000000000004, which the configured 0.30 would drop.
        let pool = Pool::distances([0.3; 8]).unwrap();
        assert_eq!(MaxGap::default().cut(&pool).keep, 8);
    }

    #[test]
    fn similarities_are_held_to_one_minus() {
        let pool = Pool::scores([0.90, 0.88, 0.85, 0.80, 0.50, 0.48, 0.45, 0.40]).unwrap();
        let cut = MaxGap::default().cut(&pool);
        assert_eq!((cut.keep, cut.threshold), (4, Some(1.0 - 0.80)));
        assert_eq!(cut.diagnostics["threshold_on"].as_text(), Some("distance"));
    }

    #[test]
    fn a_fixed_threshold_filters_by_the_raw_distance_and_keeps_whatever_it_admitted() {
        let fixed = MaxGap { adaptive: false, ..MaxGap::default() };
        let raw = |similarity| RawScores { similarity, ..RawScores::default() };
        assert_eq!(fixed.admits(&raw(Some(0.71))), Some(Admission::Similarity));
        assert_eq!(fixed.admits(&raw(Some(0.69))), Some(Admission::Refused));
        assert_eq!(fixed.admits(&raw(None)), Some(Admission::Refused));
        assert_eq!(MaxGap::default().admits(&raw(Some(0.9))), None);
        // Reranking moved the first two beyond the threshold; they were admitted before.
        let pool = Pool::distances([0.35, 0.4, 0.6]).unwrap().with_admitted(Admitted { by_similarity: 2, by_words: 0 });
        assert_eq!(fixed.cut(&pool).keep, 2);
    }
}
