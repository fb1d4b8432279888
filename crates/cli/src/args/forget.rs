//! Flags of `tamis forget`.

use clap::Args;
use tamis::memory::ForgetAction;

/// Flags of `tamis forget`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis forget memory/2026-11-22.md:7        the entry on that line
  tamis forget \"the old staging password\"    what these words find, after asking
  tamis forget --list                        what is marked as forgotten
  tamis forget --undo memory/2026-11-22.md:7

Nothing is deleted: an entry is marked by a comment at its end, and no search finds it any more. --delete takes its lines out.
Exit status: 0 done, 1 no such entry or not confirmed, 2 an error, also where nobody is there to confirm and --yes is missing.")]
pub struct ForgetArguments {
    /// The id of a result, PATH:LINE or PATH:FIRST-LAST, or words that find the entry
    #[arg(required_unless_present = "list", value_name = "WHAT")]
    pub what: Vec<String>,
    /// Do not ask; words must then mean a single entry
    #[arg(short, long)]
    pub yes: bool,
    /// Take the lines out of the file
    #[arg(long)]
    pub delete: bool,
    /// Take the mark away, so that the entry is found again
    #[arg(long, conflicts_with = "delete")]
    pub undo: bool,
    /// List what is marked as forgotten
    #[arg(long, conflicts_with_all = ["what", "yes", "delete", "undo"])]
    pub list: bool,
    /// The namespace whose notes are meant, where the index holds several
    #[arg(long = "namespace", value_name = "NAME")]
    pub namespace: Option<String>,
    /// Print what was done, or the list, as JSON
    #[arg(long)]
    pub json: bool,
}

impl ForgetArguments {
    /// What is to be done.
    pub fn action(&self) -> ForgetAction {
        match (self.delete, self.undo) {
            (true, _) => ForgetAction::Delete,
            (_, true) => ForgetAction::Undo,
            _ => ForgetAction::Mark,
        }
    }
}
