//! `[triage]`: troubleshooting from what was solved before, and duplicates.

use super::Read;
use super::keys::Key;
use super::value::{Allowed, Value};

/// What `[triage]` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriageConfig {
    /// `[triage.troubleshooting]`.
    pub troubleshooting: TroubleshootingConfig,
    /// `[triage.duplicates]`.
    pub duplicates: DuplicatesConfig,
}

/// How a trouble is answered from solved issues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TroubleshootingConfig {
    /// Whether automation may answer by itself. The command always works.
    pub enabled: bool,
    /// What an issue must stand up to.
    pub keep_by: KeepBy,
    /// Least similarity of an issue to the trouble.
    pub similarity_threshold: f64,
    /// Most issues.
    pub max_results: usize,
    /// Characters that the issues' threads share.
    pub total_budget_chars: usize,
    /// Issues that each leg proposes.
    pub candidates: usize,
    /// The constant of reciprocal rank fusion.
    pub rrf_k: f64,
    /// Characters up to which a body is whole, and at which a longer one is cut.
    pub body_chars: usize,
    /// Most characters of a body's first and last paragraph.
    pub paragraphs_chars: usize,
    /// Share of what the body leaves that the newest comments may take.
    pub tail_share: f64,
    /// Pages of the wiki that each of the two queries proposes, and that are given.
    pub wiki_pages: usize,
    /// Characters of the trouble's body in the wiki's first query.
    pub wiki_query_chars: usize,
}

/// What a solved issue must stand up to in order to be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepBy {
    /// A floor of similarity, the same for every trouble and every model.
    #[default]
    Similarity,
    /// The gate and the cut of every search.
    Cut,
}

impl KeepBy {
    /// All by name.
    pub const NAMES: [&str; 2] = ["similarity", "cut"];
}

impl std::fmt::Display for KeepBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            KeepBy::Similarity => "similarity",
            KeepBy::Cut => "cut",
        })
    }
}

/// How duplicates of an issue are told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicatesConfig {
    /// Issues that each leg proposes.
    pub candidates: usize,
    /// Least likeness of the best one, below which there is no duplicate.
    pub min_likeness: f64,
    /// Fewest issues given where the best one is like enough.
    pub min_results: usize,
    /// Most duplicates given.
    pub max_results: usize,
    /// What the words that two issues share count, against 1 for the similarity of their vectors.
    pub words_weight: f64,
    /// What the similarity by each other model of the index counts, against 1 for the model that searches.
    pub other_models_weight: f64,
    /// What having been written at the same time adds to the score.
    pub nearness_weight: f64,
    /// Days after which half of that is left.
    pub nearness_half_life_days: f64,
}

const TROUBLESHOOTING: &str = "triage.troubleshooting.";
const DUPLICATES: &str = "triage.duplicates.";

