//! Probe, which searches without an index and ranks what it finds.

use super::{Tool, cargo_install, cargo_program, files_of};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "0.6.0";

/// Probe.
pub struct Probe {
    /// The directory of all tools.
    pub tools: PathBuf,
}

impl Tool for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn called(&self) -> &'static str {
        "`probe search QUERY . --max-results 10 --format json`"
    }

    fn install(&self) -> Result<()> {
        cargo_install(&self.tools, "probe-code", VERSION, "probe")
    }

    fn command(&self) -> Command {
        Command::new(cargo_program(&self.tools, "probe-code", VERSION, "probe"))
    }

    fn search(&self, tree: &Path, query: &str) -> Command {
        let mut command = self.command();
        command.args(["search", query, ".", "--max-results", "10", "--format", "json"]).current_dir(tree);
        command
    }

    fn files(&self, tree: &Path, _: &str, out: &str) -> Result<Vec<String>> {
        files_of(tree, out, "file")
    }
}
