//! Flags of `tamis remember`.

use clap::Args;

/// Flags of `tamis remember`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis remember \"backups go to the second site at night\"
  tamis remember --topic backups \"they are kept for a year\"
  tamis remember --file MEMORY.md \"the staging database is called heron\"
  git log -1 --format=%B | tamis remember -

The note is added with its time to memory/YYYY-MM-DD.md in the root, and is found at once. The files are yours to read and change.")]
pub struct RememberArguments {
    /// What to note down; several words are joined; - reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// What it is about: the heading that it stands under
    #[arg(long = "topic", value_name = "TOPIC")]
    pub topic: Option<String>,
    /// Add it to this file of notes, from the root, in place of that of the day
    #[arg(long = "file", value_name = "FILE")]
    pub file: Option<String>,
    /// The namespace it belongs to, where the index holds several
    #[arg(long = "namespace", value_name = "NAME")]
    pub namespace: Option<String>,
    /// Print where it stands as JSON
    #[arg(long)]
    pub json: bool,
}
