//! The tools, each asked in its simplest way with its defaults.

mod probe;
mod qmd;
mod ripgrep;
mod semble;
mod sifs;
mod tamis;

use crate::run::Place;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One way to ask one tool.
pub trait Tool {
    /// Its name in the table.
    fn name(&self) -> &'static str;

    /// The way it is called, for readers of the table.
    fn called(&self) -> &'static str;

    /// Installs it into the directory of all tools, if it is not there yet.
    ///
    /// # Errors
    /// It cannot be installed; the message is the reason in the table.
    fn install(&self) -> Result<()>;

    /// The program, without arguments.
    fn command(&self) -> Command;

    /// The command that prints its version.
    fn version(&self) -> Command {
        let mut command = self.command();
        command.arg("--version");
        command
    }

    /// The command that indexes a tree; `None` if there is nothing to index.
    fn index(&self, _: &Path) -> Option<Command> {
        None
    }

    /// Where it keeps the index of a tree.
    fn stored(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The command that answers a question, with at most ten results where it can be told.
    fn search(&self, tree: &Path, query: &str) -> Command;

    /// The files in an answer, best first, relative to the tree.
    ///
    /// # Errors
    /// The answer cannot be read.
    fn files(&self, tree: &Path, query: &str, out: &str) -> Result<Vec<String>>;

    /// The files that an answer names as less likely, below where it ends.
    fn files_below(&self, tree: &Path, out: &str) -> Vec<String> {
        let _ = (tree, out);
        Vec::new()
    }

    /// The server for agents, if it has one, and the call of a search.
    fn server(&self, tree: &Path) -> Option<Server> {
        let _ = tree;
        None
    }
}

/// A server for agents on standard input and output.
pub struct Server {
    /// The command that starts it.
    pub command: Command,
    /// The tool that searches.
    pub tool: &'static str,
    /// The arguments of a search besides the query.
    pub arguments: Value,
}

/// Returns all tools, each with a home directory of its own. `tools` is the directory that they are installed into, `tamis` our own
/// program.
pub fn all(tools: &Path, tamis: &Path, place: &Place) -> Vec<(Place, Box<dyn Tool>)> {
    let tools = tools.to_owned();
    let home = |name: &str| Place { home: place.home.join(name), ..place.clone() };
    let mut all: Vec<(Place, Box<dyn Tool>)> = Vec::new();
    for (name, ten) in [("tamis", false), ("tamis-ten", true)] {
        all.push((home(name), Box::new(tamis::Tamis { program: tamis.to_owned(), ten })));
    }
    all.push((home("ripgrep"), Box::new(ripgrep::Ripgrep { tools: tools.clone() })));
    for (name, words) in [("sifs-words", true), ("sifs", false)] {
        let place = home(name);
        all.push((place.clone(), Box::new(sifs::Sifs { tools: tools.clone(), place, words })));
    }
    all.push((home("probe"), Box::new(probe::Probe { tools: tools.clone() })));
    let place = home("semble");
    all.push((place.clone(), Box::new(semble::Semble { tools: tools.clone(), place })));
    for (name, words) in [("qmd-words", true), ("qmd", false)] {
        let place = home(name);
        all.push((place.clone(), Box::new(qmd::Qmd { tools: tools.clone(), place, words })));
    }
    all
}

/// Installs a crate's program with cargo, unless it is there.
fn cargo_install(tools: &Path, package: &str, version: &str, program: &str) -> Result<()> {
    let root = tools.join(format!("{package}-{version}"));
    if root.join("bin").join(program).is_file() {
        return Ok(());
    }
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    command.args(["install", "--locked", "--quiet", "--version", version, package, "--root"]).arg(&root);
    command.arg("--target-dir").arg(tools.join("build"));
    run(&mut command, package)
}

/// The program that [`cargo_install`] installed.
fn cargo_program(tools: &Path, package: &str, version: &str, program: &str) -> PathBuf {
    tools.join(format!("{package}-{version}")).join("bin").join(program)
}

/// Runs a step of an installation.
fn run(command: &mut Command, what: &str) -> Result<()> {
    let output = command.output().with_context(|| format!("{:?} cannot be started", command.get_program()))?;
    let (err, out) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    ensure!(output.status.success(), "{what} cannot be installed: {}", crate::run::reason(&err, &out));
    Ok(())
}

/// A path as the questions name it: relative to the tree.
fn relative(tree: &Path, path: &str) -> String {
    let root = tree.to_string_lossy();
    let under = path.strip_prefix(&*root).unwrap_or(path);
    under.trim_start_matches("./").trim_start_matches('/').to_owned()
}

/// The values of a key wherever it stands in JSON, in order.
fn every(value: &Value, key: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| every(value, key, found)),
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get(key) {
                found.push(text.clone());
            }
            fields.values().for_each(|value| every(value, key, found));
        }
        _ => {}
    }
}

/// Each file once, in the order of its best result.
fn distinct(files: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for file in files {
        if !kept.contains(&file) {
            kept.push(file);
        }
    }
    kept
}

/// The files of an answer in JSON, under this key.
fn files_of(tree: &Path, out: &str, key: &str) -> Result<Vec<String>> {
    let start = out.find(['{', '[']).unwrap_or(0);
    // Some tools write more after it.
    let value: Value = serde_json::Deserializer::from_str(&out[start..])
        .into_iter()
        .next()
        .and_then(Result::ok)
        .with_context(|| format!("the answer is no JSON: {:?}", out.chars().take(80).collect::<String>()))?;
    let mut files = Vec::new();
    every(&value, key, &mut files);
    Ok(distinct(files.iter().map(|file| relative(tree, file)).collect()))
}

/// A call of a tool in the protocol's form.
pub fn call(id: u64, tool: &str, arguments: &Value, query: &str) -> Value {
    let mut arguments = arguments.clone();
    arguments["query"] = json!(query);
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}
