//! What `[rank]` says of language and age, and `[search.variants]` of several phrasings.

use super::Read;
use tamis_rank::{LanguageFactors, Recency};

/// How language and age move candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankConfig {
    /// Factors on the distance by language.
    pub language: LanguageFactors,
    /// How relevance fades with age.
    pub recency: Recency,
    /// When it does.
    pub use_recency: RecencyUse,
}

/// When age moves candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecencyUse {
    /// With the cut that is defined on distances moved by age, `max_gap`.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// How several phrasings of one need are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariantConfig {
    /// Weight of the ranks of a wording of the need, the query itself among them.
    pub intent_weight: f64,
    /// Weight of the ranks of a variant that names files.
    pub paths_weight: f64,
    /// Weight of the ranks of a variant in the shape of code.
    pub code_weight: f64,
    /// Longest variant, in characters.
    pub max_characters: usize,
}

pub(super) fn rank(read: &Read<'_>) -> RankConfig {
    let number = |key: &str| read.number(key).unwrap_or(1.0);
    RankConfig {
        language: LanguageFactors { same: number("rank.same_language"), related: number("rank.related_language") },
        recency: Recency {
            half_life_days: number("rank.recency_half_life_days"),
            floor: number("rank.recency_floor"),
            severe_floor: number("rank.severe_recency_floor"),
        },
        use_recency: match read.text("rank.recency") {
            "on" => RecencyUse::On,
            "off" => RecencyUse::Off,
            _ => RecencyUse::Auto,
        },
    }
}

pub(super) fn variants(read: &Read<'_>) -> VariantConfig {
    let number = |key: &str| read.number(key).unwrap_or(1.0);
    VariantConfig {
        intent_weight: number("search.variants.intent_weight"),
        paths_weight: number("search.variants.paths_weight"),
        code_weight: number("search.variants.code_weight"),
        max_characters: read.count("search.variants.max_characters"),
    }
}
