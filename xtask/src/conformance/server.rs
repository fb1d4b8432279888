//! The program as a server over HTTP, for as long as a part needs it.

use super::fixture::Fixture;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a start and an end may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What stands before the address on standard error.
const SERVING: &str = "tamis: serving ";

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it serves.
    pub url: String,
    log: PathBuf,
}

impl Server {
    /// Starts one on a free port of this machine.
    ///
    /// # Errors
    /// It does not say within its time where it serves.
    pub fn start(fixture: &Fixture) -> Result<Server> {
        let log = fixture.project.with_file_name("server.log");
        let mut command = fixture.tamis(&["mcp", "--http", "127.0.0.1:0", "--allow-remember", "--allow-feedback"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log)?);
        let mut child = command.spawn().context("the server cannot be started")?;
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let told = fs::read_to_string(&log)?;
            let line = told.lines().find_map(|line| line.strip_prefix(SERVING));
            if let Some(url) = line.filter(|_| told.contains('\n')) {
                return Ok(Server { child, url: url.to_owned(), log });
            }
            if let Some(status) = child.try_wait()? {
                bail!("the server ended: {status}\n{told}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        bail!("the server did not say where it serves:\n{}", fs::read_to_string(&log)?)
    }

    /// Asks it to end and waits for that. What is wrong with how it ended, if anything.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn stop(mut self) -> Result<Option<String>> {
        Command::new("kill").arg(self.child.id().to_string()).status().context("kill cannot be started")?;
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                let told = fs::read_to_string(&self.log)?;
                if told.contains("panicked") {
                    return Ok(Some(format!("the server panicked:\n{told}")));
                }
                let is_ordered = matches!(status.code(), Some(0 | 130));
                return Ok((!is_ordered).then(|| format!("the server ended: {status}\n{told}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Some(format!("the server did not end within {PATIENCE:?}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Does nothing to one that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
