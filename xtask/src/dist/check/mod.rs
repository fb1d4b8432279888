//! Tests of the finished files: each is installed as a user would, in a clean place.

pub mod archive;
pub mod debian;
pub mod installer;
pub mod npm;
mod server;
mod trial;

use super::table::Tested;
use super::tools::{is_there, quietly};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Checks the syntax of the formula. Homebrew itself is not asked.
///
/// # Errors
/// Ruby does not understand it.
pub fn formula(file: &Path) -> Result<Tested> {
    if !is_there("ruby") {
        return Ok(Tested::NotHere("ruby is missing".into()));
    }
    quietly(Command::new("ruby").arg("-c").arg(file))?;
    Ok(Tested::On("ruby -c; not tested here: brew install".into()))
}

/// Returns true if this process may change its root directory.
fn is_root() -> bool {
    #[cfg(unix)]
    // SAFETY: `geteuid` has no conditions.
    let root = unsafe { libc::geteuid() } == 0;
    #[cfg(not(unix))]
    let root = false;
    root
}
