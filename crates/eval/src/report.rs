//! The report of an evaluation, its JSON form, and the metrics in it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::calibration::Bin;
use crate::data::{QueryKind, ReportError};
use crate::evaluate::Options;
use crate::prefix;
use crate::ranking::Roc;
use crate::resample::Difference;

/// Version of the report's JSON form. It rises by one when a reader of the last version would misread the next.
pub const FORMAT: u32 = 1;

/// An evaluation: every method on every collection, averaged and query by query. It serializes to the JSON form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// [`FORMAT`] of the version that wrote it.
    pub format: u32,
    /// The options it was made with.
    pub options: Options,
    /// The collections, in the order given.
    pub collections: Vec<CollectionReport>,
    /// Every method over all collections, in the order of the tables.
    pub overall: Vec<Overall>,
}

/// A method averaged over collections, each collection counting the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Overall {
    /// Name of the method.
    pub name: String,
    /// True for a reference method, which every evaluation has.
    pub reference: bool,
    /// Mean of each metric over the collections that have it.
    pub figures: BTreeMap<Metric, f64>,
    /// Number of collections that each mean covers.
    pub collections: BTreeMap<Metric, usize>,
    /// Difference of each paired metric to the baseline, over the collections that have both; none for the baseline itself.
    pub differences: BTreeMap<Metric, Difference>,
}

/// One collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CollectionReport {
    /// Its name.
    pub name: String,
    /// The model or engine that retrieved, where it is known.
    pub model: Option<String>,
    /// Number of queries with a relevant document by the judgements.
    pub answerable: usize,
    /// Number of queries without one.
    pub unanswerable: usize,
    /// Number of queries from another collection.
    pub foreign: usize,
    /// Ranking metrics of the pool's order, averaged over the answerable queries: `ndcg_at_10`, `recall_at_10`, …, `map`
    /// and `mrr`. Empty without such a query.
    pub ranking: BTreeMap<String, f64>,
    /// The queries, in the order given.
    pub queries: Vec<QueryReport>,
    /// The methods: the given ones in their order, then the reference methods.
    pub methods: Vec<MethodReport>,
    /// Precision and recall by budget, averaged over the answerable queries: one point per k.
    pub budget: Vec<BudgetPoint>,
    /// Score curves of a few answerable queries, drawn at random.
    pub samples: Vec<Sample>,
}

/// One query, independent of the method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueryReport {
    /// The query's identifier.
    pub id: String,
    /// Its kind; a judged query without a relevant document is unanswerable here.
    pub kind: QueryKind,
    /// Number of documents in its pool.
    pub pool: usize,
    /// Number of relevant documents by the judgements, found or not.
    pub relevant: usize,
    /// Number of those in the pool.
    pub relevant_in_pool: usize,
    /// The best F1 over all prefixes of the pool's order.
    pub best_f1: f64,
}

/// One method on one collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MethodReport {
    /// Its name.
    pub name: String,
    /// True for a reference method, which every evaluation has.
    pub reference: bool,
    /// The metrics, without those that have nothing to average, such as calibration without probabilities.
    pub figures: BTreeMap<Metric, f64>,
    /// Difference of each paired metric to the baseline, with its interval; none for the baseline itself.
    pub differences: BTreeMap<Metric, Difference>,
    /// The kept set of each query.
    pub kept: KeptColumns,
    /// Reliability of the probabilities in bins of equal width, where the method gives them; lowest first, none empty.
    pub reliability: Vec<Bin>,
    /// ROC curves of the evidence, where the method gives it and both sides have queries.
    pub roc: Vec<Roc>,
    /// The kept numbers at each depth of the pool, where they were asked for; the shallowest first.
    pub depths: Vec<DepthReport>,
}

/// The documents that a method keeps of each query: columns as long as [`CollectionReport::queries`], in the same order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeptColumns {
    /// Documents kept.
    pub documents: Vec<usize>,
    /// Relevant documents kept.
    pub relevant: Vec<usize>,
    /// Characters kept.
    pub characters: Vec<usize>,
    /// F1 divided by the mean, over the answerable queries, of the best F1 of the pool's order.
    pub relative_f1: Vec<f64>,
    /// F1 as a share of the best F1 of the method's list.
    pub share_of_best_f1: Vec<f64>,
    /// DCG with a penalty for irrelevant documents.
    pub penalised_dcg: Vec<f64>,
}

