//! The RustSec advisory database: a git repository with one file for each advisory.

use super::policy::{Dependency, Policy};
use anyhow::{Context, Result};
use cargo_metadata::semver::{Version, VersionReq};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ADDRESS: &str = "https://github.com/RustSec/advisory-db";

/// A copy of the database.
#[derive(Debug)]
pub struct Database {
    /// The names of all files of advisories.
    files: Vec<PathBuf>,
}

/// The part of an advisory that decides if it matters here.
#[derive(Debug, Deserialize)]
struct Advisory {
    advisory: Description,
    #[serde(default)]
    versions: Versions,
}

#[derive(Debug, Deserialize)]
struct Description {
    id: String,
    /// `notice` is the one kind that asks for nothing.
    informational: Option<String>,
    withdrawn: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Versions {
    #[serde(default)]
    patched: Vec<VersionReq>,
    #[serde(default)]
    unaffected: Vec<VersionReq>,
}

impl Database {
    /// Clones the database into a directory, or updates the clone there.
    ///
    /// # Errors
    /// The reason, when the database cannot be reached.
    pub fn fetch(directory: &Path) -> Result<Database, String> {
        let exists = directory.join(".git").is_dir();
        let mut git = Command::new("git");
        match exists {
            true => git.arg("-C").arg(directory).args(["pull", "--quiet", "--ff-only"]),
            false => git.args(["clone", "--quiet", "--depth", "1", ADDRESS]).arg(directory),
        };
        // A slow connection counts as a failed one, and nobody is present to answer a question.
        git.env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_HTTP_LOW_SPEED_LIMIT", "1000")
            .env("GIT_HTTP_LOW_SPEED_TIME", "20");
        let status = git.stdout(Stdio::null()).stderr(Stdio::null()).status();
        match status {
            Ok(status) if status.success() => Database::open(directory).map_err(|error| format!("{error:#}")),
            Ok(_) => Err(format!("{ADDRESS} cannot be reached")),
            Err(error) => Err(format!("git cannot be started: {error}")),
        }
    }

    /// Opens a clone.
    ///
    /// # Errors
    /// The directory holds no advisories.
    pub fn open(directory: &Path) -> Result<Database> {
        let mut files = Vec::new();
        let crates = directory.join("crates");
        for package in fs::read_dir(&crates).with_context(|| format!("cannot read {}", crates.display()))? {
            for file in fs::read_dir(package?.path())? {
                let path = file?.path();
                if path.extension().is_some_and(|extension| extension == "md") {
                    files.push(path);
                }
            }
        }
        Ok(Database { files })
    }

    /// Returns the number of advisories.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns one line for each advisory that affects a dependency and that the rules do not accept.
    ///
    /// # Errors
    /// An advisory cannot be read.
    pub fn faults(&self, dependencies: &[Dependency], policy: &Policy) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        for path in &self.files {
            let name = path.parent().and_then(Path::file_name).unwrap_or_default();
            for dependency in dependencies.iter().filter(|dependency| dependency.name.as_str() == name) {
                let Advisory { advisory, versions } = read(path)?;
                if advisory.asks_for_action()
                    && versions.are_affected(&dependency.version)
                    && !policy.advisories.accepts(&advisory.id)
                {
                    let kind = advisory.informational.as_deref().unwrap_or("vulnerability");
                    let id = &advisory.id;
                    faults.push(format!("{dependency}: {kind} {id}, https://rustsec.org/advisories/{id}.html"));
                }
            }
        }
        Ok(faults)
    }
}

impl Description {
    fn asks_for_action(&self) -> bool {
        self.withdrawn.is_none() && self.informational.as_deref() != Some("notice")
    }
}

impl Versions {
    fn are_affected(&self, version: &Version) -> bool {
        !self.patched.iter().chain(&self.unaffected).any(|safe| safe.matches(version))
    }
}

/// Reads the TOML at the head of an advisory, which is Markdown.
fn read(path: &Path) -> Result<Advisory> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let head = text.split_once("```toml").and_then(|(_, rest)| rest.split_once("\n```"));
    let (head, _) = head.with_context(|| format!("{}: expected TOML between fences", path.display()))?;
    toml::from_str(head).with_context(|| format!("{}", path.display()))
}
