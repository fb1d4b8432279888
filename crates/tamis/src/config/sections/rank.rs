//! `[rank]`: the effect of language and age on the order.

use tamis_rank::{LanguageFactors, Recency};

use crate::config::declare::{KeySpec, number, section, word};
use crate::config::words::words;

section! {
    /// Effect of language and age on the order.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RankConfig {
        /// Factors on the distance, by language.
        pub language: LanguageFactors;
        /// Move older passages farther away; auto: with the cut max_gap, which is defined that way.
        pub use_recency: RecencyUse = "rank.recency", word();
        /// The time that ages are counted from: newest, the newest document of a passage's namespace; today, the present.
        pub recency_from: RecencyFrom = "rank.recency_from", word();
        /// Decay of relevance with age.
        pub recency: Recency;
    }
}

words! {
    /// The searches in which age moves candidates.
    #[derive(Default)]
    pub enum RecencyUse {
        /// Searches with `max_gap`, the cut that is defined on distances moved by age.
        #[default]
        Auto = "auto",
        /// All searches.
        On = "on",
        /// No search.
        Off = "off",
    }
}

words! {
    /// The time that ages are counted from.
    #[derive(Default)]
    pub enum RecencyFrom {
        /// The date of the newest document of a passage's namespace, so that nothing ages while nothing is written.
        #[default]
        Newest = "newest",
        /// The present.
        Today = "today",
    }
}

section! {
    for LanguageFactors {
        /// Factor on the distance of passages in the language that the query hints at
        same: f64 = "rank.same_language", factor(LanguageFactors::default().same);
        /// Factor on the distance of passages in a related language
        related: f64 = "rank.related_language", factor(LanguageFactors::default().related);
    }
}

section! {
    for Recency {
        /// Days after which half of a passage's recency is left
        half_life_days: f64 =
            "rank.recency_half_life_days", number(0.1..=36_500.0, Recency::default().half_life_days);
        /// Least recency that an old passage keeps
        floor: f64 = "rank.recency_floor", number(0.0..=1.0, Recency::default().floor);
        /// Least recency that an old passage of severity critical or major keeps
        severe_floor: f64 = "rank.severe_recency_floor", number(0.0..=1.0, Recency::default().severe_floor);
    }
}

fn factor(default: f64) -> KeySpec<f64> {
    number(0.01..=1.0, default)
}