pub(super) fn all() -> Vec<Key> {
    let key = |table: &str, name: &str, allowed, default, doc: &str| Key {
        name: format!("{table}{name}"),
        allowed,
        default,
        doc: doc.to_owned(),
    };
    let integer = |name, least, most, default, doc| {
        key(TROUBLESHOOTING, name, Allowed::Integer(least, most), Value::Integer(default), doc)
    };
    let number = |name, least, most, default, doc| {
        key(TROUBLESHOOTING, name, Allowed::Number(least, most), Value::Number(default), doc)
    };
    vec![
        key(
            TROUBLESHOOTING,
            "enabled",
            Allowed::Flag,
            Value::Flag(false),
            "whether automation may answer by itself; `tamis troubleshoot` always works",
        ),
        key(
            TROUBLESHOOTING,
            "keep_by",
            Allowed::OneOf(&KeepBy::NAMES),
            Value::Text(KeepBy::default().to_string()),
            "what a solved issue must stand up to: similarity, the floor of similarity_threshold; cut, the gate and the cut of every search",
        ),
        number("similarity_threshold", 0.0, 1.0, 0.65, "least similarity of a solved issue to the trouble"),
        integer("max_results", 1, 10, 3, "most solved issues given"),
        integer("total_budget_chars", 1000, 50_000, 12_000, "characters that the threads of all issues share"),
        integer("candidates", 1, 100, 10, "issues that each leg proposes"),
        number("rrf_k", 0.0, 1000.0, 60.0, "constant of the reciprocal rank fusion of the two legs"),
        integer("body_chars", 50, 50_000, 500, "characters up to which an issue's body is given in full"),
        integer(
            "paragraphs_chars",
            50,
            50_000,
            750,
            "most characters of a longer body's first and last paragraph; else it is cut at body_chars",
        ),
        number("tail_share", 0.0, 1.0, 0.6, "share of what the body leaves that the newest comments may take"),
        integer("wiki_pages", 1, 10, 2, "pages of the wiki that each query proposes, and that are given"),
        integer("wiki_query_chars", 0, 5000, 500, "characters of the trouble's body in the query to the wiki"),
        key(
            DUPLICATES,
            "candidates",
            Allowed::Integer(10, 500),
            Value::Integer(50),
            "issues that each leg proposes as duplicates",
        ),
        key(
            DUPLICATES,
            "min_likeness",
            Allowed::Number(0.0, 1.0),
            Value::Number(0.52),
            "likeness to the nearest issue below which there is no duplicate",
        ),
        key(
            DUPLICATES,
            "min_results",
            Allowed::Integer(1, 100),
            Value::Integer(3),
            "fewest issues given where the nearest one is like enough, for a person to compare",
        ),
        key(DUPLICATES, "max_results", Allowed::Integer(1, 100), Value::Integer(10), "most duplicates given"),
        key(
            DUPLICATES,
            "words_weight",
            Allowed::Number(0.0, 10.0),
            Value::Number(0.45),
            "what the words that two issues share count, against 1 for the similarity of their vectors",
        ),
        key(
            DUPLICATES,
            "other_models_weight",
            Allowed::Number(0.0, 10.0),
            Value::Number(0.5),
            "what the similarity by each other model of the index counts, against 1 for the model that searches",
        ),
        key(
            DUPLICATES,
            "nearness_weight",
            Allowed::Number(0.0, 1.0),
            Value::Number(0.05),
            "what having been written at the same time adds to the score that orders",
        ),
        key(
            DUPLICATES,
            "nearness_half_life_days",
            Allowed::Number(0.1, 36_500.0),
            Value::Number(180.0),
            "days between two issues after which half of that is left",
        ),
    ]
}

pub(super) fn triage(read: &Read<'_>) -> TriageConfig {
    let count = |name: &str| read.count(&format!("{TROUBLESHOOTING}{name}"));
    let number = |name: &str| read.number(&format!("{TROUBLESHOOTING}{name}")).unwrap_or_default();
    let likeness = |name: &str| read.number(&format!("{DUPLICATES}{name}")).unwrap_or_default();
    TriageConfig {
        troubleshooting: TroubleshootingConfig {
            enabled: read.flag("triage.troubleshooting.enabled"),
            keep_by: match read.text("triage.troubleshooting.keep_by") {
                "cut" => KeepBy::Cut,
                _ => KeepBy::Similarity,
            },
            similarity_threshold: number("similarity_threshold"),
            max_results: count("max_results"),
            total_budget_chars: count("total_budget_chars"),
            candidates: count("candidates"),
            rrf_k: number("rrf_k"),
            body_chars: count("body_chars"),
            paragraphs_chars: count("paragraphs_chars"),
            tail_share: number("tail_share"),
            wiki_pages: count("wiki_pages"),
            wiki_query_chars: count("wiki_query_chars"),
        },
        duplicates: DuplicatesConfig {
            candidates: read.count("triage.duplicates.candidates"),
            min_likeness: likeness("min_likeness"),
            max_results: read.count("triage.duplicates.max_results"),
            min_results: read.count("triage.duplicates.min_results"),
            words_weight: likeness("words_weight"),
            other_models_weight: likeness("other_models_weight"),
            nearness_weight: likeness("nearness_weight"),
            nearness_half_life_days: likeness("nearness_half_life_days"),
        },
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
