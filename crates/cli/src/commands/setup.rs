//! `tamis setup`, whose commands also go by their own names: git hooks, trust in a project, completions and manual pages.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::label;
use crate::session::Session;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use clap_complete::Shell;
use std::io::Write;
use std::path::{Path, PathBuf};
use tamis::git_hooks::{HookReport, HookState, install, lines, remove};

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

/// Flags of `tamis man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis man | man -l -
  tamis man ~/.local/share/man/man1")]
pub struct ManArguments {
    /// Directory for the pages of all commands; made if missing
    #[arg(id = "man_directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// Runs one of the actions. `describe` describes the whole command line.
///
/// # Errors
/// The action failed; the message says why and what to do.
pub fn run(action: &SetupAction, global: &Global, output: &Output, describe: fn() -> clap::Command) -> Result<Exit> {
    match action {
        SetupAction::Hook(arguments) => hook(arguments, global, output),
        SetupAction::Trust => trust(global, output),
        SetupAction::Completions { shell } => completions(*shell, &mut describe(), output),
        SetupAction::Man(arguments) => man(arguments, describe(), output),
    }
}

/// Prints the hooks' lines, or adds them to the repository around the working directory, or removes them.
///
/// # Errors
/// There is no repository, its hooks are elsewhere, or a hook cannot be read or written.
fn hook(arguments: &HookArguments, global: &Global, output: &Output) -> Result<Exit> {
    let report = match &arguments.action {
        HookAction::Print => {
            let mut out = output.plain();
            out.write_all(lines().as_bytes())?;
            out.flush()?;
            return Ok(Exit::Found);
        }
        HookAction::Install(repository) => install(global.start(), repository.git_dir.as_deref())?,
        HookAction::Remove(repository) => remove(global.start(), repository.git_dir.as_deref())?,
    };
    print_hooks(&report, output)?;
    Ok(Exit::found(!report.refused()))
}

fn print_hooks(report: &HookReport, output: &Output) -> Result<()> {
    let mut out = output.plain();
    for (name, state) in &report.hooks {
        let path = report.directory.join(name);
        let path = path.to_string_lossy();
        let path = label(&path);
        match state {
            HookState::Installed => writeln!(out, "{path}: now brings the index up to date")?,
            HookState::Updated => writeln!(out, "{path}: updated to the lines of this version")?,
            HookState::Unchanged => writeln!(out, "{path}: unchanged")?,
            HookState::Removed => writeln!(out, "{path}: no longer brings the index up to date")?,
            HookState::Refused(reason) => output.warn(&format!("{path}: unchanged: {reason}")),
        }
    }
    out.flush()?;
    if report.refused() {
        output.note(&format!("to add them by hand, these are the lines:\n{}", lines()));
    }
    Ok(())
}

/// Trusts the project's configuration file as it is now, and lists the addresses it may send text to and the
/// directories it may read.
///
/// # Errors
/// There is no such file, no directory for the user's list, or the configuration is not valid.
fn trust(global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let file = session.location.config_file();
    if !file.is_file() {
        bail!("{}: no such file, so there is nothing to trust", file.display());
    }
    let Some(user) = &session.user_directory else {
        bail!("there is no directory for the list of trusted files; set TAMIS_CONFIG_HOME");
    };
    tamis::config::trust::trust(user, &file).with_context(|| format!("{} cannot be trusted", file.display()))?;
    let config = session.config()?;
    let root = &session.location.root;
    let mut out = output.styled();
    writeln!(out, "trusted as it is now: {}", label(&file.to_string_lossy()))?;
    for (name, definition) in &config.models {
        if let Some(url) = definition.provider.url() {
            writeln!(out, "  model {} may send text to {}", label(name), label(url))?;
        }
    }
    for directory in config.collections.iter().filter(|directory| !directory.root.starts_with(root)) {
        writeln!(out, "  reads {}", label(&directory.root.to_string_lossy()))?;
    }
    if config.store.url.is_some() {
        let named = config.collections.iter().filter_map(|directory| directory.namespace.as_ref());
        for namespace in config.store.namespace.iter().chain(named) {
            writeln!(out, "  names the namespace {}", label(namespace))?;
        }
    }
    out.flush()?;
    Ok(Exit::Found)
}

/// Prints a completion script.
///
/// # Errors
/// Standard output cannot be written.
fn completions(shell: Shell, description: &mut clap::Command, output: &Output) -> Result<Exit> {
    // The generator panics on a failed write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, description, "tamis", &mut script);
    let mut out = output.plain();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Found)
}

/// Prints the manual page, or writes the page of each command.
///
/// # Errors
/// The directory or standard output cannot be written.
fn man(arguments: &ManArguments, description: clap::Command, output: &Output) -> Result<Exit> {
    match &arguments.directory {
        Some(directory) => {
            let failed = || format!("{}: the manual pages cannot be written", directory.display());
            std::fs::create_dir_all(directory).with_context(failed)?;
            let mut description = documented(description);
            description.build();
            write_pages(&description, directory)?;
        }
        None => {
            let mut out = output.plain();
            page(documented(description)).render(&mut out)?;
            out.flush()?;
        }
    }
    Ok(Exit::Found)
}

/// The description with everything that a page shows. `clap_mangen` leaves out what the short help leaves out.
fn documented(description: clap::Command) -> clap::Command {
    fn whole(command: clap::Command) -> clap::Command {
        command.mut_args(|argument| argument.hide_short_help(false)).mut_subcommands(whole)
    }
    whole(description).disable_help_subcommand(true)
}

fn page(command: clap::Command) -> clap_mangen::Man {
    clap_mangen::Man::new(command).source(concat!("tamis ", env!("CARGO_PKG_VERSION")))
}

/// Writes the pages of a command and of those under it, named as `clap_mangen::generate_to` does.
fn write_pages(command: &clap::Command, directory: &Path) -> Result<()> {
    for nested in command.get_subcommands().filter(|nested| !nested.is_hide_set()) {
        write_pages(nested, directory)?;
    }
    let man = page(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok(tamis::file::write_bytes(&directory.join(man.get_filename()), &page)?)
}
