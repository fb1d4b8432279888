//! Semble, from the Python package index.

use super::{Tool, files_of, run};
use crate::run::Place;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "0.7.0";

/// Semble.
pub struct Semble {
    /// The directory of all tools.
    pub tools: PathBuf,
    /// Where its cache is.
    pub place: Place,
}

impl Semble {
    fn environment(&self) -> PathBuf {
        self.tools.join(format!("semble-{VERSION}"))
    }
}

impl Tool for Semble {
    fn name(&self) -> &'static str {
        "semble"
    }

    fn called(&self) -> &'static str {
        "`semble search QUERY . -k 10`; its first search indexes"
    }

    fn install(&self) -> Result<()> {
        let environment = self.environment();
        if environment.join("bin/semble").is_file() {
            return Ok(());
        }
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment), "semble")?;
        let package = format!("semble=={VERSION}");
        run(Command::new(environment.join("bin/pip")).args(["install", "--quiet", &package]), "semble")
    }

    fn command(&self) -> Command {
        Command::new(self.environment().join("bin/semble"))
    }

    fn index(&self, tree: &Path) -> Option<Command> {
        Some(self.search(tree, "first search"))
    }

    fn stored(&self, _: &Path) -> Vec<PathBuf> {
        vec![self.place.home.join("cache/semble")]
    }

    fn search(&self, tree: &Path, query: &str) -> Command {
        let mut command = self.command();
        command.args(["search", query, ".", "-k", "10"]).current_dir(tree);
        command
    }

    fn files(&self, tree: &Path, _: &str, out: &str) -> Result<Vec<String>> {
        files_of(tree, out, "file_path")
    }
}
