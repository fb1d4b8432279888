//! `cargo xtask platforms`: every crate that the code names is a dependency on every system that Tamis is built for.
//!
//! Another system's standard library is not always at hand, and without it nothing can be compiled for that system. Its
//! list of dependencies and its `cfg` values can always be had, from cargo and from the compiler. So the sources are parsed
//! as each system sees them, and what they name is compared with what the manifests give there.

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

/// The systems that Tamis is built for, beside the one that it is developed on.
const PLATFORMS: [&str; 5] = [
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
];

/// A crate that code names and that a platform does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Missing {
    platform: String,
    /// The crate that is named, as code spells it.
    name: String,
    file: PathBuf,
    line: usize,
    /// The manifest of the code, and the tables of it in which the crate is.
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
pub fn run() -> Result<()> {
    let missing = Workspace::read(&root())?.missing()?;
    if missing.is_empty() {
        println!("every crate that the code names is there on {}", PLATFORMS.join(", "));
        return Ok(());
    }
    missing.iter().for_each(|missing| eprintln!("{missing}"));
    bail!(
        "{} uses of crates that a platform does not have; move them to [dependencies], or put the code under the same cfg",
        missing.len()
    )
}

/// What the manifests of a workspace give on every platform.
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

    /// The first place of each crate that a platform does not have.
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
                let used_as = if in_tests { Use::Test } else { target.used_as };
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
