//! One server: its files, its start and its end.

use super::account::Account;
use super::wheels;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The start of the names of all servers' directories.
const PREFIX: &str = "tamis-postgres-";

/// The name of the superuser and of the database.
const NAME: &str = "tamis";

/// The attempts to find a port that nobody takes before the server does.
const ATTEMPTS: u32 = 5;

/// Settings for tests: fast, and without care for data after a crash.
pub const FAST: &str = "\
fsync = off
synchronous_commit = off
full_page_writes = off
max_connections = 200
";

/// Settings for kills: as a server is installed, so that what it has acknowledged survives.
pub const DURABLE: &str = "\
fsync = on
synchronous_commit = on
full_page_writes = on
max_connections = 100
";

/// Settings beside [`DURABLE`] for measuring: those that docs/postgres.md recommends, on a machine with so many kilobytes of memory.
pub fn recommended(memory: u64) -> String {
    format!("shared_buffers = '{} kB'\nmax_wal_size = '8 GB'\n", memory / 4)
}

/// Settings that make all servers the same on every machine.
const SETTINGS: &str = "\
wal_level = minimal
max_wal_senders = 0
shared_preload_libraries = 'pg_textsearch'
max_locks_per_transaction = 256
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
timezone = 'UTC'
log_timezone = 'UTC'
";

/// A server in a directory of its own. It may have stopped, or not have started yet.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Server {
    directory: PathBuf,
    port: u16,
}

/// Checks that the programs run on this machine.
///
/// # Errors
/// They do not.
pub fn check_platform() -> Result<()> {
    let suits = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    ensure!(suits, "there is a PostgreSQL to download for Linux on x86_64 only");
    ensure!(Path::new("/lib64/ld-linux-x86-64.so.2").exists(), "the PostgreSQL to download needs glibc");
    Ok(())
}

impl Server {
    /// Makes the directory of a new server, which `account` will run.
    ///
    /// # Errors
    /// No directory for temporary files can be used by the account.
    pub fn new(account: &Account) -> Result<Server> {
        Ok(Server { directory: directory(account, PREFIX)?, port: 0 })
    }

    /// Unpacks the programs, makes the cluster, starts it and makes the database with its extensions.
    ///
    /// # Errors
    /// A program fails, or no free port is found.
    pub fn start(&mut self, wheels: &[PathBuf], account: &Account, settings: &str) -> Result<()> {
        wheels::unpack(&wheels::SERVER, wheels, &self.directory)?;
        let data = self.data();
        private(account, &data)?;
        let locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
        let mut initdb = account.command(self.program("initdb"));
        initdb.args(["--auth=trust", "--no-sync", "--no-instructions", "--username", NAME]).args(locale);
        finish(initdb.arg("--pgdata").arg(&data))?;
        let path = data.join("postgresql.conf");
        let settings = fs::read_to_string(&path)? + SETTINGS + settings;
        fs::write(&path, settings)?;
        self.listen(account)?;
        self.renew()
    }

    /// Makes the database with its extensions, empty, and drops the one that is there.
    ///
    /// # Errors
    /// A statement fails.
    pub fn renew(&self) -> Result<()> {
        self.psql("postgres", &format!("DROP DATABASE IF EXISTS {NAME} WITH (FORCE)"))?;
        self.psql("postgres", &format!("CREATE DATABASE {NAME}"))?;
        self.psql(NAME, "CREATE EXTENSION vector")?;
        self.psql(NAME, "CREATE EXTENSION pg_textsearch")
    }

    /// Starts the server on a free port and waits until it is ready.
    fn listen(&mut self, account: &Account) -> Result<()> {
        let log = self.data().join("log");
        for _ in 0..ATTEMPTS {
            // Another process may take the port before the server does.
            self.port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let mut start = account.command(self.program("pg_ctl"));
            start.args(["start", "--wait", "--silent", "--pgdata"]).arg(self.data()).arg("--log").arg(&log);
            let started = finish(start.args(["--options", &format!("-p {}", self.port)]));
            let Err(error) = started else { return Ok(()) };
            let messages = fs::read_to_string(&log).unwrap_or_default();
            if !is_port_taken(&messages) {
                bail!("{error:#}\n{}", messages.trim());
            }
            fs::remove_file(&log)?;
        }
        bail!("no free port for PostgreSQL after {ATTEMPTS} attempts")
    }

