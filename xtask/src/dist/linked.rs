//! What is linked in: the crates, their licences and the bill of materials.

use super::archive::LICENCES;
use super::project::{Project, export};
use super::target::Target;
use super::tools::{ABOUT, CYCLONEDX, quietly};
use crate::run::{as_by_hand, cargo_itself};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes the licence texts of everything that is linked into the programs for these targets.
///
/// # Errors
/// cargo-about fails, for example on a licence that its rules do not allow.
pub fn write_licences(project: &Project, targets: &[&Target], to: &Path) -> Result<()> {
    let rules = project.root.join("packaging/licences");
    let crates = project.work("licences")?.join("crates.txt");
    let mut command = ABOUT.command(project)?;
    // Without the network the texts are those in the packages, whatever their repositories say today.
    command.args(["generate", "--offline", "--locked", "--fail", "--manifest-path", "crates/cli/Cargo.toml", "-c"]);
    command.arg(rules.join("about.toml")).arg("-o").arg(&crates);
    targets.iter().for_each(|target| {
        command.args(["--target", target.triple]);
    });
    eprintln!("$ cargo about generate   # takes minutes");
    quietly(command.arg(rules.join("about.hbs")))?;
    let mut text = fs::read_to_string(crates)?;
    text.push_str(&fs::read_to_string(rules.join("not-crates.txt"))?);
    let models = project.root.join("models");
    for model in sorted(&models)? {
        if let Ok(notice) = fs::read_to_string(model.join("NOTICE")) {
            let name = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
            text.push_str(&format!("{}\nThe built-in model, part {name}\n\n{notice}\n", "-".repeat(80)));
        }
    }
    fs::write(to, text).with_context(|| format!("{} cannot be written", to.display()))
}

fn sorted(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| format!("{} cannot be read", directory.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Writes the bill of materials of the program for a target, in CycloneDX's JSON.
///
/// # Errors
/// cargo-cyclonedx fails.
pub fn write_sbom(project: &Project, target: &Target, to: &Path) -> Result<()> {
    // The tool writes beside every manifest of the workspace, so it gets a copy of it.
    let copy = project.empty_work("sbom")?;
    export(&copy)?;
    let mut command = CYCLONEDX.command(project)?;
    command.args(["cyclonedx", "--format", "json", "--spec-version", "1.5", "--no-build-deps", "--quiet"]);
    command.args([
        "--override-filename",
        "sbom",
        "--target",
        target.triple,
        "--manifest-path",
        "crates/cli/Cargo.toml",
    ]);
    command.env("SOURCE_DATE_EPOCH", project.time.to_string()).current_dir(&copy);
    quietly(&mut command)?;
    let text = fs::read_to_string(copy.join("crates/cli/sbom.json"))?;
    let path = copy.to_str().context("the directory's name is no Unicode")?;
    fs::write(to, text.replace(path, "/tamis")).with_context(|| format!("{} cannot be written", to.display()))?;
    fs::remove_dir_all(&copy)?;
    Ok(())
}

/// Returns name and version of each crate that is linked into the program for a target, as `name version`.
fn crates(target: &Target) -> Result<BTreeSet<String>> {
    let mut command = Command::new(cargo_itself());
    as_by_hand(&mut command).current_dir(crate::run::root());
    command.args(["tree", "--locked", "--package", "tamis-cli", "--edges", "normal", "--prefix", "none"]);
    command.args(["--target", target.triple, "--format", "{p}"]);
    let tree = quietly(&mut command)?;
    let name = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    Ok(tree.lines().filter_map(name).collect())
}

/// Looks for every linked crate in the licences, and returns a line about them.
///
/// # Errors
/// One is missing.
pub fn check_licences(file: &Path, targets: &[&Target]) -> Result<String> {
    let text = fs::read_to_string(file)?;
    let named: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let has = |wanted: &String| named.iter().any(|line| *line == wanted || line.starts_with(&format!("{wanted}  ")));
    let mut all = BTreeSet::new();
    for target in targets {
        all.extend(crates(target)?);
    }
    let missing: Vec<&String> = all.iter().filter(|name| !has(name)).collect();
    ensure!(missing.is_empty(), "{LICENCES} does not name {missing:?}");
    Ok(format!("names all {} crates that are linked in", all.len()))
}

/// Looks for every linked crate in a bill of materials, and returns a line about them.
///
/// # Errors
/// One is missing, or the file is not what it should be.
pub fn check_sbom(file: &Path, target: &Target) -> Result<String> {
    let text = fs::read_to_string(file)?;
    let sbom: Value = serde_json::from_str(&text).context("no JSON")?;
    ensure!(sbom["bomFormat"] == "CycloneDX", "it is no CycloneDX document");
    let own = &sbom["metadata"]["component"];
    let list = sbom["components"].as_array().context("it has no components")?;
    let name =
        |part: &Value| format!("{} {}", part["name"].as_str().unwrap_or(""), part["version"].as_str().unwrap_or(""));
    let named: BTreeSet<String> = list.iter().chain([own]).map(name).collect();
    let linked = crates(target)?;
    let missing: Vec<&String> = linked.difference(&named).collect();
    ensure!(missing.is_empty(), "it does not name {missing:?}");
    Ok(format!("names all {} crates that are linked in", linked.len()))
}
