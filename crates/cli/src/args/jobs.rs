//! Flags of `tamis jobs`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Flags of `tamis jobs`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis jobs add /srv/trees/api /srv/trees/web       queue two trees, each under the name of its directory
  tamis jobs add /srv/trees/old --namespace archive  queue a tree under another name
  tamis jobs run --root /srv/trees                   index what is queued, and wait for more
  tamis jobs run --root /srv/trees --until-empty     the same, and end when nothing is left
  tamis jobs list

The database is the one of --store, of TAMIS_STORE_URL, or of store.url in your own configuration. Start as many workers as you \
like: each takes the oldest job that is free. The job of a worker that was killed is free at once.")]
pub struct JobsArguments {
    /// The action
    #[command(subcommand)]
    pub action: JobsAction,
}

/// Actions of `tamis jobs`.
#[derive(Debug, Subcommand)]
pub enum JobsAction {
    /// Queue trees to be indexed
    Add(JobsAddArguments),
    /// Show what waits, what runs, and how the last job of each namespace ended
    List(JobsListArguments),
    /// Index queued trees until Ctrl-C
    Run(JobsRunArguments),
}

/// Flags of `tamis jobs add`.
#[derive(Debug, Args)]
pub struct JobsAddArguments {
    /// The trees, as the workers' machines name them; a relative path must exist here
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Index the tree under this name instead of the name of its directory
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Say that the trees are those of their namespaces, at a new place
    #[arg(long)]
    pub moved: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis jobs list`.
#[derive(Debug, Args)]
pub struct JobsListArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis jobs run`.
#[derive(Debug, Args)]
pub struct JobsRunArguments {
    /// Index trees in DIR only (repeatable): whoever can write to the database cannot have other directories read
    #[arg(long = "root", value_name = "DIR", required = true)]
    pub roots: Vec<PathBuf>,
    /// End when no job waits or runs
    #[arg(long)]
    pub until_empty: bool,
    /// Print a line of JSON for each job
    #[arg(long)]
    pub json: bool,
}
