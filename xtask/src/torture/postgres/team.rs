//! A team's processes: servers, workers, and a tree.

use super::super::sandbox::{Running, Sandbox};
use super::super::server::exchange;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The limit for a server to start, and to answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A tree whose index is in the database.
pub struct Team {
    pub sandbox: Sandbox,
    url: String,
    namespace: String,
}

/// A server under its address.
pub struct Served {
    pub running: Running,
    pub address: String,
}

impl Team {
    /// Makes an empty tree.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(binary: &Path, url: &str, namespace: &str) -> Result<Team> {
        Ok(Team { sandbox: Sandbox::empty(binary)?, url: url.to_owned(), namespace: namespace.to_owned() })
    }

    /// Prepares the program with the database.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        command.env("TAMIS_STORE_URL", &self.url).env("TAMIS_STORE_NAMESPACE", &self.namespace);
        command
    }

    /// Runs the program and returns its output.
    ///
    /// # Errors
    /// It did not end with one of these codes.
    pub fn run(&self, arguments: &[&str], codes: &[i32]) -> Result<String> {
        let ended = Running::start(&mut self.command(arguments))?.end()?;
        ensure!(ended.code().is_some_and(|code| codes.contains(&code)), "tamis {}: {ended}", arguments.join(" "));
        Ok(ended.out)
    }

    /// Queues the tree.
    ///
    /// # Errors
    /// The program fails.
    pub fn queue(&self) -> Result<()> {
        let tree = self.sandbox.tree();
        self.run(&["jobs", "add", "--namespace", &self.namespace, &tree.to_string_lossy()], &[0]).map(drop)
    }

    /// Starts a worker, which ends when nothing is left to do.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn worker(&self) -> Result<Running> {
        let root = self.sandbox.directory().to_string_lossy().into_owned();
        Running::start(&mut self.command(&["jobs", "run", "--until-empty", "--root", &root]))
    }

    /// Starts a server that reads no tree itself.
    ///
    /// # Errors
    /// It does not say where it serves.
    pub fn serve(&self) -> Result<Served> {
        let arguments = [
            "serve", "--http", "127.0.0.1:0", "--no-refresh", "--output-schemas", "--allow-remember",
            "--allow-feedback", "--log", "warn",
        ];
        let running = Running::start(&mut self.command(&arguments))?;
        loop {
            let Ok(line) = running.lines.recv_timeout(TIMEOUT) else {
                bail!("the server did not print its address: {}", running.kill()?);
            };
            if let Some(rest) = line.strip_prefix("tamis: serving http://") {
                let address = rest.split('/').next().unwrap_or_default().to_owned();
                return Ok(Served { running, address });
            }
        }
    }
}

/// Asks a server's JSON API.
///
/// # Errors
/// There is no whole answer.
pub fn get(address: &str, path: &str) -> Result<(u16, Value)> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let (head, body) = exchange(address, &request)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("a status")?;
    Ok((status, serde_json::from_str(&body).unwrap_or_default()))
}
