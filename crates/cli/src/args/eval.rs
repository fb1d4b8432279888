//! Flags of `tamis eval`.

use super::values::{at_least_one, finite};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use tamis::Mode;
use tamis::eval::Metric;
use tamis::evaluate::OwnId;

const EXAMPLES: &str = "\
Examples:
  tamis eval scifact nq --model static
  tamis eval scifact --cut background --cut background:lambda=0.8 --foreign nq --html report.html
  tamis eval scifact --json > before.json    then, with another version:  tamis eval --compare before.json after.json
  tamis eval --run bm25.run --qrels qrels.txt

A DIR is in BEIR's layout: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels/SPLIT.tsv. Settings come from
where a search's come from; `tamis config` shows them.
Exit status: 0 done, 2 an error, 130 stopped by Ctrl-C; the next run goes on with the index where a stopped one ended.";

/// Flags of `tamis eval`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EvalArguments {
    /// Test collections to index and search, in BEIR's layout
    #[arg(value_name = "DIR", required_unless_present_any = ["run", "compare"], conflicts_with_all = ["run", "compare"])]
    pub directories: Vec<PathBuf>,
    /// Instead of a search: the ranked results of any engine, in TREC's format
    #[arg(long, value_name = "FILE", requires = "qrels", conflicts_with = "compare")]
    pub run: Option<PathBuf>,
    /// The judgements for --run, in the format of TREC or BEIR
    #[arg(long, value_name = "FILE", requires = "run")]
    pub qrels: Option<PathBuf>,
    /// Compare two reports written with --json, query by query
    #[arg(long, value_names = ["BEFORE", "AFTER"], num_args = 2)]
    pub compare: Option<Vec<PathBuf>>,

    /// A cut to measure: METHOD or METHOD:PARAM=VALUE,… (`tamis search --help` lists them); repeatable [default: every method]
    #[arg(long = "cut", conflicts_with = "compare", value_name = "METHOD[:PARAM=VALUE,…]")]
    pub cuts: Vec<String>,
    /// Model of the semantic leg: static, minilm, or one that a configuration file defines [default: the search's best one]
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "NAME")]
    pub model: Option<String>,
    /// Words, meaning, or both
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::NAMES))]
    pub mode: Option<String>,
    /// Let every query through to the cut, answered or not
    #[arg(long, conflicts_with_all = ["run", "compare"])]
    pub no_gate: bool,
    /// Decide every query as the first one ever asked, without what the queries before it say of the collection
    #[arg(long, conflicts_with_all = ["run", "compare"])]
    pub cold: bool,

    /// Judgements to use: qrels/NAME.tsv
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "NAME", default_value = "test", help_heading = "Queries")]
    pub split: String,
    /// Also ask the first queries of this collection, which have no answer in any other; repeatable
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "DIR", help_heading = "Queries")]
    pub foreign: Vec<PathBuf>,
    /// So many of each
    #[arg(long, requires = "foreign", value_name = "N", value_parser = at_least_one, default_value = "60", allow_negative_numbers = true, help_heading = "Queries")]
    pub foreign_queries: usize,
    /// Leave each query's own document out, for collections whose queries are documents: the one with its identifier, or with
    /// what {} stands for in a PATTERN such as {}_*
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "PATTERN", num_args = 0..=1, require_equals = true,
        default_missing_value = "{}", help_heading = "Queries")]
    pub own_id: Option<OwnId>,
    /// Only the first N queries of each collection
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Queries")]
    pub limit_queries: Option<usize>,

    /// The figure that is compared over all collections
    #[arg(long, value_name = "NAME", default_value = Metric::RelativeF1.name(), hide_possible_values = true,
        value_parser = PossibleValuesParser::new(Metric::ALL.iter().map(|metric| metric.name())), help_heading = "Figures")]
    pub metric: String,
    /// The method that the others are held against [default: fixed-fitted]
    #[arg(long, value_name = "METHOD", help_heading = "Figures")]
    pub baseline: Option<String>,
    /// How many times as much recall counts as precision does in F_beta [default: 1]
    #[arg(long, value_name = "X", value_parser = finite, allow_negative_numbers = true, help_heading = "Figures")]
    pub beta: Option<f64>,
    /// Seed of the folds, the bootstrap and the queries drawn [default: 0]
    #[arg(long, value_name = "N", help_heading = "Figures")]
    pub seed: Option<u64>,
    /// Resamples of the bootstrap; 0: no intervals [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Figures")]
    pub resamples: Option<usize>,
    /// Also decide with so many candidates a leg, to see how stable each cut is
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Figures")]
    pub depths: Vec<usize>,
    /// Also time the decisions; the report then differs from run to run
    #[arg(long, help_heading = "Figures")]
    pub timings: bool,

    /// Instead of comparing cuts, how much auto learns from so many judged queries; what only a comparison reads is refused
    #[arg(long, conflicts_with_all = ["run", "compare", "html", "csv", "cuts", "no_gate", "cold", "foreign", "foreign_queries", "metric",
        "baseline", "beta", "resamples", "depths", "timings"], value_name = "N,…", value_delimiter = ',', help_heading = "Figures")]
    pub judged: Vec<usize>,
    /// How often the judged queries are drawn
    #[arg(long, requires = "judged", value_name = "N", value_parser = at_least_one, default_value = "5", allow_negative_numbers = true, help_heading = "Figures")]
    pub draws: usize,

    /// Print the whole report as JSON, query by query
    #[arg(long, group = "report_form", help_heading = "Output")]
    pub json: bool,
    /// Print every figure as a line of CSV
    #[arg(long, group = "report_form", conflicts_with = "compare", help_heading = "Output")]
    pub csv: bool,
    /// Print the report as Markdown
    #[arg(long, group = "report_form", help_heading = "Output")]
    pub markdown: bool,
    /// Also write the report with plots to FILE, one page that needs nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "compare", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Keep the indexes in DIR [default: tamis/eval in the user's cache; environment: TAMIS_CACHE]
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "DIR")]
    pub cache: Option<PathBuf>,
}
