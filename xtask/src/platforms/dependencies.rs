//! What the manifests say: the members of a workspace, what each declares, and what a platform has of it.

use crate::run::{as_by_hand, cargo_itself};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which dependencies code may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// What is shipped.
    Normal,
    /// Tests, examples and benchmarks.
    Test,
    /// A build script.
    Build,
}

/// A file that the compiler starts from.
#[derive(Debug)]
pub struct Target {
    pub file: PathBuf,
    pub used_as: Use,
}

/// A dependency as a manifest declares it.
#[derive(Debug)]
struct Declared {
    /// As code spells it.
    name: String,
    kind: String,
    /// The condition of its table.
    condition: Option<String>,
}

/// A package of the workspace.
#[derive(Debug)]
pub struct Member {
    id: String,
    pub manifest: PathBuf,
    pub targets: Vec<Target>,
    declared: Vec<Declared>,
}

impl Member {
    /// Whether a crate of this name is a dependency anywhere.
    pub fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|declared| declared.name == name)
    }

    /// The tables of the manifest that have a crate.
    pub fn tables(&self, name: &str) -> Vec<String> {
        let of = |declared: &Declared| {
            let kind = match declared.kind.as_str() {
                "dev" => "dev-dependencies",
                "build" => "build-dependencies",
                _ => "dependencies",
            };
            match &declared.condition {
                Some(condition) => format!("[target.'{condition}'.{kind}]"),
                None => format!("[{kind}]"),
            }
        };
        self.declared.iter().filter(|declared| declared.name == name).map(of).collect()
    }
}

/// The packages of a workspace.
#[derive(Debug)]
pub struct Members(Vec<Member>);

impl Members {
    /// Reads the manifests.
    pub fn read(root: &Path) -> Result<Members> {
        let metadata = metadata(root, &["--no-deps"])?;
        list(&metadata["packages"]).iter().map(member).collect::<Result<_>>().map(Members)
    }

    pub fn all(&self) -> &[Member] {
        &self.0
    }

    /// What a platform has.
    pub fn available(&self, root: &Path, platform: &str) -> Result<Available> {
        let metadata = metadata(root, &["--filter-platform", platform])?;
        let mut available = HashMap::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            let id = text(&node["id"])?;
            if !self.0.iter().any(|member| member.id == id) {
                continue;
            }
            let mut names = HashSet::new();
            for dependency in list(&node["deps"]) {
                for kind in list(&dependency["dep_kinds"]) {
                    names.insert((text(&dependency["name"])?, kind["kind"].as_str().unwrap_or("normal").to_owned()));
                }
            }
            available.insert(id, names);
        }
        Ok(Available(available))
    }
}

/// The dependencies of each member on a platform, with their kinds.
#[derive(Debug)]
pub struct Available(HashMap<String, HashSet<(String, String)>>);

impl Available {
    /// Whether code of a member may name a crate.
    pub fn has(&self, member: &Member, name: &str, used_as: Use) -> bool {
        let kinds: &[&str] = match used_as {
            Use::Normal => &["normal"],
            Use::Test => &["normal", "dev"],
            Use::Build => &["build"],
        };
        let Some(names) = self.0.get(&member.id) else { return false };
        kinds.iter().any(|kind| names.contains(&(name.to_owned(), (*kind).to_owned())))
    }
}

fn metadata(root: &Path, arguments: &[&str]) -> Result<Value> {
    let output = as_by_hand(&mut Command::new(cargo_itself()))
        .args(["metadata", "--format-version", "1"])
        .args(arguments)
        .current_dir(root)
        .output()
        .context("cargo cannot be started")?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn member(package: &Value) -> Result<Member> {
    let mut targets = Vec::new();
    for target in list(&package["targets"]) {
        let kinds: Vec<&str> = list(&target["kind"]).iter().filter_map(Value::as_str).collect();
        let used_as = match kinds.as_slice() {
            ["custom-build"] => Use::Build,
            ["test" | "bench" | "example"] => Use::Test,
            _ => Use::Normal,
        };
        targets.push(Target { file: PathBuf::from(text(&target["src_path"])?), used_as });
    }
    let mut declared = Vec::new();
    for dependency in list(&package["dependencies"]) {
        let name =
            dependency["rename"].as_str().map_or_else(|| text(&dependency["name"]), |name| Ok(name.to_owned()))?;
        declared.push(Declared {
            name: name.replace('-', "_"),
            kind: dependency["kind"].as_str().unwrap_or("normal").to_owned(),
            condition: dependency["target"].as_str().map(str::to_owned),
        });
    }
    Ok(Member {
        id: text(&package["id"])?,
        manifest: PathBuf::from(text(&package["manifest_path"])?),
        targets,
        declared,
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("cargo metadata has {value} where a text is expected"))
}
