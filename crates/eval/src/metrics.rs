//! The metrics of a cut: the worth of keeping `keep` documents of a ranked list, of which `found` are relevant.
//!
//! With nothing relevant at all, keeping nothing is right and anything else is wrong: F is 1 exactly when nothing is
//! kept. Otherwise nothing kept has precision 0, recall 0 and F 0.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Relevant documents kept, as a share of those kept, in 0..=1.
///
/// Nothing kept has precision 1 where nothing is relevant, and 0 where something is.
pub fn precision(found: usize, keep: usize, relevant: usize) -> f64 {
    match keep {
        0 => f64::from(relevant == 0),
        _ => found as f64 / keep as f64,
    }
}

/// Relevant documents kept, as a share of all `relevant` ones, in 0..=1; 1 where nothing is relevant and so nothing is missed.
pub fn recall(found: usize, relevant: usize) -> f64 {
    match relevant {
        0 => 1.0,
        _ => found as f64 / relevant as f64,
    }
}

/// F_β: the weighted harmonic mean of precision and recall, (1 + β²)·found / (β²·relevant + keep), in 0..=1
/// (van Rijsbergen, *Information Retrieval*, 1979, chapter 7). With nothing relevant it is 1 exactly when nothing is kept.
///
/// ```
/// use tamis_eval::metrics::f_beta;
///
/// assert_eq!(f_beta(2, 4, 4, 1.0), 0.5);
/// assert_eq!(f_beta(0, 0, 0, 1.0), 1.0);
/// assert_eq!(f_beta(0, 3, 0, 1.0), 0.0);
/// assert_eq!(f_beta(0, 0, 2, 1.0), 0.0);
/// ```
pub fn f_beta(found: usize, keep: usize, relevant: usize, beta: f64) -> f64 {
    if relevant == 0 {
        return f64::from(keep == 0);
    }
    // Divided by 1 + β², so that a huge β does not overflow.
    let weight = 1.0 / (1.0 + beta * beta);
    // Rounding can put a perfect answer a hair above 1.
    (found as f64 / ((1.0 - weight) * relevant as f64 + weight * keep as f64)).min(1.0)
}

/// DCG with a penalty: the sum over the kept documents of ±1 / log2(rank + 1), plus for a relevant document, minus for another.
///
/// Truncated lists are scored this way because plain DCG never falls as the list grows (Bahri, Tay, Zheng, Metzler and
/// Tomkins, *Choppy: Cut Transformer for Ranked List Truncation*, SIGIR 2020). It is not normalized; grades above 0 all count
/// the same; an empty set has 0.
pub fn penalised_dcg(kept: impl IntoIterator<Item = bool>) -> f64 {
    let gain = |(at, relevant): (usize, bool)| f64::from(if relevant { 1 } else { -1 }) / (at as f64 + 2.0).log2();
    kept.into_iter().enumerate().map(gain).sum()
}

/// The shortest prefix with the best F1, and that F1. `found[k]` counts the relevant ones of the first k documents, so `found`
/// starts with 0. With nothing relevant the result is (0, 1); with nothing relevant found it is (0, 0).
pub fn best_prefix(found: &[usize], relevant: usize) -> (usize, f64) {
    let mut best = (0, f_beta(0, 0, relevant, 1.0));
    for (keep, &found) in found.iter().enumerate().skip(1) {
        let value = f_beta(found, keep, relevant, 1.0);
        if value > best.1 {
            best = (keep, value);
        }
    }
    best
}

/// F1 of the first `keep` documents as a share of the best F1 over all prefixes, the empty one among them; in 0..=1.
///
/// If no prefix has an F1 above 0, because nothing relevant was found or exists, the share is 1 exactly when nothing is
/// kept.
pub fn share_of_best_f1(found: &[usize], keep: usize, relevant: usize) -> f64 {
    let (_, best) = best_prefix(found, relevant);
    if best == 0.0 {
        return f64::from(keep == 0);
    }
    f_beta(found.get(keep).copied().unwrap_or(0), keep, relevant, 1.0) / best
}

/// The number of relevant ones among the first k, for k from 0 to the length of the list.
pub fn cumulative(relevant: impl IntoIterator<Item = bool>) -> Vec<usize> {
    let mut found = vec![0];
    let mut sum = 0;
    for relevant in relevant {
        sum += usize::from(relevant);
        found.push(sum);
    }
    found
}

// The metrics of a cut, in one table for every form of report: names, meanings, and the queries that each averages.

