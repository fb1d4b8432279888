//! Running other programs from the workspace's root.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's root directory.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Runs the cargo that runs this.
pub fn cargo(arguments: &[&str]) -> Result<()> {
    program(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()), arguments)
}

/// Runs a program in the root and shows what is run.
pub fn program(name: &str, arguments: &[&str]) -> Result<()> {
    eprintln!("$ {name} {}", arguments.join(" "));
    let status = Command::new(name)
        .args(arguments)
        .current_dir(root())
        .status()
        .with_context(|| format!("{name} cannot be started"))?;
    ensure!(status.success(), "{name} {} failed: {status}", arguments.join(" "));
    Ok(())
}
