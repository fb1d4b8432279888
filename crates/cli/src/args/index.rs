//! Flags of `tamis index`.

use clap::Args;

/// Flags of `tamis index`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis index               what changed since the last run
  tamis index --watch       stay, and run again after every change

Ctrl-C stops at a whole step; the next run goes on from there. A second Ctrl-C stops at once, which is safe too.")]
pub struct IndexArguments {
    /// Stay, and run again whenever the tree changes
    #[arg(long)]
    pub watch: bool,
    /// Read every file, whatever its size and time of change say
    #[arg(long)]
    pub full: bool,
    /// Print the report as JSON; with --watch, one object a line and run
    #[arg(long)]
    pub json: bool,
}
