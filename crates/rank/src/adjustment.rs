//! Adjustment of a candidate's distance by its language and its age.
//!
//! Both are factors on the distance (1 − similarity), as in the systems whose gap threshold `tamis-cut` implements. Any cut can
//! follow, since fusion takes the adjusted raw scores in place of the raw ones.

use serde::Serialize;

use crate::age::age_days;

/// The relation of a candidate's language to the one asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LanguageMatch {
    /// The same, or a dialect of it.
    Same,
    /// A related one.
    Related,
    /// Another one, or one of the two is unknown.
    Other,
}

/// Factors on the distance by language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LanguageFactors {
    /// For the same language, in (0, 1].
    pub same: f64,
    /// For a related one, in (0, 1].
    pub related: f64,
}

impl Default for LanguageFactors {
    fn default() -> Self {
        LanguageFactors { same: 0.85, related: 0.925 }
    }
}

impl LanguageFactors {
    /// The factor on the distance of a candidate.
    pub fn factor(&self, language: LanguageMatch) -> f64 {
        match language {
            LanguageMatch::Same => self.same,
            LanguageMatch::Related => self.related,
            LanguageMatch::Other => 1.0,
        }
    }
}

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

/// The factor on a candidate's distance from language and age together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adjustment {
    /// Factor on the distance, above 0; 1 changes nothing.
    pub factor: f64,
}

impl Default for Adjustment {
    fn default() -> Self {
        Adjustment { factor: 1.0 }
    }
}

impl Adjustment {
    /// The product of a language factor and an age factor.
    pub fn of(language: f64, recency: f64) -> Self {
        Adjustment { factor: language * recency }
    }

    /// The similarity with the adjusted distance. It can fall below −1, and keeps the order of its input.
    pub fn similarity(&self, similarity: f64) -> f64 {
        1.0 - self.factor * (1.0 - similarity)
    }

    /// The BM25 value scaled the other way, by 2 − factor and never below 0. Words have no distance, and without this a search
    /// by words alone would ignore language and age.
    pub fn bm25(&self, bm25: f64) -> f64 {
        bm25 * (2.0 - self.factor).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 86_400_000_000_000;

    #[test]
    fn the_table_of_languages() {
        let factors = LanguageFactors::default();
        assert_eq!(factors.factor(LanguageMatch::Same), 0.85);
        assert_eq!(factors.factor(LanguageMatch::Related), 0.925);
        assert_eq!(factors.factor(LanguageMatch::Other), 1.0);
    }

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

    #[test]
    fn distances_by_hand() {
        // 0.4 · 0.85 · 1.5 = 0.51.
        let adjustment = Adjustment::of(0.85, 1.5);
        assert!((1.0 - adjustment.similarity(0.6) - 0.51).abs() < 1e-12);
        assert!((adjustment.bm25(10.0) - 10.0 * (2.0 - 1.275)).abs() < 1e-12);
        assert_eq!(Adjustment::default().similarity(0.6), 0.6);
        assert_eq!(Adjustment::of(1.0, 2.5).bm25(4.0), 0.0);
    }

    proptest! {
        #[test]
        fn an_adjustment_keeps_the_order_of_equally_adjusted(a in -1.0..1.0f64, b in -1.0..1.0f64, age in 0.0..4000.0f64) {
            let adjustment = Adjustment::of(0.85, 2.0 - Recency::default().multiplier(age, false));
            prop_assert_eq!(a.total_cmp(&b), adjustment.similarity(a).total_cmp(&adjustment.similarity(b)));
            prop_assert!(adjustment.bm25(a.abs()) >= 0.0);
        }

        #[test]
        fn the_older_the_farther(age in 0.0..4000.0f64, more in 0.0..4000.0f64) {
            let recency = Recency::default();
            prop_assert!(recency.multiplier(age + more, false) <= recency.multiplier(age, false));
            prop_assert!(recency.multiplier(age, true) >= recency.multiplier(age, false));
        }
    }
}
