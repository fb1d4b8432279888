//! Flags of `tamis hook`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Flags of `tamis hook`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis hook install     update the index after every commit, checkout, merge and rebase
  tamis hook remove      undo that
  tamis hook print       print the lines, for a hook of your own or a hook manager

The hooks run `tamis index` in the background, say nothing, and never fail or delay git.")]
pub struct HookArguments {
    /// The action.
    #[command(subcommand)]
    pub action: HookAction,
}

/// An action on the hooks' lines.
#[derive(Debug, Subcommand)]
pub enum HookAction {
    /// Print the lines that keep the index fresh
    Print,
    /// Add them to the repository's hooks, beside existing lines
    Install(HookRepository),
    /// Remove them again
    Remove(HookRepository),
}

/// The repository of the hooks.
#[derive(Debug, Args)]
pub struct HookRepository {
    /// Use this git directory, in place of that of the current directory
    #[arg(long, value_name = "DIR")]
    pub git_dir: Option<PathBuf>,
}
