//! The command line as it was typed, and the flags that every command takes.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tamis::flag_values::whole;

static COMMAND_LINE: OnceLock<Vec<OsString>> = OnceLock::new();

/// Notes the command line of this process, once.
pub fn set(words: Vec<OsString>) {
    // A second call has the words of the first in its messages, as `run` says.
    let _ = COMMAND_LINE.set(words);
}

/// The words, the program first.
pub fn words() -> &'static [OsString] {
    COMMAND_LINE.get().map_or(&[], Vec::as_slice)
}

/// The program that others start to run a command: this one, or the script of a package that runs it.
///
/// # Errors
/// The system does not tell.
pub fn program() -> Result<PathBuf> {
    let running = std::env::current_exe().context("the path of this program is unknown")?;
    let script = words().first().map(Path::new).filter(|path| path.is_absolute() && path.is_file());
    let is_ours = running.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("tamis"));
    Ok(match script {
        Some(script) if !is_ours => script.to_owned(),
        _ => running,
    })
}

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Start in DIR to look for the root of the index
    #[arg(short = 'C', long, value_name = "DIR", global = true, hide_short_help = true)]
    pub directory: Option<PathBuf>,
    /// Keep the index in DIR [default: .tamis in the root; environment: TAMIS_INDEX]
    #[arg(long, value_name = "DIR", global = true, hide_short_help = true)]
    pub index: Option<PathBuf>,
    /// Keep the index in this PostgreSQL database, postgres://USER@HOST/DATABASE [environment: TAMIS_STORE_URL]
    #[arg(long, value_name = "URL", global = true, hide_short_help = true)]
    pub store: Option<String>,
    /// Use colour: always, never, or auto (on a terminal, unless NO_COLOR is set)
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        global = true,
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub color: ColorWhen,
    /// Print locations as links on a terminal: a name such as vscode, idea or file, or a format with {path}, {line}, {column}, {host},
    /// {wslprefix} [default: output.hyperlink_format, none]
    #[arg(long, value_name = "FORMAT", global = true, hide_short_help = true)]
    pub hyperlink_format: Option<String>,
    /// Print long output without a pager [environment: TAMIS_PAGER or PAGER names one]
    #[arg(long, global = true, hide_short_help = true)]
    pub no_pager: bool,
    /// Say more: files left out and why, the meaning of settings
    #[arg(short, long, global = true, hide_short_help = true)]
    pub verbose: bool,
    /// Say less: no warnings, notes or progress
    #[arg(short, long, global = true, conflicts_with = "verbose", hide_short_help = true)]
    pub quiet: bool,
}

impl Global {
    /// The directory to start in.
    pub fn start(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new("."))
    }
}

/// The condition for using colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A count of at least one.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    whole::<1, { usize::MAX }>(text)
}
