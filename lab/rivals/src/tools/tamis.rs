//! Tamis as it is built here.

use super::{Server, Tool, distinct, relative};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tamis with its own cut, or with always ten results.
pub struct Tamis {
    /// The program.
    pub program: PathBuf,
    /// True for always ten results.
    pub ten: bool,
}

impl Tool for Tamis {
    fn name(&self) -> &'static str {
        if self.ten { "tamis, ten results" } else { "tamis" }
    }

    fn called(&self) -> &'static str {
        match self.ten {
            true => "`tamis index`, `tamis search QUERY --json --no-gate --cut fixed:k=10`",
            false => "`tamis index`, `tamis search QUERY --json`; its own cut ends the list",
        }
    }

    fn install(&self) -> Result<()> {
        ensure!(self.program.is_file(), "{} is not built", self.program.display());
        Ok(())
    }

    fn command(&self) -> Command {
        Command::new(&self.program)
    }

    fn index(&self, tree: &Path) -> Option<Command> {
        let mut command = self.command();
        command.args(["index", "--json"]).current_dir(tree);
        Some(command)
    }

    fn stored(&self, tree: &Path) -> Vec<PathBuf> {
        vec![tree.join(".tamis")]
    }

    fn search(&self, tree: &Path, query: &str) -> Command {
        let mut command = self.command();
        command.args(["search", "--json", "-n", "10"]).current_dir(tree);
        if self.ten {
            command.args(["--no-gate", "--cut", "fixed:k=10"]);
        }
        // A question may begin with a dash.
        command.args(["--", query]);
        command
    }

    fn files(&self, tree: &Path, _: &str, out: &str) -> Result<Vec<String>> {
        listed(tree, out, "results").context("an answer without results")
    }

    fn files_below(&self, tree: &Path, out: &str) -> Vec<String> {
        // The ten results of the other row are all that is wanted there.
        if self.ten { Vec::new() } else { listed(tree, out, "nearest").unwrap_or_default() }
    }

    fn server(&self, tree: &Path) -> Option<Server> {
        // An agent does not choose the cut.
        if self.ten {
            return None;
        }
        let mut command = self.command();
        command.arg("mcp").current_dir(tree);
        Some(Server { command, tool: "search", arguments: json!({}) })
    }
}

/// The files of a list of the answer.
fn listed(tree: &Path, out: &str, list: &str) -> Option<Vec<String>> {
    let answer: Value = serde_json::from_str(out).ok()?;
    let files = answer[list].as_array()?.iter().filter_map(|hit| Some(relative(tree, hit["path"].as_str()?)));
    Some(distinct(files.collect()))
}
