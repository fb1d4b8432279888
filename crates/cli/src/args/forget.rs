//! Flags of `tamis forget`.

use clap::Args;
use tamis::memory::ForgetAction;

/// Flags of `tamis forget`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis forget memory/2026-11-22.md:7        hide the entry on that line
  tamis forget \"the old staging password\"    hide what these words find, after asking
  tamis forget --list                        list the hidden entries
  tamis forget --undo memory/2026-11-22.md:7 show it again

Nothing is deleted: a comment at the end of the entry hides it from every search. --delete removes its lines.
Exit status: 0 done, 1 no such entry or not confirmed, 2 an error, or no terminal to ask on without --yes.")]
pub struct ForgetArguments {
    /// Id of a result, PATH:LINE or PATH:FIRST-LAST, or words that find the entry
    #[arg(required_unless_present = "list", value_name = "WHAT")]
    pub what: Vec<String>,
    /// Do not ask; words must then match a single entry
    #[arg(short, long)]
    pub yes: bool,
    /// Remove the lines from the file
    #[arg(long)]
    pub delete: bool,
    /// Remove the mark, so that searches find the entry again
    #[arg(long, conflicts_with = "delete")]
    pub undo: bool,
    /// List the hidden entries
    #[arg(long, conflicts_with_all = ["what", "yes", "delete", "undo"])]
    pub list: bool,
    /// Hide notes of this namespace, in an index of several
    #[arg(long = "namespace", value_name = "NAME")]
    pub namespace: Option<String>,
    /// Print what was done, or the list, as JSON
    #[arg(long)]
    pub json: bool,
}

impl ForgetArguments {
    /// The action that the flags name.
    pub fn action(&self) -> ForgetAction {
        match (self.delete, self.undo) {
            (true, _) => ForgetAction::Delete,
            (_, true) => ForgetAction::Undo,
            _ => ForgetAction::Mark,
        }
    }
}
