//! Flags that every command takes.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// Where to start looking for the root of what is indexed
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", global = true)]
    pub directory: PathBuf,
    /// Keep the index in DIR [default: .tamis in the root; environment: TAMIS_INDEX]
    #[arg(long, value_name = "DIR", global = true)]
    pub index: Option<PathBuf>,
    /// When to use colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true)]
    pub color: ColorWhen,
    /// Say more: what was left out and why, settings with their meaning
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Say less: no warnings, notes or progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
