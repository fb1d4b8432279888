//! Runs other programs from the root of the project.

use anyhow::{Context, Result, ensure};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Returns the root directory of the project.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Returns the directory of builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Runs the cargo that runs this program.
pub fn cargo(arguments: &[&str]) -> Result<()> {
    program(&cargo_itself(), arguments)
}

/// Runs the cargo that runs this program, with one more variable in its environment.
#[cfg(unix)]
pub fn cargo_with(variable: (&str, &str), arguments: &[&str]) -> Result<()> {
    let (name, value) = variable;
    start(&cargo_itself(), arguments, |command| command.env(name, value))
}

/// Returns the path of the cargo that runs this program.
pub fn cargo_itself() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// Removes from a command the variables that cargo set about this package. A build script that reads them would run again whenever
/// calls from here and calls by hand take turns.
pub fn as_by_hand(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a program in the root and prints its command line.
pub fn program(name: &str, arguments: &[&str]) -> Result<()> {
    start(name, arguments, |command| command)
}

fn start(name: &str, arguments: &[&str], prepare: impl FnOnce(&mut Command) -> &mut Command) -> Result<()> {
    eprintln!("$ {name} {}", arguments.join(" "));
    let status = prepare(as_by_hand(&mut Command::new(name)))
        .args(arguments)
        .current_dir(root())
        .status()
        .with_context(|| format!("{name} cannot be started"))?;
    ensure!(status.success(), "{name} {} failed: {status}", arguments.join(" "));
    Ok(())
}

/// A process that ends with its owner.
#[derive(Debug)]
pub struct Owned(pub Child);

impl Deref for Owned {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Owned {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // One that has ended ignores this.
        let _ = self.kill();
        let _ = self.wait();
    }
}
