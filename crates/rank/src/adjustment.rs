//! Adjustment of a candidate's distance by its language and its age.
//!
//! Both are factors on the distance (1 − similarity), as in the systems whose gap threshold `tamis-cut` implements. Any cut can
//! follow, since fusion takes the adjusted raw scores in place of the raw ones.

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
    use crate::recency::Recency;
    use proptest::prelude::*;

    #[test]
    fn the_table_of_languages() {
        let factors = LanguageFactors::default();
        assert_eq!(factors.factor(LanguageMatch::Same), 0.85);
        assert_eq!(factors.factor(LanguageMatch::Related), 0.925);
        assert_eq!(factors.factor(LanguageMatch::Other), 1.0);
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
    }
}
