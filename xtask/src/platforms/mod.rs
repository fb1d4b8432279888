//! `cargo xtask platforms`: checks that every crate named in the code is a dependency on every supported system.
//!
//! Nothing can be compiled for a system whose standard library is missing. Cargo and the compiler still know its dependencies and its
//! `cfg` values. So the check parses the sources as each system sees them, and compares the crates they name with the manifests.

mod conditions;
mod dependencies;
mod names;

#[cfg(test)]
mod tests;

use crate::run::root;
use anyhow::{Result, bail};
use conditions::Conditions;
use dependencies::{Available, Member, Members, Use};
use names::{Named, Sources};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The supported systems, except the one that Tamis is developed on.
const PLATFORMS: [&str; 5] = [
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
];

/// A crate that code names and a platform lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Missing {
    platform: String,
    /// The crate as code spells it.
    name: String,
    file: PathBuf,
    line: usize,
    /// The manifest, and its tables with the crate.
    manifest: PathBuf,
    tables: Vec<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missing { platform, name, file, line, manifest, tables } = self;
        write!(
            f,
            "{}:{line} names `{name}`, which {platform} does not have: {} lists it only under {}",
            file.display(),
            manifest.display(),
            tables.join(" and ")
        )
    }
}

/// Checks the workspace for every platform.
///
/// # Errors
/// A crate is missing on a platform, or a source file cannot be parsed.
pub fn run() -> Result<()> {
    let missing = Workspace::read(&root())?.missing()?;
    if missing.is_empty() {
        println!("every crate named in the code is a dependency on {}", PLATFORMS.join(", "));
        return Ok(());
    }
    missing.iter().for_each(|missing| eprintln!("{missing}"));
    bail!(
        "{} uses of crates that a platform does not have; move them to [dependencies], or put the code under the same cfg",
        missing.len()
    )
}

/// A workspace and its dependencies on every platform.
struct Workspace {
    root: PathBuf,
    members: Members,
    platforms: Vec<(&'static str, Conditions, Available)>,
}

impl Workspace {
    fn read(root: &Path) -> Result<Workspace> {
        let members = Members::read(root)?;
        let platform = |name| Ok((name, Conditions::of(name)?, members.available(root, name)?));
        let platforms = PLATFORMS.into_iter().map(platform).collect::<Result<_>>()?;
        Ok(Workspace { root: root.to_owned(), members, platforms })
    }

    /// Finds the first use of each crate that a platform lacks.
    fn missing(&self) -> Result<Vec<Missing>> {
        let mut missing = Vec::new();
        let mut sources = Sources::default();
        for (platform, conditions, available) in &self.platforms {
            for member in self.members.all() {
                let found = self.missing_of(member, conditions, available, &mut sources)?;
                missing.extend(found.into_iter().map(|(name, named)| Missing {
                    platform: (*platform).to_owned(),
                    tables: member.tables(&name),
                    file: self.short(&named.file),
                    line: named.line,
                    manifest: self.short(&member.manifest),
                    name,
                }));
            }
        }
        Ok(missing)
    }

    fn missing_of(
        &self,
        member: &Member,
        conditions: &Conditions,
        available: &Available,
        sources: &mut Sources,
    ) -> Result<BTreeMap<String, Named>> {
        let mut found = BTreeMap::new();
        for target in &member.targets {
            for in_tests in [false, true] {
                let used_as = match target.used_as {
                    // A build script has no tests.
                    Use::Build => Use::Build,
                    _ if in_tests => Use::Test,
                    used_as => used_as,
                };
                for (name, named) in names::of(&target.file, &conditions.with_test(in_tests), sources)? {
                    if member.declares(&name) && !available.has(member, &name, used_as) {
                        found.entry(name).or_insert(named);
                    }
                }
            }
        }
        Ok(found)
    }

    fn short(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }
}
