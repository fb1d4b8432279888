//! Recency: what lies long back moves away from a query.

use crate::age::age_days;

/// Decay of relevance with age: m = max(2^(−age / half-life), floor), and the distance grows by the factor 2 − m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recency {
    /// Half-life in days, above 0.
    pub half_life_days: f64,
    /// Least value of m, 0 to 1.
    pub floor: f64,
    /// Least value of m for severe documents, 0 to 1.
    pub severe_floor: f64,
}

impl Default for Recency {
    fn default() -> Self {
        Recency { half_life_days: 90.0, floor: 0.15, severe_floor: 0.30 }
    }
}

impl Recency {
    /// m after `age_days`. An age below 0 (a date in the future), or one that is not a number, counts as 0.
    pub fn multiplier(&self, age_days: f64, severe: bool) -> f64 {
        let floor = if severe { self.severe_floor } else { self.floor };
        (-age_days.max(0.0) / self.half_life_days).exp2().max(floor)
    }

    /// The factor on the distance of a document dated `date_ns` at `now_ns`, both in nanoseconds since 1970. An undated
    /// document counts as new: 1.
    pub fn factor(&self, date_ns: Option<i64>, now_ns: i64, severe: bool) -> f64 {
        2.0 - self.multiplier(date_ns.map_or(0.0, |date| age_days(date, now_ns)), severe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 86_400_000_000_000;

    #[test]
    fn half_is_left_after_the_half_life_and_never_less_than_the_floor() {
        let recency = Recency::default();
        let left = |days, severe| recency.multiplier(days, severe);
        assert_eq!(left(0.0, false), 1.0);
        assert!((left(90.0, false) - 0.5).abs() < 1e-12 && (left(45.0, false) - 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!((left(1_000.0, false), left(1_000.0, true)), (0.15, 0.30));
    }

    #[test]
    fn a_date_in_the_future_and_a_missing_one_are_new() {
        let recency = Recency::default();
        assert_eq!(recency.factor(Some(20 * DAY), 10 * DAY, false), 1.0);
        assert_eq!(recency.factor(None, 10 * DAY, false), 1.0);
        assert!((recency.factor(Some(0), 90 * DAY, false) - 1.5).abs() < 1e-12);
        assert_eq!(recency.factor(Some(i64::MIN), i64::MAX, false), 1.85, "no overflow");
    }

    proptest! {
        #[test]
        fn the_older_the_farther(age in 0.0..4000.0f64, more in 0.0..4000.0f64) {
            let recency = Recency::default();
            prop_assert!(recency.multiplier(age + more, false) <= recency.multiplier(age, false));
            prop_assert!(recency.multiplier(age, true) >= recency.multiplier(age, false));
        }
    }
}
