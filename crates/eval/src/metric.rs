//! The metrics of a cut, in one table for every form of report: names, meanings, and the queries that each averages.

use std::fmt;

use serde::{Deserialize, Serialize};

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
