//! Flags of the commands that look at what is there.

use clap::Args;
use std::path::PathBuf;

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
  tamis get src/lock.rs            the whole file, as it is indexed
  tamis get src/lock.rs:10-40      some of its lines
  tamis get 3f9a1c                 a passage by its id, or by the beginning of it")]
pub struct GetArguments {
    /// A path, a path with lines, or the id of a result
    #[arg(value_name = "PATH[:LINES]|ID")]
    pub wanted: String,
    /// Print the text and where it is from as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis config`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis config                        every setting, as TOML, with where it came from
  tamis config search                 one table
  tamis config search.cut --origin    one value and where it came from
  tamis config --verbose              with what each key means and allows

Files: .tamis/config.toml in the root, then config.toml in $TAMIS_CONFIG_HOME or in your
configuration directory (Linux: ~/.config/tamis, macOS: ~/Library/Application Support/tamis, Windows: %APPDATA%\\tamis).
A key can also be set by an environment variable: search.top_k by TAMIS_SEARCH_TOP_K.")]
pub struct ConfigArguments {
    /// One key, or one table of keys
    #[arg(value_name = "KEY")]
    pub key: Option<String>,
    /// With a KEY, also print where its value came from
    #[arg(long)]
    pub origin: bool,
    /// Print values, origins, meanings and what is allowed as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 all is well or was mended, 1 something is left, 2 the check itself failed.")]
pub struct DoctorArguments {
    /// Only look; mend nothing
    #[arg(long)]
    pub check_only: bool,
    /// Print the findings as JSON
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
    /// Write the pages of all commands into DIR, which is made if need be
    #[arg(id = "man_directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