    /// Kills the first process and then its children, which do not wait for each other (SIGKILL).
    ///
    /// # Errors
    /// It does not run, or its children do not end.
    pub fn kill(&self) -> Result<()> {
        let first = self.process().context("the server does not run")?;
        let children = children_of(first)?;
        for id in std::iter::once(first).chain(children.iter().copied()) {
            // SAFETY: a signal to a process that has ended meanwhile does nothing.
            unsafe { libc::kill(id as libc::pid_t, libc::SIGKILL) };
        }
        let started = Instant::now();
        while std::iter::once(first).chain(children.iter().copied()).any(is_running) {
            ensure!(started.elapsed() < Duration::from_secs(30), "the killed server goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Starts a server that was killed, on its port.
    ///
    /// # Errors
    /// It does not start.
    pub fn restart(&self) -> Result<()> {
        let mut start = Account::owner_of(&self.data())?.command(self.program("pg_ctl"));
        start.args(["start", "--wait", "--silent", "--pgdata"]).arg(self.data());
        finish(start.arg("--log").arg(self.data().join("log")).args(["--options", &format!("-p {}", self.port)]))
    }

    /// Runs a query on its database and returns the rows, one a line.
    ///
    /// # Errors
    /// The server refuses.
    pub fn query(&self, statement: &str) -> Result<String> {
        let mut psql = Account::Own.command(self.program("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--no-password", "--tuples-only", "--no-align", "--host=127.0.0.1"]);
        psql.args(["--port", &self.port.to_string(), "--username", NAME, "--dbname", NAME, "--command", statement]);
        let output = psql.env("PGCONNECT_TIMEOUT", "10").output().context("psql")?;
        ensure!(output.status.success(), "psql: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns the directory of all its files.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the URL of its database.
    pub fn url(&self) -> String {
        format!("postgres://{NAME}@127.0.0.1:{}/{NAME}", self.port)
    }

    /// Returns true when the server runs and answers.
    pub fn is_up(&self) -> bool {
        self.process().is_some() && self.psql(NAME, "SELECT 1").is_ok()
    }

    /// Stops the server, if it runs, and removes its files.
    ///
    /// # Errors
    /// It does not stop, or a file cannot be removed.
    pub fn remove(&self) -> Result<()> {
        if self.process().is_some() {
            let mut stop = Account::owner_of(&self.data())?.command(self.program("pg_ctl"));
            finish(stop.args(["stop", "--mode=immediate", "--silent", "--pgdata"]).arg(self.data()))?;
        }
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| self.directory.display().to_string())
            }
            _ => Ok(()),
        }
    }

    /// Returns true when its directory has a name that [`Server::new`] can give.
    pub fn has_own_name(&self) -> bool {
        let name = self.directory.file_name().unwrap_or_default().to_string_lossy();
        self.directory.is_absolute() && name.starts_with(PREFIX)
    }

    /// Returns the id of its first process.
    fn process(&self) -> Option<u32> {
        first_process(&self.data(), &self.program("postgres"))
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn program(&self, name: &str) -> PathBuf {
        self.directory.join(wheels::PROGRAMS).join(name)
    }

    /// Runs a statement.
    fn psql(&self, database: &str, statement: &str) -> Result<()> {
        let mut psql = Account::Own.command(self.program("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--no-password", "--host=127.0.0.1", "--port", &self.port.to_string()]);
        psql.args(["--username", NAME, "--dbname", database]).env("PGCONNECT_TIMEOUT", "10");
        finish(psql.args(["--command", statement]))
    }
}

/// Makes a directory that the account can reach.
///
/// # Errors
/// No directory for temporary files can be used by the account.
pub fn directory(account: &Account, prefix: &str) -> Result<PathBuf> {
    let places = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let place = account.first_in_reach(places).context("the user of the server can reach no temporary directory")?;
    let directory = tempfile::Builder::new().prefix(prefix).tempdir_in(&place)?;
    // The account must reach its files in a directory that stays with the caller.
    let mode = if *account == Account::Own { 0o700 } else { 0o755 };
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode))?;
    Ok(directory.keep())
}

/// Makes a directory that the account alone can enter.
///
/// # Errors
/// The system refuses.
pub fn private(account: &Account, path: &Path) -> Result<()> {
    fs::create_dir(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    account.own(path)
}

/// Returns the id of the first process of the server with this data, if `program` runs it. After a restart of the machine, the id in
/// the file may be that of any other program, which must not be signalled.
pub fn first_process(data: &Path, program: &Path) -> Option<u32> {
    let id = process_id(&fs::read_to_string(data.join("postmaster.pid")).ok()?)?;
    (fs::read_link(format!("/proc/{id}/exe")).ok()? == program).then_some(id)
}

/// Runs a program to its end, quietly.
///
/// # Errors
/// It cannot be started, or it fails.
pub fn finish(command: &mut Command) -> Result<()> {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let output = command.output().map_err(|error: io::Error| anyhow::anyhow!("{name} cannot be started: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {}\n{}", output.status, errors.trim());
    Ok(())
}

/// Returns the processes that a process started.
fn children_of(parent: u32) -> Result<Vec<u32>> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let is_child = |line: &str| line.strip_prefix("PPid:").is_some_and(|of| of.trim() == parent.to_string());
        if status.lines().any(is_child) {
            children.push(id);
        }
    }
    Ok(children)
}

/// Returns true while a process runs. One that ended and that nobody has waited for does not.
fn is_running(id: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("State:")).is_some_and(|state| !state.trim().starts_with('Z'))
}

