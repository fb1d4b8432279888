//! Adjustment of a candidate's distance by its language, its age and its role.

use serde::Serialize;

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
    pub fn new(language: f64, recency: f64) -> Self {
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

// Recency: what lies long back moves away from a query.

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

// Exponential decay of a value with age.

/// Decay of memories: value · 2^(−age / half-life).
///
/// Unlike [`Recency`](crate::Recency), which moves distances and ends at a floor, it multiplies the fused value and goes on for
/// ever. Undated memories do not decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// Half-life in days, above 0.
    pub half_life_days: f64,
}

impl Default for Decay {
    fn default() -> Self {
        Decay { half_life_days: 30.0 }
    }
}

/// Half-lives after which decay stops, so that the oldest values still have an order.
const LAST_HALF_LIFE: f64 = 1_000.0;

impl Decay {
    /// The factor after `age_days`, in (0, 1]. An age below 0 (a date in the future), or one that is not a number, counts as 0.
    pub fn after(&self, age_days: f64) -> f64 {
        let half_lives = age_days.max(0.0) / self.half_life_days;
        // An age of 0 does not decay, even with a half-life of 0.
        if half_lives.is_nan() { 1.0 } else { (-half_lives.min(LAST_HALF_LIFE)).exp2() }
    }

    /// The factor at `now_ns` for the date `date_ns`, both in nanoseconds since 1970; 1 without a date.
    pub fn factor(&self, date_ns: Option<i64>, now_ns: i64) -> f64 {
        date_ns.map_or(1.0, |date| self.after(age_days(date, now_ns)))
    }

    /// `value` times `factor`. A value that is not positive stays as it is, so that decay never raises it.
    pub fn apply(value: f64, factor: f64) -> f64 {
        lowered(value, factor)
    }
}

// Ages from dates.

/// Nanoseconds per day.
const DAY_NS: f64 = 86_400e9;

/// Days from `date_ns` to `now_ns`, both in nanoseconds since 1970; negative for a date in the future.
pub fn age_days(date_ns: i64, now_ns: i64) -> f64 {
    (now_ns as f64 - date_ns as f64) / DAY_NS
}

// Rank factors by the role of the text. Tests, examples, copies, translations, generated code, changelogs, licences and
// instructions for agents repeat the words of the text they are about, and so hide it. Reports of programs and unfilled forms do
// the same.

/// Factors on a candidate's ranking value by the stored name of its role. Every other role has 1.
/// Generated code has the lowest: it repeats the names of what it is made from, word for word.
pub const ROLE_FACTORS: [(&str, f64); 10] = [
    ("test", 0.85),
    ("example", 0.95),
    ("vendored", 0.85),
    ("generated", 0.6),
    ("changelog", 0.85),
    ("license", 0.85),
    ("translation", 0.85),
    ("agent", 0.85),
    ("bot", 0.8),
    ("template", 0.8),
];

/// Returns the factor for a role, in (0, 1]. [`lowered`] applies it.
pub fn role_factor(role: &str) -> f64 {
    ROLE_FACTORS.iter().find(|(name, _)| *name == role).map_or(1.0, |(_, factor)| *factor)
}

