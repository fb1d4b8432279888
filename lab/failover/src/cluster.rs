//! Three servers under Patroni, with one etcd.

use super::http::{Answer, ask};
use super::packages::Programs;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use xtask::postgres::account::Account;
use xtask::postgres::interrupt::Survival;
use xtask::postgres::server::{finish, first_process, private};

/// The number of servers.
const NODES: usize = 3;

/// The limit for the cluster to become whole.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The password of the program's user.
const PASSWORD: &str = "failover";

/// Seconds after which Patroni gives up on a primary that is gone: the least that it accepts.
pub const TTL: u32 = 20;

/// A server with its Patroni.
#[derive(Debug)]
struct Node {
    name: String,
    directory: PathBuf,
    port: u16,
    api: u16,
    patroni: Option<Child>,
}

/// The cluster. Dropping it stops everything and removes its files.
#[derive(Debug)]
pub struct Cluster {
    account: Account,
    directory: PathBuf,
    programs: Programs,
    etcd: Option<Child>,
    nodes: Vec<Node>,
    keep: bool,
}

impl Cluster {
    /// Starts the servers in a directory and waits until all of them follow a primary.
    ///
    /// # Errors
    /// A package is missing, a program fails, or the cluster does not become whole.
    pub fn start(account: Account, directory: &Path, keep: bool) -> Result<Cluster> {
        let mut cluster = Cluster {
            account,
            directory: directory.to_owned(),
            programs: Programs::at(directory),
            etcd: None,
            nodes: Vec::new(),
            keep,
        };
        // The cluster exists first, so that its files are removed if this fails.
        cluster.programs.unpack(account)?;
        let ports = free_ports(2 + 2 * NODES)?;
        let etcd = cluster.start_etcd(ports[0], ports[1])?;
        cluster.etcd = Some(etcd);
        for number in 0..NODES {
            let name = format!("node{}", number + 1);
            let directory = directory.join(&name);
            private(&account, &directory)?;
            let node = Node { name, directory, port: ports[2 + 2 * number], api: ports[3 + 2 * number], patroni: None };
            let path = node.directory.join("patroni.yml");
            // JSON is YAML.
            fs::write(&path, format!("{:#}", cluster.configuration(&node, ports[0])))?;
            cluster.nodes.push(node);
            cluster.start_node(number)?;
        }
        cluster.wait_until_whole()?;
        Ok(cluster)
    }

