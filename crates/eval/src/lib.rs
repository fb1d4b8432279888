//! Measures how well cuts of ranked lists agree with relevance judgements.
//!
//! A search engine ranks, and a cut decides how many of the ranked documents to keep. Ranking metrics such as nDCG say
//! nothing about that decision. This crate measures it: whether the kept set is right, whether a query without an answer
//! comes back empty, and whether one cut is better than another beyond chance. It retrieves nothing, reads no file and knows
//! no engine, so the lists can come from anywhere:
//!
//! ```
//! use tamis_eval::{Collection, Decision, Method, Metric, Options, PooledDocument, Qrels, QueryKind, QueryPool, Run, evaluate};
//!
//! let run = Run::parse("engine.run", "q1 Q0 d1 1 9.5 x\nq1 Q0 d2 2 9.1 x\nq1 Q0 d3 3 2.0 x\nq2 Q0 d4 1 1.5 x\n")?;
//! let qrels = Qrels::parse("qrels.txt", "q1 0 d1 1\nq1 0 d2 1\nq2 0 d4 0\n")?;
//! let queries: Vec<QueryPool> = run
//!     .iter()
//!     .map(|(id, documents)| QueryPool {
//!         id: id.to_owned(),
//!         kind: QueryKind::Judged,
//!         documents: documents
//!             .iter()
//!             .map(|found| PooledDocument { id: found.document.clone(), score: found.score, characters: 0 })
//!             .collect(),
//!         judged: qrels.query(id).cloned().unwrap_or_default(),
//!         beyond: Vec::new(),
//!     })
//!     .collect();
//!
//! // The cut to measure: documents that score at least 5.
//! let keep = |query: &QueryPool| query.documents.iter().filter(|document| document.score >= 5.0).count();
//! let decisions = queries.iter().map(|query| Decision::keep(keep(query))).collect();
//! let method = Method { name: "at least 5".into(), decisions };
//! let collection = Collection { name: "small".into(), model: None, queries, methods: vec![method] };
//!
//! let report = evaluate(&[collection], &Options::default())?;
//! let figures = &report.method("at least 5").expect("every method is in the report").figures;
//! assert_eq!(figures[&Metric::ShareOfBestF1], 1.0);
//! assert_eq!(figures[&Metric::UnanswerableEmpty], 1.0); // no judgement of q2 is positive, and nothing was kept
//! println!("{}", report.markdown());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Collection`] is the input: queries with their ranked pools and judgements ([`QueryPool`]), and for each [`Method`] one
//!   [`Decision`] per query. [`Qrels`] and [`Run`] read the files of BEIR and TREC.
//! - [`evaluate()`] measures every method, adds reference methods (fixed numbers, the best of them fitted and known, the
//!   oracle), and gives each difference from a baseline its bootstrap interval.
//! - [`Report`] is the output, with figures per query: JSON by serde, [`csv`](Report::csv), [`markdown`](Report::markdown), one
//!   self-contained page with plots ([`html`](Report::html)), and [`Table`]s. [`compare()`] compares two reports.
//! - [`Metric`] names and explains the figures. [`Ranking`], [`metrics`] and the functions of calibration and ROC are the
//!   metrics alone.
//!
//! Equal input gives equal bytes: random draws depend on [`Options::seed`] alone.

mod baselines;
mod bootstrap;
mod calibration;
mod compare;
mod data;
mod evaluate;
#[cfg(test)]
mod example;
pub mod metrics;
mod output;
mod plot;
mod ranking_metrics;
mod report;
mod summary;
mod trec;

pub use baselines::{FIXED_FITTED, FIXED_KNOWN, ORACLE, fixed_name};
pub use bootstrap::{Difference, Random, percentile};
pub use calibration::{Bin, Forecast, Platt, brier, calibration_error, equal_mass, equal_width, log_loss};
pub use compare::{Change, CollectionComparison, Comparison, MethodComparison, compare};
pub use data::{
    Collection, Decision, EvalError, FormatError, Method, PooledDocument, QueryKind, QueryPool, ReportError,
};
pub use evaluate::{Options, evaluate};
pub use metrics::{Direction, Metric};
pub use output::{NO_FIGURE, Table};
pub use plot::{cut_plot, escape};
pub use ranking_metrics::{POINTS, Ranking, Roc, auroc, roc};
pub use report::{
    BudgetPoint, CollectionReport, DepthReport, FORMAT, KeptColumns, MethodReport, Overall, QueryReport, Report, Sample,
};
pub use trec::{Qrels, Run, Scored};
