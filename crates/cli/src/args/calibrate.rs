//! Flags of `tamis calibrate`.

use super::values::language;
use clap::Args;

/// Flags of `tamis calibrate`.
#[derive(Debug, Args)]
#[command(
    long_about = "Measure, for each language, from which similarity on two symbols have to do with each other, for the cut \
        `language`.\n\n\
        Pairs of symbols of the same file and of different files are drawn, and the threshold is put between the two kinds. It \
        holds for one model and is written into the index and into .tamis/config.toml under [search.calibrated]; what you set \
        under [search.thresholds] goes before it and is never touched.",
    after_help = "\
Examples:
  tamis calibrate --dry-run             what would be written
  tamis calibrate                       all languages, for the model that searches use
  tamis calibrate --lang rust,python --method p10
  tamis search \"open the store\" --cut language

Exit status: 0 done, also where no language could be calibrated, 2 an error."
)]
pub struct CalibrateArguments {
    /// How the threshold is taken: half-way between the means of the two kinds of pairs, or the 10th percentile of same-file
    /// pairs
    #[arg(long, value_name = "METHOD", default_value = "midpoint", value_parser = ["midpoint", "p10"], conflicts_with = "clear")]
    pub method: String,
    /// Write nothing
    #[arg(long, conflicts_with = "clear")]
    pub dry_run: bool,
    /// Write thresholds down also where the two kinds of pairs hardly come apart
    #[arg(long, conflicts_with = "clear")]
    pub force: bool,
    /// Only these languages, by name, alias or file extension
    #[arg(long = "lang", value_name = "LANG,…", value_delimiter = ',', value_parser = language, conflicts_with = "clear")]
    pub languages: Vec<Vec<&'static str>>,
    /// The model by its name in the configuration, in place of the one that searches use
    #[arg(long, value_name = "NAME", conflicts_with = "clear")]
    pub model: Option<String>,
    /// Seed of the draw of pairs
    #[arg(long, value_name = "N", default_value = "0", conflicts_with = "clear")]
    pub seed: u64,
    /// Instead, forget all calibrated thresholds
    #[arg(long)]
    pub clear: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}