/// The good end of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither; the metric only describes.
    Neither,
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $label:literal $direction:ident;)+) => {
        /// A figure about a method's cuts on a collection. The name in JSON and CSV is [`name`](Self::name).
        ///
        /// *Answerable* queries are judged ones with a relevant document; averages are over them unless said otherwise.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Metric {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl Metric {
            /// Every metric, in the order of the reports.
            pub const ALL: &[Metric] = &[$(Metric::$variant),+];

            /// Its name in JSON, CSV and options: lower case with underscores.
            pub fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name),+ }
            }

            /// Its name at the head of a column, in words.
            pub fn label(self) -> &'static str {
                match self { $(Metric::$variant => $label),+ }
            }

            /// The good end.
            pub fn direction(self) -> Direction {
                match self { $(Metric::$variant => Direction::$direction),+ }
            }

            /// Its meaning, as one paragraph.
            pub fn description(self) -> &'static str {
                match self { $(Metric::$variant => concat!($($doc),+).trim_ascii()),+ }
            }
        }
    };
}

metrics! {
    /// Mean F1 of what is kept, as a share of the mean of the best F1 that any prefix of the pool's order has.
    RelativeF1 "relative_f1" "mean F1 of the best" Higher;
    /// F1 of what is kept, as a share of the best F1 that any prefix of the same list has.
    ShareOfBestF1 "share_of_best_f1" "share of best F1" Higher;
    /// F1 of what is kept, against all judged relevant documents.
    F1 "f1" "F1" Higher;
    /// F_β of what is kept, against all judged relevant documents.
    FBeta "f_beta" "Fβ" Higher;
    /// Relevant documents kept, as a share of those kept.
    Precision "precision" "precision" Higher;
    /// Relevant documents kept, as a share of all judged relevant.
    Recall "recall" "recall" Higher;
    /// F1 against the relevant documents that are in the pool.
    F1InPool "f1_in_pool" "F1 in pool" Higher;
    /// F_β against the relevant documents that are in the pool.
    FBetaInPool "f_beta_in_pool" "Fβ in pool" Higher;
    /// Relevant documents kept, as a share of those in the pool.
    RecallInPool "recall_in_pool" "recall in pool" Higher;
    /// F1 averaged over every query: with the unanswerable and the foreign ones, where keeping nothing is 1 and all else 0.
    F1EveryQuery "f1_every_query" "F1, every query" Higher;
    /// Sum over what is kept of 1 / log2(rank + 1) for a relevant document and of its negative for another.
    PenalisedDcg "penalised_dcg" "penalised DCG" Higher;
    /// Documents kept.
    Kept "kept" "kept" Neither;
    /// Characters kept.
    CharactersKept "characters_kept" "characters kept" Neither;
    /// Share of the answerable queries that came back empty.
    AnswerableEmpty "answerable_empty" "answerable, wrongly empty" Lower;
    /// Share of the unanswerable queries that came back empty.
    UnanswerableEmpty "unanswerable_empty" "unanswerable, empty" Higher;
    /// Share of the foreign queries that came back empty.
    ForeignEmpty "foreign_empty" "foreign, empty" Higher;
    /// Expected calibration error of the probabilities, over bins of equal mass, of answerable and unanswerable queries.
    CalibrationError "calibration_error" "ECE" Lower;
    /// Mean squared error of the probabilities, of answerable and unanswerable queries.
    Brier "brier" "Brier" Lower;
    /// Mean negative log likelihood of the probabilities, in nats, of answerable and unanswerable queries.
    LogLoss "log_loss" "log loss" Lower;
    /// Area under the ROC curve of the evidence: answerable against unanswerable queries.
    GateAurocUnanswerable "gate_auroc_unanswerable" "gate AUROC, unanswerable" Higher;
    /// Area under the ROC curve of the evidence: answerable against foreign queries.
    GateAurocForeign "gate_auroc_foreign" "gate AUROC, foreign" Higher;
    /// Mean of |keep at a depth − keep at the deepest| / max(1, keep at the deepest), over all queries and shallower depths.
    DepthChange "depth_change" "change over depth" Lower;
    /// Share of the queries that keep the same number at every depth.
    DepthUnchanged "depth_unchanged" "same at every depth" Higher;
    /// Mean time of a decision in microseconds, over all queries.
    Microseconds "microseconds" "µs" Lower;
}

impl Metric {
    /// The metrics that are means of a value per query, whose differences from the baseline have intervals.
    pub const PAIRED: &[Metric] = &[
        Metric::RelativeF1,
        Metric::ShareOfBestF1,
        Metric::F1,
        Metric::FBeta,
        Metric::Precision,
        Metric::Recall,
        Metric::F1EveryQuery,
        Metric::PenalisedDcg,
        Metric::Kept,
        Metric::AnswerableEmpty,
        Metric::UnanswerableEmpty,
        Metric::ForeignEmpty,
    ];

