//! `cargo xtask package`: the release check.
//!
//! Every crate must stand on its own in the registry: with its metadata, licence files and README, with every file that its code
//! includes, and below the registry's limit. The check prints the crates in the order in which they can be published.

mod includes;
mod manifest;
#[cfg(test)]
mod tests;

use crate::run::{as_by_hand, cargo, cargo_itself, root};
use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const USAGE: &str = "\
cargo xtask package            check every crate, pack it and print its size, in the order of publishing
cargo xtask package --verify   the same, and compile each crate from its package (takes as long as a build)
";

/// The registry's limit for a compressed package, in bytes.
const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// Checks and packs all crates.
///
/// # Errors
/// A crate cannot be published as it is.
pub fn run(arguments: &[String]) -> Result<()> {
    let verify = match arguments {
        [] => false,
        [flag] if flag == "--verify" => true,
        _ => bail!("{USAGE}"),
    };
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec()?;
    let crates = check(&metadata)?;
    println!("{} crates can be published", crates.len());
    let names = crates.iter().flat_map(|package| ["--package", package.name.as_str()]);
    let mut arguments: Vec<&str> = ["package", "--allow-dirty"].into_iter().chain(names).collect();
    if !verify {
        arguments.push("--no-verify");
    }
    cargo(&arguments)?;
    let mut faults = Vec::new();
    for package in &crates {
        let file = format!("{}-{}.crate", package.name, package.version);
        let path = metadata.target_directory.join("package").join(&file);
        let bytes = fs::metadata(&path).with_context(|| format!("cannot read {path}"))?.len();
        println!("{:>9.1} kB  {} {}", bytes as f64 / 1e3, package.name, package.version);
        if bytes > MAX_BYTES {
            faults.push(format!("{file} has {bytes} bytes; the registry takes {MAX_BYTES}"));
        }
    }
    fail(&faults)
}

/// Checks everything that needs no packing, in a few seconds. Returns the crates in the order of publishing.
///
/// # Errors
/// A crate cannot be published as it is.
fn check(metadata: &Metadata) -> Result<Vec<Package>> {
    let crates = in_order(metadata)?;
    let root = metadata.workspace_root.as_std_path();
    let mut faults = Vec::new();
    for package in &crates {
        let files = packed(package)?;
        faults.extend(manifest::faults(package, root, &files)?);
        faults.extend(includes::faults(package, &files)?);
    }
    fail(&faults)?;
    Ok(crates)
}

fn fail(faults: &[String]) -> Result<()> {
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    ensure!(faults.is_empty(), "{} faults stand in the way of publishing", faults.len());
    Ok(())
}

/// Returns the crates that are published, each after those it depends on.
fn in_order(metadata: &Metadata) -> Result<Vec<Package>> {
    let is_published = |package: &&Package| package.publish.as_ref().is_none_or(|registries| !registries.is_empty());
    let mut waiting: Vec<&Package> = metadata.packages.iter().filter(is_published).collect();
    waiting.sort_by_key(|package| &package.name);
    let mut order: Vec<Package> = Vec::new();
    while !waiting.is_empty() {
        let names: BTreeSet<String> = waiting.iter().map(|package| package.name.to_string()).collect();
        let depends =
            |package: &&Package| package.dependencies.iter().any(|dependency| names.contains(&dependency.name));
        let (blocked, ready): (Vec<&Package>, Vec<&Package>) = waiting.into_iter().partition(depends);
        ensure!(
            !ready.is_empty(),
            "these crates depend on each other in a circle: {}",
            Vec::from_iter(names).join(", ")
        );
        order.extend(ready.into_iter().cloned());
        waiting = blocked;
    }
    Ok(order)
}

/// Returns the files that cargo puts into a package, relative to the crate.
fn packed(package: &Package) -> Result<BTreeSet<PathBuf>> {
    let output = as_by_hand(&mut Command::new(cargo_itself()))
        .args(["package", "--list", "--allow-dirty", "--package", package.name.as_str()])
        .current_dir(directory(package))
        .output()
        .context("cargo cannot be started")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo package --list --package {} failed: {errors}", package.name);
    Ok(String::from_utf8(output.stdout)?.lines().map(PathBuf::from).collect())
}

/// Returns the directory of a crate.
fn directory(package: &Package) -> &Path {
    package.manifest_path.parent().map_or(Path::new("."), |directory| directory.as_std_path())
}
