//! A small project with issues, notes and evidence, freshly indexed, and the program that serves it.

use super::store::Store;
use crate::run::{as_by_hand, cargo_itself, root};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that names the models of an index.
pub const MODELS: &str = "TAMIS_INDEX_MODELS";

/// The limit for indexing.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The size of files that the largest pages need, and its setting.
pub(super) const LARGE_FILES: (&str, &str) = ("TAMIS_INDEX_MAX_FILE_BYTES", "8388608");

/// The project and the program.
#[derive(Debug)]
pub struct Fixture {
    /// The root of the project.
    pub project: PathBuf,
    /// The program as built for the tests.
    pub binary: PathBuf,
    home: PathBuf,
    /// The database that holds the index; `None` for an index in the project.
    store: Option<Store>,
}

impl Fixture {
    /// Builds the program, copies the project and indexes it, into a database of its own if asked.
    ///
    /// # Errors
    /// One of these steps fails.
    pub fn make(in_database: bool) -> Result<Fixture> {
        let work = root().join("target/conformance/work");
        let binary = built()?;
        let store = in_database.then(Store::start).transpose()?;
        let fixture = Fixture { project: work.join("mill"), binary, home: work.join("home"), store };
        fixture.renew()?;
        Ok(fixture)
    }

    /// Resets the project: no new notes, nothing learnt from past queries.
    ///
    /// # Errors
    /// The project cannot be copied or indexed.
    pub fn renew(&self) -> Result<()> {
        if let Some(store) = &self.store {
            store.renew()?;
        }
        let work = root().join("target/conformance/work");
        if work.exists() {
            fs::remove_dir_all(&work)?;
        }
        let committed = root().join("xtask/conformance");
        copy(&committed.join("project"), &self.project)?;
        // Marks the root, so that no directory above is taken for it.
        fs::create_dir_all(self.project.join(".git"))?;
        fs::create_dir_all(&self.home)?;
        let imports = committed.join("imports");
        match &self.store {
            Some(store) => self.index_in(store)?,
            None => drop(self.output(&["index", "--quiet"])?),
        }
        for (what, file) in [("issues", "issues.jsonl"), ("evidence", "evidence.jsonl")] {
            self.output(&["import", what, "--quiet", &imports.join(file).to_string_lossy()])?;
        }
        Ok(())
    }

    /// Returns true if the index is in a database. Then several servers share it, and a worker keeps it up to date.
    pub fn is_in_database(&self) -> bool {
        self.store.is_some()
    }

    /// Brings the index up to date with the project, so that no search comes while a server does so.
    ///
    /// # Errors
    /// The run or the worker fails.
    pub fn refresh(&self) -> Result<()> {
        if let Some(store) = &self.store {
            return self.index_in(store);
        }
        let mut run = self.tamis(&["index", "--quiet"]);
        let status = run.envs([LARGE_FILES]).stdout(Stdio::null()).status().context("the program cannot be started")?;
        ensure!(status.success(), "tamis index failed");
        Ok(())
    }

    /// Queues the project, and waits until the worker has indexed it.
    fn index_in(&self, store: &Store) -> Result<()> {
        self.output(&["jobs", "add", "--quiet", &self.project.to_string_lossy()])?;
        let root = self.project.parent().context("the project is in no directory")?.to_string_lossy().into_owned();
        let mut worker = self.tamis(&["jobs", "run", "--quiet", "--root", &root]);
        worker.envs([LARGE_FILES]);
        store.start_worker(worker)?;
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            let jobs: Value = serde_json::from_slice(&self.output(&["jobs", "list", "--json"])?)?;
            match jobs[0]["state"].as_str() {
                Some("done") => return Ok(()),
                Some("failed") => bail!("the project cannot be indexed: {jobs}"),
                _ => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        bail!("the worker did not index the project within {TIMEOUT:?}")
    }

    /// Returns the environment of the program: without the machine's configuration, with the quick model alone, and without the rate
    /// limit, which the checks would exceed.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut environment = vec![
            ("HOME", text(&self.home)),
            ("TAMIS_CONFIG_HOME", text(&self.home.join("config"))),
            ("TAMIS_CACHE", text(&self.home.join("cache"))),
            (MODELS, "static".to_owned()),
            ("TAMIS_MCP_REQUESTS_PER_MINUTE", "0".to_owned()),
        ];
        environment.extend(self.store.as_ref().map(|store| ("TAMIS_STORE_URL", store.url())));
        environment
    }

    /// Prepares the program to run in the project.
    pub fn tamis(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TAMIS_")) {
            command.env_remove(name);
        }
        command.args(arguments).current_dir(&self.project).envs(self.environment());
        command
    }

    /// Runs the program in the project and returns what it printed.
    ///
    /// # Errors
    /// It cannot be started, or it fails.
    pub fn output(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let output = self.tamis(arguments).output().context("the program cannot be started")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "tamis {} failed: {errors}", arguments.join(" "));
        Ok(output.stdout)
    }
}

/// Builds the program with the features of the tests, so that nothing is built twice.
fn built() -> Result<PathBuf> {
    let arguments =
        ["test", "--workspace", "--test", "commands", "--no-run", "--message-format=json-render-diagnostics"];
    eprintln!("$ cargo {}", arguments.join(" "));
    let mut command = Command::new(cargo_itself());
    let output = as_by_hand(&mut command).args(arguments).current_dir(root()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the program cannot be built");
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        if message["target"]["name"] == "tamis"
            && message["target"]["kind"][0] == "bin"
            && message["profile"]["test"] == false
            && let Some(executable) = message["executable"].as_str()
        {
            return Ok(executable.into());
        }
    }
    bail!("cargo did not print the path of the program")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
