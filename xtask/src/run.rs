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
    program(&cargo_itself(), arguments)
}

/// The cargo that runs this.
pub fn cargo_itself() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// Takes from a command what cargo has told of this package. A build script that looks at it would run again each time that
/// cargo is called from here and by hand in turn.
pub fn as_by_hand(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a program in the root and shows what is run.
pub fn program(name: &str, arguments: &[&str]) -> Result<()> {
    eprintln!("$ {name} {}", arguments.join(" "));
    let status = as_by_hand(&mut Command::new(name))
        .args(arguments)
        .current_dir(root())
        .status()
        .with_context(|| format!("{name} cannot be started"))?;
    ensure!(status.success(), "{name} {} failed: {status}", arguments.join(" "));
    Ok(())
}
