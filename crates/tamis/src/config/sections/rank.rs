//! `[rank]`: the effect of language, age and role on the order; and `[search.variants]`, the weights of query variants.

use crate::config::declare::{KeySpec, integer, number, section, word};
use crate::config::words::words;
use tamis_rank::{DefinitionPrior, EntryEvidence, LanguageFactors, LeanPrior, Recency, RolePrior};

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

section! {
    /// `[rank]`: factors on the ranking value of passages that tend to drown the answer.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct RankFactors {
        /// By the passage's role in its project.
        pub roles: RolePrior;
        /// By its relation to a name in the query: definition or mere use.
        pub definitions: DefinitionPrior;
        /// By what the question asks for: code or a guide.
        pub lean: LeanPrior;
        /// By the other passages of its file, and the file's name.
        pub entries: EntryEvidence;
    }
}

section! {
    for LeanPrior {
        /// Factor on the ranking value of documentation where a question asks for code, and of code where it asks for a guide
        other: f64 = "rank.lean", factor(LeanPrior::default().other);
    }
}

section! {
    for EntryEvidence {
        /// Weight of each further passage of a file in relation to the one before
        further: f64 = "rank.further", number(0.0..=1.0, EntryEvidence::default().further);
        /// What all passages of a file together add to its best one, as a share of the best score
        total: f64 = "rank.total", number(0.0..=1.0, EntryEvidence::default().total);
        /// What a file's name adds where its words are in the query, as a share of the best score
        name: f64 = "rank.name", number(0.0..=1.0, EntryEvidence::default().name);
    }
}

section! {
    for RolePrior {
        /// Factor on the ranking value of tests
        test: f64 = "rank.test", factor(RolePrior::default().test);
        /// Factor on the ranking value of examples
        example: f64 = "rank.example", factor(RolePrior::default().example);
        /// Factor on the ranking value of vendored code
        vendored: f64 = "rank.vendored", factor(RolePrior::default().vendored);
        /// Factor on the ranking value of generated code
        generated: f64 = "rank.generated", factor(RolePrior::default().generated);
        /// Factor on the ranking value of changelogs
        changelog: f64 = "rank.changelog", factor(RolePrior::default().changelog);
        /// Factor on the ranking value of licences and notices
        license: f64 = "rank.license", factor(RolePrior::default().license);
        /// Factor on the ranking value of comments that programs wrote
        bot: f64 = "rank.bot", factor(RolePrior::default().bot);
        /// Factor on the ranking value of forms that nobody filled in
        template: f64 = "rank.template", factor(RolePrior::default().template);
    }
}

section! {
    for DefinitionPrior {
        /// Factor on the ranking value of passages that only use a name in the query, where its definition was found too
        usage: f64 = "rank.usage", factor(DefinitionPrior::default().usage);
    }
}

section! {
    /// Weights of the variants of a query.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct VariantConfig {
        /// Weight of the ranks of the query itself and of other wordings of it.
        pub intent_weight: f64 = "search.variants.intent_weight", number(0.0..=1.0, 1.0);
        /// Weight of the ranks of a variant that names files.
        pub paths_weight: f64 = "search.variants.paths_weight", number(0.0..=1.0, 0.95);
        /// Weight of the ranks of a variant in the shape of code.
        pub code_weight: f64 = "search.variants.code_weight", number(0.0..=1.0, 0.9);
        /// Longest variant of a query, in characters.
        pub max_characters: usize = "search.variants.max_characters", integer(10..=100_000, 800);
    }
}

fn factor(default: f64) -> KeySpec<f64> {
    number(0.01..=1.0, default)
}
