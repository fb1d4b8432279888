//! `[triage]`: finding solved issues for a problem, and duplicates of an issue.

use crate::config::declare::{auto_or_number, flag, integer, number, section, word};
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
        /// The test that a solved issue must pass: cut, the gate and the cut of every search, and a low similarity_threshold;
        /// floor, the similarity_threshold alone.
        pub keep_by: KeepBy = "triage.troubleshooting.keep_by", word();
        /// Minimum similarity of a solved issue to the problem; auto: with the cut, what the model gives any two texts on one
        /// subject, and with the floor 0.65.
        pub similarity_threshold: Option<f64> =
            "triage.troubleshooting.similarity_threshold", auto_or_number(0.0..=1.0, None);
        /// Most solved issues returned.
        pub max_results: usize = "triage.troubleshooting.max_results", integer(1..=10, 3);
        /// Characters that the threads of all issues share.
        pub total_budget_chars: usize = "triage.troubleshooting.total_budget_chars", integer(1000..=50_000, 12_000);
    }
}

words! {
    /// The test that a solved issue must pass.
    #[derive(Default)]
    pub enum KeepBy {
        /// The gate and the cut of every search, and a low minimum similarity.
        #[default]
        Cut = "cut",
        /// A minimum similarity, the same for every problem and every model.
        Floor = "floor",
    }
}

section! {
    /// Settings of finding duplicates of an issue.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DuplicatesConfig {
        /// Minimum likeness to the nearest issue for a duplicate.
        pub min_likeness: f64 = "triage.duplicates.min_likeness", number(0.0..=1.0, 0.52);
        /// Most duplicates returned.
        pub max_results: usize = "triage.duplicates.max_results", integer(1..=100, 10);
    }
}