    fn start_etcd(&self, client: u16, peer: u16) -> Result<Child> {
        let data = self.directory.join("etcd-data");
        private(&self.account, &data)?;
        let mut command = self.account.command(self.programs.etcd());
        let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
        command.arg("--data-dir").arg(data).args(["--name", "etcd"]);
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &format!("etcd={peer}")]);
        start(&mut command, &self.directory.join("etcd.log")).context("etcd")
    }

    fn configuration(&self, node: &Node, etcd: u16) -> Value {
        json!({
            "scope": "tamis",
            "name": node.name,
            "restapi": { "listen": format!("127.0.0.1:{}", node.api), "connect_address": format!("127.0.0.1:{}", node.api) },
            "etcd3": { "host": format!("127.0.0.1:{etcd}") },
            "bootstrap": {
                "dcs": {
                    "ttl": TTL, "loop_wait": 2, "retry_timeout": 5, "synchronous_mode": true,
                    "postgresql": {
                        "use_pg_rewind": true, "use_slots": true,
                        "parameters": { "max_connections": 100, "timezone": "UTC", "log_timezone": "UTC" },
                    },
                },
                "initdb": [
                    { "encoding": "UTF8" }, { "locale-provider": "builtin" }, { "builtin-locale": "C.UTF-8" }, { "locale": "C" },
                    "data-checksums",
                ],
            },
            "postgresql": {
                "listen": format!("127.0.0.1:{}", node.port),
                "connect_address": format!("127.0.0.1:{}", node.port),
                "data_dir": node.directory.join("data"),
                "bin_dir": self.programs.postgres(),
                "pgpass": node.directory.join("pgpass"),
                "authentication": {
                    "superuser": { "username": "postgres" }, "replication": { "username": "replicator" },
                    "rewind": { "username": "postgres" },
                },
                "parameters": { "unix_socket_directories": "", "password_encryption": "scram-sha-256" },
                "pg_hba": [
                    "host all tamis 127.0.0.1/32 scram-sha-256", "host all postgres 127.0.0.1/32 trust",
                    "host replication replicator 127.0.0.1/32 trust",
                ],
                "remove_data_directory_on_rewind_failure": true,
                "remove_data_directory_on_diverged_timelines": true,
            },
        })
    }

    fn start_node(&mut self, number: usize) -> Result<()> {
        let node = &self.nodes[number];
        let mut command = self.account.command(self.programs.patroni());
        command.arg(node.directory.join("patroni.yml")).env("HOME", &node.directory);
        let child = start(&mut command, &self.directory.join(format!("{}.log", node.name))).context("patroni")?;
        self.nodes[number].patroni = Some(child);
        Ok(())
    }

    /// Makes the database, and the program's user, who is no superuser.
    ///
    /// # Errors
    /// The server refuses.
    pub fn create_database(&self) -> Result<()> {
        self.query("postgres", &format!("CREATE ROLE tamis LOGIN CREATEROLE PASSWORD '{PASSWORD}'"))?;
        self.query("postgres", "CREATE DATABASE tamis OWNER tamis")?;
        self.query("tamis", "CREATE EXTENSION vector")?;
        let line = |node: &Node| format!("127.0.0.1:{}:tamis:tamis:{PASSWORD}\n", node.port);
        let lines: String = self.nodes.iter().map(line).collect();
        let path = self.password_file();
        fs::write(&path, lines)?;
        Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?)
    }

    /// Returns the file with the user's password.
    pub fn password_file(&self) -> PathBuf {
        self.directory.join("password")
    }

    /// Returns the address of all servers.
    pub fn url(&self) -> String {
        let hosts: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("postgres://tamis@{}/tamis?target_session_attrs=read-write&sslmode=disable", hosts.join(","))
    }

    /// Runs a statement on the primary and returns its rows, a line each.
    ///
    /// # Errors
    /// There is no primary, or it refuses.
    pub fn query(&self, database: &str, statement: &str) -> Result<Vec<String>> {
        let primary = self.primary().context("no primary")?;
        let mut psql = Account::Own.command(self.programs.postgres().join("psql"));
        psql.args(["--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--host=127.0.0.1", "--username=postgres"]);
        psql.args(["--port", &self.nodes[primary].port.to_string(), "--dbname", database, "--command", statement]);
        let output = psql.output()?;
        ensure!(output.status.success(), "psql: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    fn api(&self, number: usize, target: &str, body: Option<&Value>) -> Result<Answer> {
        ask(&format!("127.0.0.1:{}", self.nodes[number].api), target, body)
    }

    /// Returns the number of the primary, as the Patroni of each server says.
    pub fn primary(&self) -> Option<usize> {
        let runs = |number: &usize| self.nodes[*number].patroni.is_some();
        (0..NODES)
            .filter(runs)
            .find(|number| self.api(*number, "/primary", None).is_ok_and(|answer| answer.status == 200))
    }

    /// Returns the name of a server.
    pub fn name(&self, number: usize) -> &str {
        &self.nodes[number].name
    }

    /// Waits until one server is the primary, one a synchronous standby, and all follow it without delay.
    ///
    /// # Errors
    /// That does not happen in time, or Ctrl-C came.
    pub fn wait_until_whole(&mut self) -> Result<()> {
        let started = Instant::now();
        loop {
            let seen =
                self.primary().and_then(|primary| self.api(primary, "/cluster", None).ok()).map(|answer| answer.json());
            if seen.as_ref().is_some_and(is_whole) {
                return Ok(());
            }
            for node in &mut self.nodes {
                if let Some(status) = node.patroni.as_mut().map(Child::try_wait).transpose()?.flatten() {
                    let log = fs::read_to_string(self.directory.join(format!("{}.log", node.name))).unwrap_or_default();
                    let last: Vec<&str> = log.lines().rev().take(15).collect();
                    bail!(
                        "Patroni of {} ended: {status}\n{}",
                        node.name,
                        last.into_iter().rev().collect::<Vec<_>>().join("\n")
                    );
                }
            }
            ensure!(
                started.elapsed() < TIMEOUT,
                "the cluster is not whole after {TIMEOUT:?}: {}",
                seen.unwrap_or_default()
            );
            pause(PAUSE * 4)?;
        }
    }

    /// Kills the primary and its Patroni (SIGKILL), and returns its number.
    ///
    /// # Errors
    /// There is no primary, or the system refuses.
    pub fn kill_primary(&mut self) -> Result<usize> {
        let number = self.primary().context("no primary")?;
        let node = &mut self.nodes[number];
        let server = first_process(&node.directory.join("data"), &self.programs.postgres().join("postgres"));
        let server = server.with_context(|| format!("{}: its PostgreSQL does not run", node.name))?;
        let mut patroni = node.patroni.take().context("Patroni runs")?;
        patroni.kill()?;
        signal(server, libc::SIGKILL)?;
        patroni.wait()?;
        Ok(number)
    }

    /// Starts Patroni again on a server that was killed, which then follows the new primary.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_again(&mut self, number: usize) -> Result<()> {
        self.start_node(number)
    }

    /// Has Patroni restart the primary's PostgreSQL, and waits until it has.
    ///
    /// # Errors
    /// There is no primary, or it refuses.
    pub fn restart_primary(&self) -> Result<()> {
        let primary = self.primary().context("no primary")?;
        let answer = self.api(primary, "/restart", Some(&json!({})))?;
        ensure!(answer.status == 200, "Patroni does not restart {}: {}", self.name(primary), answer.body);
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            if let Some(mut patroni) = node.patroni.take() {
                let _ = patroni.kill();
                let _ = patroni.wait();
            }
            let data = node.directory.join("data");
            if first_process(&data, &self.programs.postgres().join("postgres")).is_some() {
                let mut stop = self.account.command(self.programs.postgres().join("pg_ctl"));
                if let Err(error) = finish(stop.args(["stop", "--mode=immediate", "--silent", "--pgdata"]).arg(&data)) {
                    eprintln!("failover: {error:#}");
                }
            }
        }
        if let Some(mut etcd) = self.etcd.take() {
            let _ = etcd.kill();
            let _ = etcd.wait();
        }
        if self.keep {
            eprintln!("failover: left in {}", self.directory.display());
        } else if let Err(error) = fs::remove_dir_all(&self.directory) {
            eprintln!("failover: {}: {error}", self.directory.display());
        }
    }
}

