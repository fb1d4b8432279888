//! Flags of `tamis setup`, whose commands also go by their own names.

use super::{HookArguments, ManArguments};
use clap::{Args, Subcommand};

/// Flags of `tamis setup`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis setup hook install      update the index after each commit and checkout
  tamis setup trust             allow what this project's configuration asks for
  tamis completions bash > ~/.local/share/bash-completion/completions/tamis
  tamis setup man ~/.local/share/man/man1

Each also works without `setup`, as in `tamis hook`.")]
pub struct SetupArguments {
    /// The action
    #[command(subcommand)]
    pub action: SetupAction,
}

/// Actions of `tamis setup`.
#[derive(Debug, Subcommand)]
pub enum SetupAction {
    /// Keep the index fresh with git hooks
    Hook(HookArguments),
    /// Trust this project's configuration as it is now
    #[command(
        long_about = "Trust this project's configuration file as it is now: it may send text to the models it names and read \
            the directories outside the project that it names.\n\n\
            A configuration that comes with a project could send your text anywhere and read any file of yours, so remote \
            models and outside directories are refused until you have read the file and trusted it. A change to the file \
            ends the trust."
    )]
    Trust,
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  \
        tamis completions bash > ~/.local/share/bash-completion/completions/tamis\n  \
        tamis completions zsh > ~/.zfunc/_tamis\n  \
        tamis completions fish > ~/.config/fish/completions/tamis.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands to a directory
    Man(ManArguments),
}
