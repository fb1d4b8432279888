//! A small project that every installed program indexes and searches.

use super::super::project::Project;
use super::super::tools::quietly;
use crate::run::root;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The question, and the file that answers it.
const QUESTION: (&str, &str) = ("when is a failed job tried again", "src/retry.rs");

/// The files of the project, of those in `xtask/conformance/project`.
const FILES: [&str; 4] = ["README.md", "src/lock.rs", "src/queue.rs", "src/retry.rs"];

/// Writes the project into a directory.
///
/// # Errors
/// The directory cannot be written.
pub fn write(to: &Path) -> Result<()> {
    for file in FILES {
        let path = to.join(file);
        fs::create_dir_all(path.parent().unwrap_or(to))?;
        fs::copy(root().join("xtask/conformance/project").join(file), path)
            .with_context(|| format!("{file} cannot be copied"))?;
    }
    Ok(())
}

/// Indexes and searches the project with an installed program, which `command` prepares to run in it.
///
/// # Errors
/// The program fails, is not the one that was built, or does not find the answer.
pub fn index_and_search(project: &Project, target: &str, command: impl Fn() -> Command) -> Result<()> {
    let version: Value = serde_json::from_str(&quietly(command().args(["version", "--json"]))?)?;
    ensure!(version["version"] == project.version.as_str(), "the program says that it is {version}");
    ensure!(version["target"] == target, "the program says that it is {version}");
    quietly(command().arg("index"))?;
    let (question, file) = QUESTION;
    let found = quietly(command().args(["search", "--files", question]))?;
    ensure!(found.lines().any(|line| line == file), "`tamis search {question:?}` found {found:?}; expected {file}");
    Ok(())
}

/// Gives a command directories of its own for everything that it keeps, and nothing of this process's environment but the path.
pub fn at_home(command: &mut Command, home: &Path) {
    command
        .env_clear()
        .env("HOME", home)
        .env("TAMIS_CONFIG_HOME", home.join("config"))
        .env("TAMIS_CACHE", home.join("cache"));
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
}