/// Reads the id of the first process from the text of `postmaster.pid`.
fn process_id(text: &str) -> Option<u32> {
    text.lines().next()?.trim().parse().ok()
}

/// Returns true when the log says that another process has the port.
fn is_port_taken(log: &str) -> bool {
    log.contains("could not bind IPv4 address") && log.contains("Address already in use")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_process() {
        let text = "4711\n/tmp/tamis-postgres-x/data\n1790000000\n43801\n\n127.0.0.1\n  4423  65536\nready   \n";
        assert_eq!(process_id(text), Some(4711));
        for text in ["", "\n4711\n", "-1\n", "many\n"] {
            assert_eq!(process_id(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_a_taken_port_is_worth_another_attempt() {
        let taken = "LOG:  could not bind IPv4 address \"127.0.0.1\": Address already in use\n\
            HINT:  Is another postmaster already running on port 5433?\nFATAL:  could not create any TCP/IP sockets\n";
        assert!(is_port_taken(taken) && !is_port_taken("FATAL:  could not load library \"pg_textsearch.so\"\n"));
    }

    #[test]
    fn a_server_whose_files_are_gone_is_not_up_and_can_be_removed() {
        let directory = tempfile::tempdir().expect("a directory").path().join("tamis-postgres-gone");
        let server = Server { directory, port: 1 };
        assert!(server.has_own_name() && !server.is_up());
        server.remove().expect("removed");
    }

    #[test]
    fn an_id_that_another_program_has_now_is_not_the_server() {
        let directory = tempfile::tempdir().expect("a directory");
        let server = Server { directory: directory.path().to_owned(), port: 1 };
        fs::create_dir(server.data()).expect("created");
        fs::write(server.data().join("postmaster.pid"), format!("{}\n", std::process::id())).expect("written");
        assert_eq!(server.process(), None);
    }

    #[test]
    fn a_new_directory_has_a_name_of_its_own() {
        let [first, second] = [(); 2].map(|()| Server::new(&Account::Own).expect("a directory"));
        assert!(first.has_own_name() && second.has_own_name() && first.directory != second.directory);
        assert!(first.url().starts_with("postgres://tamis@127.0.0.1:"));
        for server in [first, second] {
            server.remove().expect("removed");
            assert!(!server.directory().exists());
        }
    }
}
