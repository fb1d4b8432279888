//! Flags of `tamis remember`.

use clap::Args;
use tamis::memory::RememberRequest;

/// Flags of `tamis remember`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis remember \"backups go to the second site at night\"
  tamis remember --topic backups \"they are kept for a year\"
  tamis remember --file MEMORY.md \"the staging database is called heron\"
  git log -1 --format=%B | tamis remember -

The note and its time go to memory/YYYY-MM-DD.md in the root, and searches find it at once. The files are yours to edit.")]
pub struct RememberArguments {
    /// Text of the note; - reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub request: RememberRequest,
    /// Print its place as JSON
    #[arg(long)]
    pub json: bool,
}
