//! The yardstick for cuts: ranked pools with judgements and decisions in, figures and reports out.
mod calibration;
mod compare;
mod data;
mod error;
mod evaluate;
#[cfg(test)]
mod example;
mod gate;
mod lines;
mod metric;
mod options;
mod overall;
mod plot;
pub mod prefix;
mod qrels;
mod random;
mod ranking;
mod references;
mod report;
mod resample;
mod run;
mod summary;
mod view;

pub use calibration::{Bin, Forecast, brier, calibration_error, log_loss, reliability};
pub use compare::{Change, CollectionComparison, Comparison, MethodComparison, compare};
pub use data::{Collection, Decision, Method, PooledDocument, QueryKind, QueryPool};
pub use error::{EvalError, FormatError, ReportError};
pub use evaluate::evaluate;
pub use gate::{POINTS, Roc, roc};
pub use metric::{Direction, Metric};
pub use options::Options;
pub use qrels::Qrels;
pub use ranking::Ranking;
pub use references::{FIXED_FITTED, FIXED_KNOWN, ORACLE, fixed_name};
pub use report::{
    BudgetPoint, CollectionReport, DepthReport, FORMAT, KeptColumns, MethodReport, NO_FIGURE, Overall, QueryReport,
    Report, Sample, Table,
};
pub use resample::Difference;
pub use run::{Run, Scored};
