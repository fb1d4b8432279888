//! The program as an HTTP server, for the time that a part needs it. On an index in a database there are two, behind a balancer.

use super::balancer;
use super::fixture::Fixture;
use crate::run::Owned;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The limit for a start and for an end.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The text before the address on standard error.
const SERVING: &str = "tamis: serving ";

/// The servers of an index in a database.
const SERVERS: usize = 2;

/// A running server, or several behind one address.
#[derive(Debug)]
pub struct Server {
    processes: Vec<Process>,
    /// Its address.
    pub url: String,
}

impl Server {
    /// Starts one on a free port of this machine.
    ///
    /// # Errors
    /// It does not print its address in time.
    pub fn start(fixture: &Fixture) -> Result<Server> {
        let arguments = ["mcp", "--output-schemas", "--http", "127.0.0.1:0", "--allow-remember", "--allow-feedback"];
        Server::of(fixture, &arguments, &[], "server")
    }

    /// Starts one that serves the page too, with variables in its environment. Its address is that of the page.
    ///
    /// # Errors
    /// It does not print its address in time.
    pub fn serve(fixture: &Fixture, environment: &[(&str, &str)]) -> Result<Server> {
        let arguments = ["serve", "--http", "127.0.0.1:0", "--allow-feedback", "--allow-refresh"];
        let mut server = Server::of(fixture, &arguments, environment, &format!("page-{}", environment.len()))?;
        let end = server.url.find("/ for people").context("the server did not print the address of the page")?;
        server.url.truncate(end);
        Ok(server)
    }

    fn of(fixture: &Fixture, arguments: &[&str], environment: &[(&str, &str)], log: &str) -> Result<Server> {
        let count = if fixture.is_in_database() { SERVERS } else { 1 };
        let started = (1..=count).map(|number| {
            let mut command = fixture.tamis(arguments);
            if fixture.is_in_database() {
                command.arg("--no-refresh");
            }
            command.envs(environment.iter().copied());
            Process::start(command, fixture.project.with_file_name(format!("{log}-{number}.log")))
        });
        let (processes, urls): (Vec<Process>, Vec<String>) = started.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let first = urls.first().context("no server was started")?;
        if count == 1 {
            return Ok(Server { processes, url: first.clone() });
        }
        let ports = urls.iter().map(|url| port(url)).collect::<Result<Vec<_>>>()?;
        let own = balancer::start(ports.clone())?;
        let url = first.replace(&format!(":{}", ports[0]), &format!(":{own}"));
        Ok(Server { processes, url })
    }

    /// Asks the server to end and waits. Returns a description when it ended badly.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn stop(self) -> Result<Option<String>> {
        let ends = self.processes.into_iter().map(Process::stop).collect::<Result<Vec<_>>>()?;
        Ok(ends.into_iter().flatten().reduce(|one, other| format!("{one}\n{other}")))
    }
}

/// The port in an address.
fn port(url: &str) -> Result<u16> {
    let digits = url.split(':').nth(2).and_then(|rest| rest.split('/').next());
    digits.and_then(|digits| digits.parse().ok()).with_context(|| format!("{url}: no port in it"))
}

/// One process of the program.
#[derive(Debug)]
struct Process {
    child: Owned,
    log: PathBuf,
}

impl Process {
    /// Starts a server and returns its address too.
    fn start(mut command: Command, log: PathBuf) -> Result<(Process, String)> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log)?);
        let child = Owned(command.spawn().context("the server cannot be started")?);
        let mut process = Process { child, log };
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            let text = fs::read_to_string(&process.log)?;
            let line = text.lines().find_map(|line| line.strip_prefix(SERVING));
            if let Some(url) = line.filter(|_| text.contains('\n')) {
                let url = url.to_owned();
                return Ok((process, url));
            }
            if let Some(status) = process.child.try_wait()? {
                bail!("the server ended: {status}\n{text}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("the server did not print its address:\n{}", fs::read_to_string(&process.log)?)
    }

    fn stop(mut self) -> Result<Option<String>> {
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
