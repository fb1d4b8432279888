//! Flags of the commands that show what there is.

use clap::Args;
use std::path::PathBuf;
use tamis::GetRequest;

/// Flags of `tamis status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// Print the status as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis get`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis get src/lock.rs            the whole file, as indexed
  tamis get src/lock.rs:10-40      some of its lines
  tamis get src/lock.rs:40 --context 10
  tamis get 3f9a1c                 a passage, by its id or the beginning of it
  tamis get '#233'                 an imported issue, by its number; 233 alone works too")]
pub struct GetArguments {
    #[command(flatten)]
    pub request: GetRequest,
    /// Print the text and its place as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis config`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis config                        every setting, as TOML, with its origin
  tamis config search                 one table
  tamis config search.cut --origin    one value with its origin
  tamis config --verbose              every setting, with its meaning and what it allows

The files are .tamis/config.toml in the root, then config.toml in $TAMIS_CONFIG_HOME or in your configuration \
directory (Linux: ~/.config/tamis, macOS: ~/Library/Application Support/tamis, Windows: %APPDATA%\\tamis). \
An environment variable sets a key too: TAMIS_SEARCH_TOP_K sets search.top_k.")]
pub struct ConfigArguments {
    /// Key, or table of keys
    #[arg(value_name = "KEY")]
    pub key: Option<String>,
    /// With a KEY, print where its value comes from too
    #[arg(long)]
    pub origin: bool,
    /// Print values, origins, meanings and allowed values as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis doctor                 check, and repair what can be rebuilt
  tamis doctor --check-only    check, and change nothing

Exit status: 0 all is well or was repaired, 1 a problem is left, 2 the check itself failed.")]
pub struct DoctorArguments {
    /// Check only, and repair nothing
    #[arg(long)]
    pub check_only: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis version`.
#[derive(Debug, Args)]
pub struct VersionArguments {
    /// Print the version as JSON
    #[arg(long)]
    pub json: bool,
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
