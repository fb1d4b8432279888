//! Flags of `tamis calibrate`.

use clap::Args;
use tamis::flags::language;

/// Flags of `tamis calibrate`.
#[derive(Debug, Args)]
#[command(
    long_about = "Measure the similarity at which two symbols of a language belong together, for the cut `language`.\n\n\
        Tamis draws pairs of symbols of the same file and of different files, and puts the threshold between the two kinds. A \
        threshold holds for one model. Tamis asks before it writes them to the index and to .tamis/config.toml under \
        [search.calibrated]; without a terminal to ask on, only --write does. Your own values under [search.thresholds] are stronger and stay as they are.",
    after_help = "\
Examples:
  tamis calibrate                       measure all languages, show what would be written, and ask
  tamis calibrate --write               the same without asking
  tamis calibrate --lang rust,python --method p10
  tamis search \"open the store\" --cut language

Exit status: 0 done, even if no language could be calibrated, 2 an error."
)]
pub struct CalibrateArguments {
    /// Take the threshold half-way between the means of the two kinds, or at the 10th percentile of same-file pairs
    #[arg(long, value_name = "METHOD", default_value = "midpoint", value_parser = ["midpoint", "p10"], conflicts_with = "clear")]
    pub method: String,
    /// Write the thresholds without asking
    #[arg(long, conflicts_with_all = ["clear", "dry_run"])]
    pub write: bool,
    /// Show what would be written, and write nothing
    #[arg(long, conflicts_with = "clear")]
    pub dry_run: bool,
    /// Write a threshold even where the two kinds of pairs overlap
    #[arg(long, conflicts_with = "clear")]
    pub force: bool,
    /// Measure only these languages, by name, alias or file extension
    #[arg(long = "lang", value_name = "LANG,…", value_delimiter = ',', value_parser = language, conflicts_with = "clear")]
    pub languages: Vec<String>,
    /// Measure with this model of the configuration, in place of the one that searches use
    #[arg(long, value_name = "NAME", conflicts_with = "clear")]
    pub model: Option<String>,
    /// Draw the pairs with this seed
    #[arg(long, value_name = "N", default_value = "0", conflicts_with = "clear")]
    pub seed: u64,
    /// Delete all calibrated thresholds
    #[arg(long)]
    pub clear: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}
