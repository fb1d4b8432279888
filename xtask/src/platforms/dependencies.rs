//! The members of a workspace, the dependencies that their manifests declare, and those that a platform has.

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId, TargetKind};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The kind of code that uses a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Code that is shipped.
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
    /// The name as code spells it.
    name: String,
    kind: DependencyKind,
    /// The condition of its table.
    condition: Option<String>,
}

/// A package of the workspace.
#[derive(Debug)]
pub struct Member {
    id: PackageId,
    pub manifest: PathBuf,
    pub targets: Vec<Target>,
    declared: Vec<Declared>,
}

impl Member {
    /// Returns true when any table of the manifest has a crate of this name.
    pub fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|declared| declared.name == name)
    }

    /// Returns the headings of the tables that have a crate.
    pub fn tables(&self, name: &str) -> Vec<String> {
        let heading = |declared: &Declared| {
            let kind = match declared.kind {
                DependencyKind::Development => "dev-dependencies",
                DependencyKind::Build => "build-dependencies",
                _ => "dependencies",
            };
            match &declared.condition {
                Some(condition) => format!("[target.'{condition}'.{kind}]"),
                None => format!("[{kind}]"),
            }
        };
        self.declared.iter().filter(|declared| declared.name == name).map(heading).collect()
    }
}

/// The packages of a workspace.
#[derive(Debug)]
pub struct Members(Vec<Member>);

impl Members {
    /// Reads the manifests.
    pub fn read(root: &Path) -> Result<Members> {
        let metadata = metadata(root, MetadataCommand::new().no_deps())?;
        Ok(Members(metadata.packages.into_iter().map(member).collect()))
    }

    /// Returns every package.
    pub fn all(&self) -> &[Member] {
        &self.0
    }

    /// Resolves the dependencies of each member on a platform.
    pub fn available(&self, root: &Path, platform: &str) -> Result<Available> {
        let options = vec!["--filter-platform".to_owned(), platform.to_owned()];
        let metadata = metadata(root, MetadataCommand::new().other_options(options))?;
        let resolve = metadata.resolve.context("cargo metadata has no resolve")?;
        let mut available = HashMap::new();
        for node in resolve.nodes.into_iter().filter(|node| self.0.iter().any(|member| member.id == node.id)) {
            let kinds = node
                .deps
                .iter()
                .flat_map(|dependency| dependency.dep_kinds.iter().map(|kind| (dependency.name.clone(), kind.kind)));
            available.insert(node.id.clone(), kinds.collect());
        }
        Ok(Available(available))
    }
}

/// The dependencies of each member on a platform, with their kinds.
#[derive(Debug)]
pub struct Available(HashMap<PackageId, HashSet<(String, DependencyKind)>>);

impl Available {
    /// Returns true when code of a member may name a crate.
    pub fn has(&self, member: &Member, name: &str, used_as: Use) -> bool {
        let kinds: &[DependencyKind] = match used_as {
            Use::Normal => &[DependencyKind::Normal],
            Use::Test => &[DependencyKind::Normal, DependencyKind::Development],
            Use::Build => &[DependencyKind::Build],
        };
        let Some(names) = self.0.get(&member.id) else { return false };
        kinds.iter().any(|&kind| names.contains(&(name.to_owned(), kind)))
    }
}

fn metadata(root: &Path, command: &mut MetadataCommand) -> Result<Metadata> {
    Ok(command.current_dir(root).exec()?)
}

fn member(package: Package) -> Member {
    let targets = package.targets.iter().map(|target| {
        let used_as = match target.kind.first() {
            Some(TargetKind::CustomBuild) => Use::Build,
            Some(TargetKind::Test | TargetKind::Bench | TargetKind::Example) => Use::Test,
            _ => Use::Normal,
        };
        Target { file: target.src_path.clone().into(), used_as }
    });
    let declared = package.dependencies.iter().map(|dependency| Declared {
        name: dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_"),
        kind: dependency.kind,
        condition: dependency.target.as_ref().map(ToString::to_string),
    });
    Member {
        targets: targets.collect(),
        declared: declared.collect(),
        manifest: package.manifest_path.clone().into(),
        id: package.id,
    }
}
