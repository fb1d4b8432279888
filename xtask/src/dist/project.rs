//! The facts about the project that go into the files of a release.

use super::options::Options;
use crate::run::root;
use anyhow::{Context, Result, ensure};
use cargo_metadata::MetadataCommand;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Stands for the address of the repository while there is none. No name under `.invalid` can ever be registered.
const NO_REPOSITORY: &str = "https://repository.invalid/tamis";

/// The facts.
#[derive(Clone, Debug)]
pub struct Project {
    /// Root of the checkout.
    pub root: PathBuf,
    /// Cargo's directory for what it builds.
    pub target_directory: PathBuf,
    /// Version of all crates.
    pub version: String,
    /// The command in one line.
    pub description: String,
    /// Address of the repository.
    pub repository: String,
    /// Commit that is checked out.
    pub commit: String,
    /// Time of the commit, in seconds since 1970. Files in archives have it, so that they do not depend on the day.
    pub time: u64,
}

impl Project {
    /// Reads `Cargo.toml` and asks git.
    ///
    /// # Errors
    /// Cargo or git fails, or this is no checkout.
    pub fn read(options: &Options) -> Result<Project> {
        let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec()?;
        let command = metadata.packages.iter().find(|package| *package.name == "tamis-cli");
        let command = command.context("the workspace has no package tamis-cli")?;
        let repository = options.repository.clone().or_else(|| command.repository.clone());
        let time = git(&["log", "-1", "--format=%ct"])?;
        Ok(Project {
            root: root(),
            target_directory: metadata.target_directory.into_std_path_buf(),
            version: command.version.to_string(),
            description: command.description.clone().unwrap_or_default(),
            repository: repository.unwrap_or_else(|| NO_REPOSITORY.to_owned()),
            commit: git(&["rev-parse", "HEAD"])?,
            time: time.parse().with_context(|| format!("git gave the time {time:?}"))?,
        })
    }

    /// Returns the directory of the finished files.
    pub fn out(&self) -> PathBuf {
        self.target_directory.join("dist")
    }

    /// Returns a directory for what is on the way, made if missing.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn work(&self, name: &str) -> Result<PathBuf> {
        let directory = self.target_directory.join("dist-work").join(name);
        fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        Ok(directory)
    }

    /// Returns the same directory, emptied.
    ///
    /// # Errors
    /// It cannot be emptied.
    pub fn empty_work(&self, name: &str) -> Result<PathBuf> {
        let directory = self.work(name)?;
        fs::remove_dir_all(&directory).with_context(|| format!("{} cannot be emptied", directory.display()))?;
        self.work(name)
    }

    /// Returns true if there is an address for the packages.
    pub fn has_repository(&self) -> bool {
        self.repository != NO_REPOSITORY
    }
}

/// Writes the files of the commit that is checked out into a directory. They get the present time: cargo would take older ones for
/// built already.
///
/// # Errors
/// git fails, or the directory cannot be written.
pub fn export(to: &Path) -> Result<()> {
    let output = Command::new("git").args(["archive", "--format=tar", "HEAD"]).current_dir(root()).output()?;
    ensure!(output.status.success(), "git archive failed: {}", String::from_utf8_lossy(&output.stderr));
    let mut archive = tar::Archive::new(output.stdout.as_slice());
    archive.set_preserve_mtime(false);
    archive.unpack(to).with_context(|| format!("{} cannot be written", to.display()))
}

/// Returns the files that differ from the commit.
///
/// # Errors
/// git fails.
pub fn uncommitted() -> Result<String> {
    git(&["status", "--porcelain"])
}

fn git(arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).current_dir(root()).output().context("git cannot be started")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {} failed: {errors}", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
