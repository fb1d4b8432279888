//! The report of an evaluation, and its JSON form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bootstrap::Difference;
use crate::calibration::Bin;
use crate::data::{QueryKind, ReportError};
use crate::evaluate::Options;
use crate::metrics::{self, Metric};
use crate::ranking_metrics::Roc;

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
            Metric::F1 => (metrics::f_beta(found, keep, query.relevant, 1.0), answerable),
            Metric::FBeta => (metrics::f_beta(found, keep, query.relevant, beta), answerable),
            Metric::Precision => (metrics::precision(found, keep, query.relevant), answerable),
            Metric::Recall => (metrics::recall(found, query.relevant), answerable),
            Metric::F1InPool => (metrics::f_beta(found, keep, query.relevant_in_pool, 1.0), answerable),
            Metric::FBetaInPool => (metrics::f_beta(found, keep, query.relevant_in_pool, beta), answerable),
            Metric::RecallInPool => (metrics::recall(found, query.relevant_in_pool), answerable),
            Metric::F1EveryQuery => (metrics::f_beta(found, keep, query.relevant, 1.0), true),
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
