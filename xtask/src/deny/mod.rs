//! `cargo xtask deny`: licences, duplicates, sources and security advisories of every dependency.
//!
//! The rules are in `deny.toml`, in the format of [cargo-deny](https://embarkstudios.github.io/cargo-deny/). Where cargo-deny is
//! installed, it does the checking. It takes minutes to build, more than a clean checkout can spare, so elsewhere this module applies
//! the same rules to the output of `cargo metadata`.

mod advisories;
mod policy;
#[cfg(test)]
mod tests;

use crate::run::{cargo, cargo_itself, root};
use advisories::Database;
use anyhow::{Result, bail};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};
use policy::{Dependency, Policy};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::process::{Command, Stdio};

/// Checks all dependencies and prints a line for each kind of check.
///
/// # Errors
/// A dependency breaks a rule, or the rules cannot be read.
pub fn run() -> Result<()> {
    let policy = Policy::read(&root().join("deny.toml"))?;
    let database = Database::fetch(&root().join("target/advisory-db"));
    if is_installed() {
        cargo(&["deny", "check", "licenses", "bans", "sources"])?;
        return match database {
            Ok(_) => cargo(&["deny", "check", "advisories"]),
            Err(reason) => skipped(&reason),
        };
    }
    let dependencies = dependencies(&policy)?;
    let mut faults = policy.faults(&dependencies);
    println!("{} dependencies: licences, duplicates and sources checked", dependencies.len());
    match database {
        Ok(database) => {
            faults.extend(database.faults(&dependencies, &policy)?);
            println!("{} advisories checked", database.len());
        }
        Err(reason) => skipped(&reason)?,
    }
    if faults.is_empty() {
        return Ok(());
    }
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    bail!("{} dependencies break the rules of deny.toml", faults.len())
}

fn skipped(reason: &str) -> Result<()> {
    println!("advisories skipped: {reason}");
    Ok(())
}

fn is_installed() -> bool {
    let mut command = Command::new(cargo_itself());
    let output = command.args(["deny", "--version"]).stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

/// Returns the dependencies on all platforms of the rules, except the workspace's own crates. Like cargo-deny, it leaves out
/// dependencies of tests.
fn dependencies(policy: &Policy) -> Result<Vec<Dependency>> {
    let mut found = BTreeMap::new();
    for target in &policy.graph.targets {
        let options = vec!["--filter-platform".to_owned(), target.clone(), "--locked".to_owned()];
        let metadata = MetadataCommand::new().current_dir(root()).other_options(options).exec()?;
        let used = shipped(&metadata);
        for package in &metadata.packages {
            if used.contains(&package.id) && !metadata.workspace_members.contains(&package.id) {
                found.entry(package.id.clone()).or_insert_with(|| Dependency {
                    name: package.name.to_string(),
                    version: package.version.clone(),
                    licence: package.license.clone(),
                    source: package.source.as_ref().map(ToString::to_string),
                });
            }
        }
    }
    Ok(found.into_values().collect())
}

/// Returns the packages that the workspace needs without its tests.
fn shipped(metadata: &Metadata) -> HashSet<&PackageId> {
    let mut nodes = HashMap::new();
    nodes.extend(metadata.resolve.iter().flat_map(|resolve| &resolve.nodes).map(|node| (&node.id, node)));
    let mut found = HashSet::new();
    let mut waiting: Vec<&PackageId> = metadata.workspace_members.iter().collect();
    while let Some(id) = waiting.pop() {
        if found.insert(id)
            && let Some(node) = nodes.get(id)
        {
            let is_shipped = |kinds: &[cargo_metadata::DepKindInfo]| {
                kinds.iter().any(|kind| kind.kind != DependencyKind::Development)
            };
            waiting.extend(node.deps.iter().filter(|dep| is_shipped(&dep.dep_kinds)).map(|dep| &dep.pkg));
        }
    }
    found
}