    /// The metric of this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.iter().copied().find(|metric| metric.name() == name)
    }

    /// [`label`](Self::label) with the value of β.
    pub(crate) fn head(self, beta: f64) -> String {
        self.label().replace('β', &beta.to_string())
    }

    /// [`head`](Self::head) with a capital.
    pub(crate) fn title(self, beta: f64) -> String {
        let head = self.head(beta);
        let mut characters = head.chars();
        characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
    }

    /// A value for people: three decimals, or one for counts and times, with a true minus sign.
    pub fn format(self, value: f64) -> String {
        let decimals = match self {
            Metric::Kept | Metric::Microseconds => 1,
            Metric::CharactersKept => 0,
            _ => 3,
        };
        format!("{value:.decimals$}").replace('-', "−")
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_relevant() {
        for keep in 1..5 {
            assert_eq!(f_beta(0, keep, 0, 1.0), 0.0);
            assert_eq!(precision(0, keep, 0), 0.0);
            assert_eq!(share_of_best_f1(&[0; 6], keep, 0), 0.0);
        }
        assert_eq!((f_beta(0, 0, 0, 2.0), precision(0, 0, 0), recall(0, 0)), (1.0, 1.0, 1.0));
        assert_eq!(share_of_best_f1(&[0; 6], 0, 0), 1.0);
    }

    #[test]
    fn nothing_kept_of_something() {
        assert_eq!((f_beta(0, 0, 3, 1.0), precision(0, 0, 3), recall(0, 3)), (0.0, 0.0, 0.0));
        assert_eq!(share_of_best_f1(&[0, 0, 1], 0, 3), 0.0);
    }

    #[test]
    fn relevant_documents_that_were_not_found() {
        // Nothing to win: only silence is right.
        assert_eq!(best_prefix(&[0, 0, 0], 2), (0, 0.0));
        assert_eq!([share_of_best_f1(&[0, 0, 0], 0, 2), share_of_best_f1(&[0, 0, 0], 1, 2)], [1.0, 0.0]);
    }

    #[test]
    fn f_beta_by_hand() {
        // Precision 2/3, recall 2/5.
        let (precision, recall) = (2.0 / 3.0, 0.4);
        for beta in [0.5, 1.0, 2.0, 3.0] {
            let square: f64 = beta * beta;
            let expected = (1.0 + square) * precision * recall / (square * precision + recall);
            assert!((f_beta(2, 3, 5, beta) - expected).abs() < 1e-12);
        }
        assert!((f_beta(2, 3, 5, 1e200) - recall).abs() < 1e-12);
    }

    #[test]
    fn penalised_dcg_by_hand() {
        assert_eq!([penalised_dcg([]), penalised_dcg([true])], [0.0, 1.0]);
        let value = penalised_dcg([true, false, true]);
        assert!((value - (1.0 - 1.0 / 3f64.log2() + 0.5)).abs() < 1e-12);
        assert!(penalised_dcg([false, false]) < -1.0);
    }

    #[test]
    fn the_shortest_of_equals_is_best() {
        // Two relevant; the first alone has F1 2/3, and so have both within the first four.
        assert_eq!(best_prefix(&[0, 1, 1, 1, 2], 2), (1, 2.0 / 3.0));
    }

    #[test]
    fn a_perfect_answer_is_never_above_one() {
        assert_eq!(f_beta(3, 3, 3, 4.578024514691765), 1.0);
    }

    proptest! {
        #[test]
        fn figures_are_shares(list in prop::collection::vec(any::<bool>(), 0..40), missing in 0usize..5, beta in 0.1f64..5.0) {
            let found = cumulative(list.iter().copied());
            let relevant = found[list.len()] + missing;
            for keep in 0..=list.len() {
                let values = [
                    precision(found[keep], keep, relevant),
                    recall(found[keep], relevant),
                    f_beta(found[keep], keep, relevant, beta),
                    share_of_best_f1(&found, keep, relevant),
                ];
                for value in values {
                    prop_assert!((0.0..=1.0).contains(&value), "{values:?}");
                }
            }
            let (best, _) = best_prefix(&found, relevant);
            prop_assert_eq!(share_of_best_f1(&found, best, relevant), 1.0);
        }
    }

    #[test]
    fn names_are_unique_and_lead_back() {
        for &metric in Metric::ALL {
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
            assert!(metric.description().ends_with('.'), "{metric}");
        }
        assert_eq!(Metric::from_name("F1"), None);
    }
}
