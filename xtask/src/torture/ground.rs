//! What all rounds of a table have in common: the program, the index to begin with, what undisturbed work leaves.

use super::fixture::Base;
use super::work::{Reference, Work};
use crate::run::root;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// Different changes and imports. Few, so that each is done undisturbed only once.
pub const VARIANTS: u64 = 8;

/// The common ground.
#[derive(Debug)]
pub struct Ground {
    /// The index that copies are made of.
    pub base: Base,
    /// The library that makes system calls fail, or why there is none.
    pub faults: Result<PathBuf, String>,
    /// Whether a file system of a given size can be mounted, or why not.
    pub mounts: Result<(), String>,
    references: Mutex<HashMap<(Work, u64), Arc<Reference>>>,
    calls: Mutex<HashMap<(Work, u64), Arc<str>>>,
    _library: TempDir,
}

impl Ground {
    /// Prepares everything.
    ///
    /// # Errors
    /// The program cannot make the index to begin with.
    pub fn new(binary: &Path) -> Result<Ground> {
        let library = tempfile::tempdir()?;
        let base = Base::new(binary).context("the index to begin with")?;
        let faults = build(library.path());
        let mounts = super::disk::can_mount(library.path());
        Ok(Ground { base, faults, mounts, references: Mutex::default(), calls: Mutex::default(), _library: library })
    }

    /// What a piece of work leaves when nothing disturbs it.
    ///
    /// # Errors
    /// It fails.
    pub fn reference(&self, work: Work, variant: u64) -> Result<Arc<Reference>> {
        let lock = || self.references.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&(work, variant)) {
            return Ok(known.clone());
        }
        // Another job may do the same meanwhile, which costs a moment and no more.
        let reference = Reference::of(work, variant, &self.base).with_context(|| format!("{work:?}, undisturbed"))?;
        Ok(lock().entry((work, variant)).or_insert(Arc::new(reference)).clone())
    }

    /// How many system calls of each class a piece of work makes, as `count` finds it once.
    ///
    /// # Errors
    /// It cannot be counted.
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
        Err(error) => Err(format!("there is no C compiler: cc: {error}")),
    }
}
