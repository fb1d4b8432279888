//! The command line as it was typed.

use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
