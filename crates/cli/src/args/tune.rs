//! Flags of `tamis tune`, whose commands also go by their own names.

use super::{CalibrateArguments, EvalArguments, FeedbackArguments, StatsArguments};
use clap::{Args, Subcommand};

/// Flags of `tamis tune`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis tune feedback 7k2m9qrt 1 --relevant   the first result answers it
  tamis tune stats --since 7d                 how recent queries were answered
  tamis tune calibrate                        measure all languages, then ask
  tamis tune eval scifact                     measure every cut on known answers

Each also works without `tune`, as in `tamis feedback`.")]
pub struct TuneArguments {
    /// The action
    #[command(subcommand)]
    pub action: TuneAction,
}

/// Actions of `tamis tune`.
#[derive(Debug, Subcommand)]
pub enum TuneAction {
    /// Judge the results of a search, so that guarantees can be calibrated
    Feedback(FeedbackArguments),
    /// Show how past queries were answered, and what another cut would have kept
    Stats(StatsArguments),
    /// Measure the similarity at which code becomes relevant, by language
    Calibrate(CalibrateArguments),
    /// Measure ranking and cuts on collections with known answers
    Eval(Box<EvalArguments>),
}
