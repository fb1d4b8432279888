//! The directories that pairs come from.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::run::root;

/// One package in this many is held out, by the hash of its name.
const HELD_OUT: u8 = 12;

/// The crates that nothing is learned from, because the project measures itself on them.
const EXCLUDED: &str = include_str!("../../static/excluded-crates.txt");

/// Returns the packages below WORK/code, and the crates of the project's lock file except the excluded ones, sorted.
pub fn list(work: &Path, crates: &Path) -> Result<Vec<PathBuf>> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let excluded: HashSet<&str> = EXCLUDED.lines().collect();
    let mut packages: Vec<PathBuf> = locked(&lock)
        .into_iter()
        // The excluded and what belongs to them; parsers of languages are generated tables.
        .filter(|(name, _)| {
            !excluded.contains(name) && !name.starts_with("tantivy") && !name.starts_with("tree-sitter")
        })
        .map(|(name, version)| crates.join(format!("{name}-{version}")))
        .filter(|path| path.is_dir())
        .collect();
    let code = work.join("code");
    for entry in fs::read_dir(&code).with_context(|| format!("cannot read {}", code.display()))? {
        packages.push(entry?.path());
    }
    packages.sort();
    Ok(packages)
}

/// Returns true for a package that nothing is learned from.
pub fn is_held_out(package: &Path) -> bool {
    let name = package.file_name().unwrap_or_default();
    blake3::hash(name.as_encoded_bytes()).as_bytes()[0].is_multiple_of(HELD_OUT)
}

/// The names and versions in a lock file.
fn locked(lock: &str) -> Vec<(&str, &str)> {
    let mut name = "";
    let mut found = Vec::new();
    for line in lock.lines() {
        if let Some(value) = line.strip_prefix("name = ") {
            name = value.trim_matches('"');
        } else if let Some(value) = line.strip_prefix("version = ").filter(|_| !name.is_empty()) {
            found.push((name, value.trim_matches('"')));
            name = "";
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_names_its_packages() {
        let lock = "version = 4\n\n[[package]]\nname = \"a-b\"\nversion = \"1.2.3+x\"\nsource = \"s\"\n";
        assert_eq!(locked(lock), [("a-b", "1.2.3+x")]);
    }
}
