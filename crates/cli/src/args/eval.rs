//! Flags of `tamis eval`.

use super::values::at_least_one;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use tamis::Mode;
use tamis::evaluate::OwnId;
use tamis::flags::finite;
use tamis_eval::Metric;

const EXAMPLES: &str = "\
Examples:
  tamis eval scifact nq --model static
  tamis eval scifact --cut auto --cut background --foreign nq --html report.html
  tamis eval scifact --json > before.json    then, with another version:  tamis eval --compare before.json after.json
  tamis eval --run bm25.run --qrels qrels.txt

A DIR has BEIR's layout: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels/SPLIT.tsv. The settings are \
those of a search; `tamis config` shows them.
Exit status: 0 done, 2 an error, 130 stopped by Ctrl-C; the next run continues the index of a stopped one.";

/// Flags of `tamis eval`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EvalArguments {
    /// Test collections to index and search, in BEIR's layout
    #[arg(value_name = "DIR", required_unless_present_any = ["run", "compare"], conflicts_with_all = ["run", "compare"])]
    pub directories: Vec<PathBuf>,
    /// Measure the ranked results of any engine, in TREC's format, in place of a search
    #[arg(long, value_name = "FILE", requires = "qrels", conflicts_with = "compare")]
    pub run: Option<PathBuf>,
    /// Judge --run by these judgements, in the format of TREC or BEIR
    #[arg(long, value_name = "FILE", requires = "run")]
    pub qrels: Option<PathBuf>,
    /// Compare two reports written with --json, query by query
    #[arg(long, value_names = ["BEFORE", "AFTER"], num_args = 2)]
    pub compare: Option<Vec<PathBuf>>,

    /// Measure this cut (`tamis search --help` lists the methods); repeatable [default: every method]
    #[arg(long = "cut", conflicts_with = "compare", value_name = "METHOD[:PARAM=VALUE,…]")]
    pub cuts: Vec<String>,
    /// Compare meaning with this model: static, minilm, or one that a configuration file defines [default: the best of search]
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "NAME")]
    pub model: Option<String>,
    /// Gather candidates by words, by meaning, or by both
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::NAMES))]
    pub mode: Option<String>,
    /// Pass every query on to the cut, even where nothing stands out
    #[arg(long, conflicts_with_all = ["run", "compare"])]
    pub no_gate: bool,
    /// Let the reranker of rerank.model read the best entries of each query, up to a minute
    #[arg(long, conflicts_with_all = ["run", "compare"])]
    pub judge: bool,
    /// Every query is decided alone, so this changes nothing
    #[arg(long, hide = true, conflicts_with_all = ["run", "compare"])]
    pub cold: bool,

    /// Use the judgements in qrels/NAME.tsv
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "NAME", default_value = "test", help_heading = "Queries")]
    pub split: String,
    /// Ask the first queries of this collection too, which no other collection answers; repeatable
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "DIR", help_heading = "Queries")]
    pub foreign: Vec<PathBuf>,
    /// Ask this many queries of each --foreign collection
    #[arg(long, requires = "foreign", value_name = "N", value_parser = at_least_one, default_value = "60", allow_negative_numbers = true, help_heading = "Queries")]
    pub foreign_queries: usize,
    /// Leave each query's own document out, for collections whose queries are documents: the document with the query's
    /// identifier, or one that matches PATTERN, in which {} is the identifier (such as {}_*)
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "PATTERN", num_args = 0..=1, require_equals = true,
        default_missing_value = "{}", help_heading = "Queries")]
    pub own_id: Option<OwnId>,
    /// Ask only the first N queries of each collection
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Queries")]
    pub limit_queries: Option<usize>,

    /// Compare this figure over all collections
    #[arg(long, value_name = "NAME", default_value = Metric::RelativeF1.name(), hide_possible_values = true,
        value_parser = PossibleValuesParser::new(Metric::ALL.iter().map(|metric| metric.name())), help_heading = "Figures")]
    pub metric: String,
    /// Compare the other methods with this one [default: fixed-fitted]
    #[arg(long, value_name = "METHOD", help_heading = "Figures")]
    pub baseline: Option<String>,
    /// Count recall this many times as much as precision in F_beta [default: 1]
    #[arg(long, value_name = "X", value_parser = finite, allow_negative_numbers = true, help_heading = "Figures")]
    pub beta: Option<f64>,
    /// Draw folds, bootstrap samples and queries with this seed [default: 0]
    #[arg(long, value_name = "N", help_heading = "Figures")]
    pub seed: Option<u64>,
    /// Resample this often for intervals; 0 means no intervals [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Figures")]
    pub resamples: Option<usize>,
    /// Decide with this many candidates a leg too, to see how stable each cut is
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Figures")]
    pub depths: Vec<usize>,
    /// Time the decisions too; the report then differs from run to run
    #[arg(long, help_heading = "Figures")]
    pub timings: bool,

    /// Write every query's candidates with all their scores and judgements to FILE, one JSON object a line, in place of comparing cuts
    #[arg(long, conflicts_with_all = ["run", "compare", "html", "csv", "json", "markdown", "cuts", "no_gate", "cold", "foreign"],
        value_name = "FILE", help_heading = "Output")]
    pub pools: Option<PathBuf>,

    /// Print the whole report as JSON, query by query
    #[arg(long, group = "report_form", help_heading = "Output")]
    pub json: bool,
    /// Print every figure as one line of CSV
    #[arg(long, group = "report_form", conflicts_with = "compare", help_heading = "Output")]
    pub csv: bool,
    /// Print the report as Markdown
    #[arg(long, group = "report_form", help_heading = "Output")]
    pub markdown: bool,
    /// Write the report with plots to FILE too, as one self-contained page
    #[arg(long, value_name = "FILE", conflicts_with = "compare", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Keep the indexes in DIR [default: tamis/eval in the user's cache; environment: TAMIS_CACHE]
    #[arg(long, conflicts_with_all = ["run", "compare"], value_name = "DIR")]
    pub cache: Option<PathBuf>,
}
