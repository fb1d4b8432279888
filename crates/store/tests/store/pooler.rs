//! PgBouncer, where it is installed, as a pooler that gives each transaction another session of the server.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// A pooler, until it is dropped.
pub struct Pooler {
    process: Child,
    /// Its port on this machine.
    pub port: u16,
    _directory: tempfile::TempDir,
}

impl Pooler {
    /// The number of its sessions of a database.
    pub const SESSIONS: usize = 20;

    /// Starts one before a server; `None` after saying that it is not installed.
    pub fn start(server: &Config) -> Option<Pooler> {
        let programs = ["pgbouncer", "/usr/sbin/pgbouncer"];
        let is_installed =
            |program: &&str| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
        let Some(program) = programs.into_iter().find(is_installed) else {
            eprintln!("not tested behind a pooler: pgbouncer is not installed");
            return None;
        };
        let Some(Host::Tcp(host)) = server.get_hosts().first() else { panic!("TAMIS_TEST_POSTGRES: name a host") };
        let (user, to) = (server.get_user().expect("a user"), server.get_ports().first().copied().unwrap_or(5432));
        let password = server.get_password().map(|password| format!("password={}", String::from_utf8_lossy(password)));
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("pgbouncer.ini");
        // In turn, the sessions change as often as they can.
        let settings = format!(
            "[databases]\n* = host={host} port={to} user={user} {}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {}\nserver_round_robin = 1\n",
            password.unwrap_or_default(),
            Self::SESSIONS
        );
        std::fs::write(&path, settings).expect("written");
        let mut command = Command::new(program);
        command.arg("--quiet").arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&path).expect("written")) == 0 {
            // It refuses to run as root.
            command.args(["--user", "nobody"]);
        }
        let pooler = Pooler { process: command.spawn().expect("started"), port, _directory: directory };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < Duration::from_secs(10), "pgbouncer does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(pooler)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
