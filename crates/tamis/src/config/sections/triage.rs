//! `[triage]`: finding solved issues for a problem, and duplicates of an issue.

use crate::config::declare::{flag, integer, number, section, word};
use crate::config::words::words;

section! {
    /// Settings of triage.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TriageConfig {
        /// `[triage.troubleshooting]`.
        pub troubleshooting: TroubleshootingConfig;
        /// `[triage.duplicates]`.
        pub duplicates: DuplicatesConfig;
    }
}

section! {
    /// Settings of finding solved issues for a problem.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TroubleshootingConfig {
        /// Let automation answer by itself. `tamis troubleshoot` always works.
        pub enabled: bool = "triage.troubleshooting.enabled", flag(false);
        /// The test that a solved issue must pass: similarity, the minimum similarity_threshold; cut, the gate and the cut
        /// of every search.
        pub keep_by: KeepBy = "triage.troubleshooting.keep_by", word();
        /// Minimum similarity of a solved issue to the problem.
        pub similarity_threshold: f64 = "triage.troubleshooting.similarity_threshold", number(0.0..=1.0, 0.65);
        /// Most solved issues returned.
        pub max_results: usize = "triage.troubleshooting.max_results", integer(1..=10, 3);
        /// Characters that the threads of all issues share.
        pub total_budget_chars: usize = "triage.troubleshooting.total_budget_chars", integer(1000..=50_000, 12_000);
        /// Issues that each leg proposes.
        pub candidates: usize = "triage.troubleshooting.candidates", integer(1..=100, 10);
        /// Constant of the reciprocal rank fusion of the two legs.
        pub rrf_k: f64 = "triage.troubleshooting.rrf_k", number(0.0..=1000.0, 60.0);
        /// Characters up to which an issue's body is given in full.
        pub body_chars: usize = "triage.troubleshooting.body_chars", integer(50..=50_000, 500);
        /// Most characters of the first and last paragraph of a longer body, which is otherwise cut at body_chars.
        pub paragraphs_chars: usize = "triage.troubleshooting.paragraphs_chars", integer(50..=50_000, 750);
        /// Share of the budget left by the body that the newest comments may take.
        pub tail_share: f64 = "triage.troubleshooting.tail_share", number(0.0..=1.0, 0.6);
        /// Wiki pages that each of the two queries proposes, and that are returned.
        pub wiki_pages: usize = "triage.troubleshooting.wiki_pages", integer(1..=10, 2);
        /// Characters of the problem's body in the query to the wiki.
        pub wiki_query_chars: usize = "triage.troubleshooting.wiki_query_chars", integer(0..=5000, 500);
    }
}

words! {
    /// The test that a solved issue must pass.
    #[derive(Default)]
    pub enum KeepBy {
        /// A minimum similarity, the same for every problem and every model.
        #[default]
        Similarity = "similarity",
        /// The gate and the cut of every search.
        Cut = "cut",
    }
}

section! {
    /// Settings of finding duplicates of an issue.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DuplicatesConfig {
        /// Issues that each leg proposes as duplicates.
        pub candidates: usize = "triage.duplicates.candidates", integer(10..=500, 50);
        /// Minimum likeness to the nearest issue for a duplicate.
        pub min_likeness: f64 = "triage.duplicates.min_likeness", number(0.0..=1.0, 0.52);
        /// Fewest issues returned once the nearest one is like enough, for a person to compare.
        pub min_results: usize = "triage.duplicates.min_results", integer(1..=100, 3);
        /// Most duplicates returned.
        pub max_results: usize = "triage.duplicates.max_results", integer(1..=100, 10);
        /// Weight of the words that two issues share, against 1 for the similarity of their vectors.
        pub words_weight: f64 = "triage.duplicates.words_weight", number(0.0..=10.0, 0.45);
        /// Weight of the similarity by each other model of the index, against 1 for the model that searches.
        pub other_models_weight: f64 = "triage.duplicates.other_models_weight", number(0.0..=10.0, 0.5);
        /// Score added for two issues written at the same time.
        pub nearness_weight: f64 = "triage.duplicates.nearness_weight", number(0.0..=1.0, 0.05);
        /// Days between two issues after which half of that is left.
        pub nearness_half_life_days: f64 = "triage.duplicates.nearness_half_life_days", number(0.1..=36_500.0, 180.0);
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins};

    fn with(key: &str, value: &str) -> Result<Config, String> {
        let flags = vec![(key.to_owned(), value.to_owned(), "--flag".to_owned())];
        Config::load(&Origins { flags, ..Origins::default() }, None).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_that_are_promised() {
        let triage = Config::built_in().triage.troubleshooting;
        assert!(!triage.enabled);
        assert_eq!((triage.similarity_threshold, triage.max_results, triage.total_budget_chars), (0.65, 3, 12_000));
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_key_value_and_range() {
        for (key, value, range) in [
            ("triage.troubleshooting.similarity_threshold", "1.2", "0 to 1"),
            ("triage.troubleshooting.max_results", "11", "1 to 10"),
            ("triage.troubleshooting.max_results", "0", "1 to 10"),
            ("triage.troubleshooting.total_budget_chars", "999", "1000 to 50000"),
            ("triage.duplicates.min_likeness", "-1", "0 to 1"),
        ] {
            let error = with(key, value).expect_err("refused");
            assert!(error.contains(key) && error.contains(value) && error.contains(range), "{error}");
        }
        let budget = with("triage.troubleshooting.total_budget_chars", "50000").expect("allowed").triage;
        assert_eq!(budget.troubleshooting.total_budget_chars, 50_000);
    }
}