/// Sleeps.
///
/// # Errors
/// Ctrl-C came.
pub fn pause(time: Duration) -> Result<()> {
    let end = Instant::now() + time;
    loop {
        ensure!(!Survival::is_interrupted(), "interrupted");
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(PAUSE));
    }
}

/// Starts a program in a process group of its own, which Ctrl-C in the terminal does not reach.
fn start(command: &mut Command, log: &Path) -> Result<Child> {
    let log = File::options().create(true).append(true).open(log)?;
    command.stdout(Stdio::from(log.try_clone()?)).stderr(Stdio::from(log)).process_group(0);
    Ok(command.spawn()?)
}

fn signal(process: u32, signal: libc::c_int) -> Result<()> {
    // SAFETY: the call reads nothing of this process's memory.
    let sent = unsafe { libc::kill(process as libc::pid_t, signal) };
    ensure!(sent == 0, "process {process}: {}", std::io::Error::last_os_error());
    Ok(())
}

/// Returns free ports, all different.
fn free_ports(count: usize) -> Result<Vec<u16>> {
    let listeners: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// Returns true when what Patroni says of a cluster is a primary, a synchronous standby and another one, both following.
fn is_whole(cluster: &Value) -> bool {
    let members = cluster["members"].as_array().map(Vec::as_slice).unwrap_or_default();
    let count = |role: &str, state: &str| {
        members.iter().filter(|member| member["role"] == role && member["state"] == state).count()
    };
    let delayed = members.iter().any(|member| member["lag"].as_u64().is_some_and(|lag| lag > 1 << 20));
    members.len() == NODES
        && count("leader", "running") == 1
        && count("sync_standby", "streaming") == 1
        && count("replica", "streaming") == 1
        && !delayed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_whole_when_both_standbys_follow() {
        let member = |role: &str, state: &str| json!({ "role": role, "state": state, "lag": 0 });
        let (leader, standby) = (member("leader", "running"), member("sync_standby", "streaming"));
        let whole = |third: Value| is_whole(&json!({ "members": [leader, standby, third] }));
        assert!(whole(member("replica", "streaming")));
        assert!(!whole(member("replica", "starting")) && !whole(member("replica", "running")));
        assert!(!whole(json!({ "role": "replica", "state": "streaming", "lag": 1 << 30 })));
        assert!(!is_whole(&json!({ "members": [leader, standby] })) && !is_whole(&Value::Null));
    }

    #[test]
    fn ports_are_different() {
        let ports: std::collections::BTreeSet<u16> = free_ports(8).expect("ports").into_iter().collect();
        assert_eq!(ports.len(), 8);
    }
}
