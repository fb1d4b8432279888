//! The parts of a package that the registry and its readers ask for: metadata, a README and the licences.

use super::directory;
use anyhow::{Context, Result};
use cargo_metadata::Package;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The file of each licence. The workspace has it at its root, every crate has a copy.
const LICENCES: [(&str, &str); 2] = [("MIT", "LICENSE-MIT"), ("Apache-2.0", "LICENSE-APACHE")];

/// The registry's limits.
const MAX_KEYWORDS: usize = 5;
const MAX_KEYWORD: usize = 20;
const MAX_CATEGORIES: usize = 5;

/// Returns one line for each missing or unusable part.
///
/// # Errors
/// A file cannot be read.
pub fn faults(package: &Package, root: &Path, files: &BTreeSet<PathBuf>) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut require = |holds: bool, fault: String| {
        if !holds {
            faults.push(format!("{}: {fault}", package.name));
        }
    };
    require(
        package.description.as_deref().is_some_and(|text| !text.is_empty()),
        "Cargo.toml has no description".into(),
    );
    require(package.rust_version.is_some(), "Cargo.toml has no rust-version".into());
    let (keywords, categories) = (&package.keywords, &package.categories);
    require(
        (1..=MAX_KEYWORDS).contains(&keywords.len()) && keywords.iter().all(|keyword| keyword.len() <= MAX_KEYWORD),
        format!("keywords are {keywords:?}; expected 1 to {MAX_KEYWORDS} of at most {MAX_KEYWORD} characters"),
    );
    require(
        (1..=MAX_CATEGORIES).contains(&categories.len()),
        format!("categories are {categories:?}; expected 1 to {MAX_CATEGORIES}"),
    );
    require(files.contains(Path::new("README.md")), "README.md is missing".into());
    let licence = package.license.as_deref().unwrap_or_default();
    let needed: Vec<_> =
        LICENCES.iter().filter(|(name, _)| licence.split(" OR ").any(|choice| choice == *name)).collect();
    require(!needed.is_empty(), format!("license is {licence:?}; expected MIT, Apache-2.0 or both"));
    for (_, file) in needed {
        let original = root.join(file);
        let original = fs::read(&original).with_context(|| format!("cannot read {}", original.display()))?;
        let copy = fs::read(directory(package).join(file)).ok();
        require(
            files.contains(Path::new(file)) && copy.as_ref() == Some(&original),
            format!("{file} must be a copy of the workspace's"),
        );
    }
    Ok(faults)
}
