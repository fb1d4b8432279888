//! A server of a test's own, made with the programs of the server that TAMIS_TEST_POSTGRES names, if they are on this machine.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Settings of every such server.
const SETTINGS: &str = "fsync = off\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nautovacuum = off\n\
    shared_buffers = 16MB\nmax_connections = 20\nwal_level = replica\n";

/// A server that is stopped and removed at the end.
pub struct PrivateServer {
    directory: tempfile::TempDir,
    /// The directory of the server's programs.
    pub programs: PathBuf,
    /// Who runs it.
    user: u32,
    group: u32,
    pub port: u16,
}

impl PrivateServer {
    /// Makes and starts a server; `None` after saying why there cannot be one.
    pub fn start(settings: &str) -> Option<PrivateServer> {
        let Ok(shared) = std::env::var("TAMIS_TEST_POSTGRES") else {
            eprintln!("not tested with PostgreSQL: TAMIS_TEST_POSTGRES is not set");
            return None;
        };
        let places =
            "SELECT (SELECT setting FROM pg_config WHERE name = 'BINDIR') || '|' || current_setting('data_directory')";
        let answer = ask(&shared, places);
        let (programs, data) = answer.split_once('|').expect("two directories");
        let Some(owner) = fs::metadata(data).ok().filter(|_| Path::new(programs).join("initdb").exists()) else {
            eprintln!("not tested: the programs of the server are not on this machine");
            return None;
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).expect("allowed");
        chown(&directory, Some(owner.uid()), Some(owner.gid())).expect("given away");
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
        let (user, group) = (owner.uid(), owner.gid());
        let server = PrivateServer { directory, programs: programs.into(), user, group, port };
        let data = server.data();
        let flags = ["--auth=trust", "--no-sync", "--username=tamis", "--encoding=UTF8", "--locale=C", "-D", &data];
        server.run("initdb", &flags);
        server.configure(settings);
        server.run("pg_ctl", &["-D", &data, "-w", "-l", &format!("{data}.log"), "start"]);
        Some(server)
    }

    /// Replaces the settings that are not every server's.
    pub fn configure(&self, settings: &str) {
        let file = format!("{}/postgresql.conf", self.data());
        fs::write(file, format!("{SETTINGS}port = {}\n{settings}\n", self.port)).expect("written");
    }

    pub fn restart(&self) {
        let data = self.data();
        self.run("pg_ctl", &["-D", &data, "-w", "-m", "fast", "-l", &format!("{data}.log"), "restart"]);
    }

    /// Writes a file among the server's data that only the server may read.
    pub fn write(&self, name: &str, text: &str) {
        let path = Path::new(&self.data()).join(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("allowed");
        chown(&path, Some(self.user), Some(self.group)).expect("given away");
    }

    pub fn data(&self) -> String {
        self.directory.path().join("data").to_str().expect("UTF-8").to_owned()
    }

    pub fn url(&self) -> String {
        format!("postgres://tamis@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).stdin(Stdio::null()).current_dir("/");
        if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
            command.uid(self.user).gid(self.group);
        }
        // A server that starts would keep the pipes of the test open.
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it starts");
        let log = fs::read_to_string(format!("{}.log", self.data())).unwrap_or_default();
        assert!(status.success(), "{program}: {log}");
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        let mut command = Command::new(self.programs.join("pg_ctl"));
        command.args(["-D", &self.data(), "-m", "immediate", "stop"]).current_dir("/");
        if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
            command.uid(self.user).gid(self.group);
        }
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The text that the last of some statements answers.
pub fn ask(url: &str, statements: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("connected");
        let driving = tokio::spawn(connection);
        let messages = client.simple_query(statements).await.expect("done");
        drop(client);
        let _ = driving.await;
        let row = messages.iter().rev().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        row.unwrap_or_default()
    })
}
