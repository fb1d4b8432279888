//! The setup that all rounds of a table share: the program, the initial index, and the results of undisturbed work.

use super::fixture::Base;
use super::work::{Reference, Work};
use crate::run::root;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// The number of different changes and imports. It is small, so that each is done undisturbed only once.
pub const VARIANTS: u64 = 8;

/// The shared setup.
#[derive(Debug)]
pub struct Setup {
    /// The index that rounds copy.
    pub base: Base,
    /// The library that makes system calls fail, or the reason that it could not be built.
    pub faults: Result<PathBuf, String>,
    /// An error when no file system of a given size can be mounted.
    pub mounts: Result<(), String>,
    references: Mutex<HashMap<(Work, u64), Arc<Reference>>>,
    calls: Mutex<HashMap<(Work, u64), Arc<str>>>,
    _library: TempDir,
}

impl Setup {
    /// Prepares everything.
    ///
    /// # Errors
    /// The program cannot make the initial index.
    pub fn new(binary: &Path) -> Result<Setup> {
        let library = tempfile::tempdir()?;
        let base = Base::new(binary).context("the initial index")?;
        let faults = build(library.path());
        let mounts = super::mount::can_mount(library.path());
        Ok(Setup { base, faults, mounts, references: Mutex::default(), calls: Mutex::default(), _library: library })
    }

    /// Returns the results of a piece of work when nothing disturbs it.
    ///
    /// # Errors
    /// It fails.
    pub fn reference(&self, work: Work, variant: u64) -> Result<Arc<Reference>> {
        let lock = || self.references.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&(work, variant)) {
            return Ok(known.clone());
        }
        // Another job may do the same meanwhile. That costs time only.
        let reference = Reference::of(work, variant, &self.base).with_context(|| format!("{work:?}, undisturbed"))?;
        Ok(lock().entry((work, variant)).or_insert(Arc::new(reference)).clone())
    }

    /// Returns the number of system calls of each class that a piece of work makes. `count` finds it, once.
    ///
    /// # Errors
    /// The calls cannot be counted.
    pub fn calls(&self, work: Work, variant: u64, count: impl FnOnce() -> Result<String>) -> Result<Arc<str>> {
        let lock = || self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&(work, variant)) {
            return Ok(known.clone());
        }
        let counted = count()?;
        Ok(lock().entry((work, variant)).or_insert(counted.into()).clone())
    }
}

/// Builds the library that makes system calls fail.
fn build(directory: &Path) -> Result<PathBuf, String> {
    if !cfg!(target_os = "linux") {
        return Err("faults are injected on Linux only".into());
    }
    let library = directory.join("fault.so");
    let source = root().join("xtask/src/torture/fault.c");
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl").output();
    match built {
        Ok(output) if output.status.success() => Ok(library),
        Ok(output) => Err(format!("cc: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("no C compiler: cc: {error}")),
    }
}
