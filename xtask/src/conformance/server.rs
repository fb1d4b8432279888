//! The program as an HTTP server, for the time that a part needs it.

use super::fixture::Fixture;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The limit for a start and for an end.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The text before the address on standard error.
const SERVING: &str = "tamis: serving ";

/// A running server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Its address.
    pub url: String,
    log: PathBuf,
}

impl Server {
    /// Starts one on a free port of this machine.
    ///
    /// # Errors
    /// It does not print its address in time.
    pub fn start(fixture: &Fixture) -> Result<Server> {
        let arguments = ["mcp", "--output-schemas", "--http", "127.0.0.1:0", "--allow-remember", "--allow-feedback"];
        Server::of(fixture.tamis(&arguments), fixture.project.with_file_name("server.log"))
    }

    /// Starts one that serves the page too, with variables in its environment. Its address is that of the page.
    ///
    /// # Errors
    /// It does not print its address in time.
    pub fn serve(fixture: &Fixture, environment: &[(&str, &str)]) -> Result<Server> {
        let mut command = fixture.tamis(&["serve", "--http", "127.0.0.1:0", "--allow-feedback", "--allow-refresh"]);
        command.envs(environment.iter().copied());
        let mut server =
            Server::of(command, fixture.project.with_file_name(format!("page-{}.log", environment.len())))?;
        let end = server.url.find("/v1").context("the server did not print the address of the API")?;
        server.url.truncate(end);
        Ok(server)
    }

    fn of(mut command: Command, log: PathBuf) -> Result<Server> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log)?);
        let mut child = command.spawn().context("the server cannot be started")?;
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            let text = fs::read_to_string(&log)?;
            let line = text.lines().find_map(|line| line.strip_prefix(SERVING));
            if let Some(url) = line.filter(|_| text.contains('\n')) {
                return Ok(Server { child, url: url.to_owned(), log });
            }
            if let Some(status) = child.try_wait()? {
                bail!("the server ended: {status}\n{text}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        bail!("the server did not print its address:\n{}", fs::read_to_string(&log)?)
    }

    /// Asks the server to end and waits. Returns a description when it ended badly.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn stop(mut self) -> Result<Option<String>> {
        Command::new("kill").arg(self.child.id().to_string()).status().context("kill cannot be started")?;
        let asked = Instant::now();
        while asked.elapsed() < TIMEOUT {
            if let Some(status) = self.child.try_wait()? {
                let text = fs::read_to_string(&self.log)?;
                if text.contains("panicked") {
                    return Ok(Some(format!("the server panicked:\n{text}")));
                }
                let is_ordered = matches!(status.code(), Some(0 | 130));
                return Ok((!is_ordered).then(|| format!("the server ended: {status}\n{text}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Some(format!("the server did not end within {TIMEOUT:?}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended ignores this.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