impl KeptColumns {
    /// The value of the query at `position` that `metric` averages; `None` where the metric does not average this query, is
    /// not a mean per query, or `position` is past the end.
    pub fn value(&self, metric: Metric, position: usize, query: &QueryReport, beta: f64) -> Option<f64> {
        let keep = *self.documents.get(position)?;
        let found = *self.relevant.get(position)?;
        let answerable = query.kind == QueryKind::Judged;
        let empty = f64::from(keep == 0);
        let (value, averaged) = match metric {
            Metric::RelativeF1 => (*self.relative_f1.get(position)?, answerable),
            Metric::ShareOfBestF1 => (*self.share_of_best_f1.get(position)?, answerable),
            Metric::F1 => (prefix::f_beta(found, keep, query.relevant, 1.0), answerable),
            Metric::FBeta => (prefix::f_beta(found, keep, query.relevant, beta), answerable),
            Metric::Precision => (prefix::precision(found, keep, query.relevant), answerable),
            Metric::Recall => (prefix::recall(found, query.relevant), answerable),
            Metric::F1InPool => (prefix::f_beta(found, keep, query.relevant_in_pool, 1.0), answerable),
            Metric::FBetaInPool => (prefix::f_beta(found, keep, query.relevant_in_pool, beta), answerable),
            Metric::RecallInPool => (prefix::recall(found, query.relevant_in_pool), answerable),
            Metric::F1EveryQuery => (prefix::f_beta(found, keep, query.relevant, 1.0), true),
            Metric::PenalisedDcg => (*self.penalised_dcg.get(position)?, answerable),
            Metric::Kept => (keep as f64, answerable),
            Metric::CharactersKept => (*self.characters.get(position)? as f64, answerable),
            Metric::AnswerableEmpty => (empty, answerable),
            Metric::UnanswerableEmpty => (empty, query.kind == QueryKind::Unanswerable),
            Metric::ForeignEmpty => (empty, query.kind == QueryKind::Foreign),
            Metric::CalibrationError
            | Metric::Brier
            | Metric::LogLoss
            | Metric::GateAurocUnanswerable
            | Metric::GateAurocForeign
            | Metric::DepthChange
            | Metric::DepthUnchanged
            | Metric::Microseconds => return None,
        };
        averaged.then_some(value)
    }
}

/// The documents that a method keeps when retrieval goes to one depth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DepthReport {
    /// The depth, in the unit of the decisions.
    pub depth: usize,
    /// Number of queries decided at this depth.
    pub queries: usize,
    /// Mean number kept.
    pub kept: f64,
    /// Mean of |keep − keep at the query's deepest| / max(1, keep at the query's deepest).
    pub change: f64,
}

/// Keeping the first `documents` of every query: means over the answerable queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BudgetPoint {
    /// The fixed k; a shorter pool is kept whole.
    pub documents: usize,
    /// Mean characters.
    pub characters: f64,
    /// Mean precision.
    pub precision: f64,
    /// Mean recall against all judged relevant.
    pub recall: f64,
    /// Mean share of the best F1.
    pub share_of_best_f1: f64,
}

/// The score curve of one query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sample {
    /// Position of the query in [`CollectionReport::queries`].
    pub query: usize,
    /// Scores of the pool, best first.
    pub scores: Vec<f64>,
    /// Positions of the relevant documents in the pool, counted from 0.
    pub relevant: Vec<usize>,
}

impl CollectionReport {
    /// The method of this name.
    pub fn method(&self, name: &str) -> Option<&MethodReport> {
        self.methods.iter().find(|method| method.name == name)
    }
}

impl Report {
    /// The JSON form, on one line, for [`from_json`](Self::from_json) and other programs.
    ///
    /// # Errors
    /// A figure that JSON cannot hold. Reports from [`evaluate`](crate::evaluate()) have none.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads the JSON form. `file` is the name for the error.
    ///
    /// # Errors
    /// Text in another form, or a report of another [`FORMAT`].
    pub fn from_json(file: &str, text: &str) -> Result<Self, ReportError> {
        #[derive(Deserialize)]
        struct Version {
            format: u64,
        }
        let json = |source| ReportError::Json { file: file.to_owned(), source };
        let version: Version = serde_json::from_str(text).map_err(json)?;
        if version.format != u64::from(FORMAT) {
            return Err(ReportError::Format { file: file.to_owned(), found: version.format });
        }
        serde_json::from_str(text).map_err(json)
    }

    /// The method of this name over all collections.
    pub fn method(&self, name: &str) -> Option<&Overall> {
        self.overall.iter().find(|method| method.name == name)
    }
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
