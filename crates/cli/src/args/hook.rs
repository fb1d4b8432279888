//! Flags of `tamis hook`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Flags of `tamis hook`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis hook install     the index follows every commit, checkout, merge and rebase
  tamis hook remove      and no more
  tamis hook print       the lines, for a hook of your own or a manager's

The hooks run `tamis index` in the background, say nothing, and never fail or delay git.")]
pub struct HookArguments {
    /// What to do with the lines.
    #[command(subcommand)]
    pub action: HookAction,
}

/// What to do with the lines.
#[derive(Debug, Subcommand)]
pub enum HookAction {
    /// Print the lines that keep the index fresh
    Print,
    /// Put them into the repository's hooks, beside what is there
    Install(HookPlace),
    /// Take them out again
    Remove(HookPlace),
}

/// Where the hooks are.
#[derive(Debug, Args)]
pub struct HookPlace {
    /// The repository's own directory, in place of that of the current directory
    #[arg(long, value_name = "DIR")]
    pub git_dir: Option<PathBuf>,
}