/// Returns `value` times `factor` if it is positive, so that a factor of at most 1 never raises it.
pub fn lowered(value: f64, factor: f64) -> f64 {
    if value > 0.0 { value * factor } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_of_languages_and_distances_by_hand() {
        let factors = LanguageFactors::default();
        assert_eq!([factors.factor(LanguageMatch::Same), factors.factor(LanguageMatch::Related)], [0.85, 0.925]);
        assert_eq!(factors.factor(LanguageMatch::Other), 1.0);
        // 0.4 · 0.85 · 1.5 = 0.51.
        let adjustment = Adjustment::new(0.85, 1.5);
        assert!((1.0 - adjustment.similarity(0.6) - 0.51).abs() < 1e-12);
        assert!((adjustment.bm25(10.0) - 10.0 * (2.0 - 1.275)).abs() < 1e-12);
        assert_eq!((Adjustment::default().similarity(0.6), Adjustment::new(1.0, 2.5).bm25(4.0)), (0.6, 0.0));
    }

    const DAY: i64 = 86_400_000_000_000;

    #[test]
    fn recency_halves_down_to_its_floor_and_the_future_and_the_undated_are_new() {
        let recency = Recency::default();
        let left = |days, severe| recency.multiplier(days, severe);
        assert_eq!(left(0.0, false), 1.0);
        assert!((left(90.0, false) - 0.5).abs() < 1e-12 && (left(45.0, false) - 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!((left(1_000.0, false), left(1_000.0, true)), (0.15, 0.30));
        assert_eq!(recency.factor(Some(20 * DAY), 10 * DAY, false), 1.0);
        assert_eq!(recency.factor(None, 10 * DAY, false), 1.0);
        assert!((recency.factor(Some(0), 90 * DAY, false) - 1.5).abs() < 1e-12);
        assert_eq!(recency.factor(Some(i64::MIN), i64::MAX, false), 1.85, "no overflow");
    }

    #[test]
    fn only_the_named_roles_are_ranked_down() {
        let ranked = |role: &str, value: f64| lowered(value, role_factor(role));
        assert_eq!(ranked("main", 0.8), 0.8);
        assert!((ranked("test", 0.8) - 0.68).abs() < 1e-12);
        assert_eq!(ranked("vendored", -0.2), -0.2, "a factor never raises a negative value");
    }

    #[test]
    fn half_is_left_after_the_half_life_and_the_future_and_the_undated_do_not_decay() {
        let decay = Decay::default();
        assert_eq!((decay.after(0.0), decay.after(30.0), decay.after(60.0)), (1.0, 0.5, 0.25));
        assert!((decay.after(15.0) - 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(decay.factor(Some(10 * DAY), 40 * DAY), 0.5);
        assert_eq!(Decay { half_life_days: 7.0 }.factor(Some(0), 7 * DAY), 0.5);
        assert_eq!([decay.factor(Some(20 * DAY), 10 * DAY), decay.factor(None, i64::MAX)], [1.0, 1.0]);
        assert_eq!(decay.after(f64::NAN), 1.0);
    }

    #[test]
    fn the_oldest_are_still_in_their_order_and_what_is_not_positive_is_not_raised() {
        let decay = Decay { half_life_days: 0.1 };
        let factor = decay.factor(Some(i64::MIN), i64::MAX);
        assert!(factor > 0.0 && Decay::apply(0.8, factor) > Decay::apply(0.7, factor));
        assert_eq!([Decay::apply(-0.2, 0.5), Decay::apply(0.0, 0.5)], [-0.2, 0.0]);
        assert_eq!(Decay::apply(1.5, 0.5), 0.75);
    }

    proptest! {
        #[test]
        fn an_adjustment_keeps_the_order_of_equally_adjusted(a in -1.0..1.0f64, b in -1.0..1.0f64, age in 0.0..4000.0f64) {
            let adjustment = Adjustment::new(0.85, 2.0 - Recency::default().multiplier(age, false));
            prop_assert_eq!(a.total_cmp(&b), adjustment.similarity(a).total_cmp(&adjustment.similarity(b)));
            prop_assert!(adjustment.bm25(a.abs()) >= 0.0);
        }

        #[test]
        fn the_older_the_farther(age in 0.0..4000.0f64, more in 0.0..4000.0f64) {
            let recency = Recency::default();
            prop_assert!(recency.multiplier(age + more, false) <= recency.multiplier(age, false));
            prop_assert!(recency.multiplier(age, true) >= recency.multiplier(age, false));
        }

        #[test]
        fn the_older_the_less_and_never_more_than_there_was(age in -50.0..40_000.0f64, more in 0.0..900.0f64, value in -1.0..2.0f64) {
            let decay = Decay::default();
            prop_assert!(decay.after(age + more) <= decay.after(age));
            prop_assert!((0.0..=1.0).contains(&decay.after(age)));
            prop_assert!(Decay::apply(value, decay.after(age)) <= value);
        }
    }
}
