//! Flags of `tamis store`.

use super::JobsArguments;
use clap::{Args, Subcommand};

/// Flags of `tamis store`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis --store postgres://tamis@db.example/tamis store init
  TAMIS_STORE_URL=postgres://tamis@db.example/tamis tamis store status
  tamis store copy ~/mill postgres://tamis@db.example/tamis

The database is the one of --store, of TAMIS_STORE_URL, or of store.url in your own configuration. Its password comes from the \
address, from PGPASSWORD, or from the file that PGPASSFILE names (~/.pgpass by default).")]
pub struct StoreArguments {
    /// The action
    #[command(subcommand)]
    pub action: StoreAction,
}

/// Actions of `tamis store`.
#[derive(Debug, Subcommand)]
pub enum StoreAction {
    /// Create the tables
    Init,
    /// Show what the database holds and can do
    Status(StoreStatusArguments),
    /// Copy an index from one place to another, and compare both
    Copy(StoreCopyArguments),
    /// Look for damage and contradictions, and rebuild what can be rebuilt
    Check(StoreCheckArguments),
    /// Share the indexing of many trees among workers
    Jobs(JobsArguments),
    /// Distribute the tables over the nodes of Citus, by namespace
    Shard(StoreShardArguments),
    /// Bring distributed tables back to the coordinator
    Unshard(StoreUnshardArguments),
}

/// Flags of `tamis store status`.
#[derive(Debug, Args)]
pub struct StoreStatusArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis store check`.
#[derive(Debug, Args)]
pub struct StoreCheckArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Only look
    #[arg(long)]
    pub check_only: bool,
}

/// Flags of `tamis store copy`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis store copy ~/mill postgres://tamis@db.example/tamis
  tamis store copy postgres://tamis@db.example/tamis ~/backup --namespace mill

Only what differs is written. A copy that was stopped goes on where it was when it is started again. At the end both sides are \
compared; the exit status is 2 if the copy lacks something or has it differently.")]
pub struct StoreCopyArguments {
    /// The source: a directory with an index, a tree with .tamis, or postgres://USER@HOST/DATABASE
    #[arg(value_name = "FROM")]
    pub from: std::path::PathBuf,
    /// The destination, likewise; a directory is made if it is missing
    #[arg(value_name = "TO")]
    pub to: std::path::PathBuf,
    /// Copy only these namespaces; repeat or separate with commas
    #[arg(long = "namespace", value_name = "NAME", value_delimiter = ',')]
    pub namespaces: Vec<String>,
    /// Delete documents that FROM does not have from the copied namespaces
    #[arg(long)]
    pub delete: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis store shard`.
#[derive(Debug, Args)]
pub struct StoreShardArguments {
    /// Print the statements in order, and run none
    #[arg(long)]
    pub dry_run: bool,
    /// Number of shards of each table; the server's default if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64_000))]
    pub shards: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis store unshard`.
#[derive(Debug, Args)]
pub struct StoreUnshardArguments {
    /// Print the statements in order, and run none
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
