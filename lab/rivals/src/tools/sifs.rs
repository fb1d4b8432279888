//! SIFS, by words alone as it runs without a model, and with its default, which needs one.

use super::{Server, Tool, cargo_install, cargo_program, files_of};
use crate::run::Place;
use anyhow::Result;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "0.4.0";

/// SIFS.
pub struct Sifs {
    /// The directory of all tools.
    pub tools: PathBuf,
    /// Where its cache is.
    pub place: Place,
    /// True for words alone.
    pub words: bool,
}

impl Tool for Sifs {
    fn name(&self) -> &'static str {
        if self.words { "sifs, words alone" } else { "sifs" }
    }

    fn called(&self) -> &'static str {
        match self.words {
            true => "`sifs search QUERY --source . --mode bm25 --offline --limit 10 --json`; its first search indexes",
            false => "`sifs search QUERY --source . --offline --limit 10 --json`",
        }
    }

    fn install(&self) -> Result<()> {
        cargo_install(&self.tools, "sifs", VERSION, "sifs")
    }

    fn command(&self) -> Command {
        Command::new(cargo_program(&self.tools, "sifs", VERSION, "sifs"))
    }

    fn index(&self, tree: &Path) -> Option<Command> {
        Some(self.search(tree, "first search"))
    }

    fn stored(&self, _: &Path) -> Vec<PathBuf> {
        vec![self.place.home.join("cache/sifs")]
    }

    fn search(&self, tree: &Path, query: &str) -> Command {
        let mut command = self.command();
        command.args(["search", "--source", ".", "--offline", "--limit", "10", "--json"]).current_dir(tree);
        if self.words {
            command.args(["--mode", "bm25"]);
        }
        command.args(["--", query]);
        command
    }

    fn files(&self, tree: &Path, _: &str, out: &str) -> Result<Vec<String>> {
        files_of(tree, out, "file_path")
    }

    fn server(&self, tree: &Path) -> Option<Server> {
        let mut command = self.command();
        command.args(["mcp", "--source", ".", "--offline"]).current_dir(tree);
        let arguments = json!({ "mode": if self.words { "bm25" } else { "hybrid" }, "limit": 10 });
        Some(Server { command, tool: "search", arguments })
    }
}
