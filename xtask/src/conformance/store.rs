//! The database of a run with `--store`, and the worker that indexes into it: the servers read no tree.

#[cfg(unix)]
pub use unix::Store;

/// There is no database to start here.
#[cfg(not(unix))]
#[derive(Debug)]
pub enum Store {}

#[cfg(not(unix))]
impl Store {
    pub fn start() -> anyhow::Result<Store> {
        anyhow::bail!("there is a PostgreSQL to download for Linux on x86_64 only")
    }

    pub fn url(&self) -> String {
        match *self {}
    }

    pub fn renew(&self) -> anyhow::Result<()> {
        match *self {}
    }

    pub fn index(&self, _: &super::fixture::Fixture) -> anyhow::Result<()> {
        match *self {}
    }
}

#[cfg(unix)]
mod unix {
    use crate::conformance::fixture::Fixture;
    use crate::conformance::page_content::LARGE_FILES;
    use crate::postgres::DurableServer;
    use crate::run::Owned;
    use anyhow::{Context, Result, bail};
    use serde_json::Value;
    use std::process::Stdio;
    use std::sync::{Mutex, PoisonError};
    use std::time::{Duration, Instant};

    /// The limit for indexing.
    const TIMEOUT: Duration = Duration::from_secs(120);

    /// A server of PostgreSQL, with a worker once there is a tree.
    #[derive(Debug)]
    pub struct Store {
        // Dropped first: the worker ends before the database does.
        worker: Mutex<Option<Owned>>,
        database: DurableServer,
    }

    impl Store {
        /// Starts a server.
        ///
        /// # Errors
        /// No server can be had here.
        pub fn start() -> Result<Store> {
            Ok(Store { worker: Mutex::default(), database: DurableServer::start()? })
        }

        /// Returns the address of the database.
        pub fn url(&self) -> String {
            self.database.url()
        }

        /// Empties the database.
        ///
        /// # Errors
        /// The server refuses.
        pub fn renew(&self) -> Result<()> {
            *self.worker.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.database.renew()
        }

        /// Queues the project, and waits until the worker has indexed it.
        ///
        /// # Errors
        /// The worker cannot be started, or the job fails or does not end.
        pub fn index(&self, fixture: &Fixture) -> Result<()> {
            fixture.output(&["jobs", "add", "--quiet", &fixture.project.to_string_lossy()])?;
            let root =
                fixture.project.parent().context("the project is in no directory")?.to_string_lossy().into_owned();
            let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            if worker.is_none() {
                let mut command = fixture.tamis(&["jobs", "run", "--quiet", "--root", &root]);
                command.envs([LARGE_FILES]).stdin(Stdio::null()).stdout(Stdio::null());
                *worker = Some(Owned(command.spawn().context("the worker cannot be started")?));
            }
            drop(worker);
            let started = Instant::now();
            while started.elapsed() < TIMEOUT {
                let jobs: Value = serde_json::from_slice(&fixture.output(&["jobs", "list", "--json"])?)?;
                match jobs[0]["state"].as_str() {
                    Some("done") => return Ok(()),
                    Some("failed") => bail!("the project cannot be indexed: {jobs}"),
                    _ => std::thread::sleep(Duration::from_millis(100)),
                }
            }
            bail!("the worker did not index the project within {TIMEOUT:?}")
        }
    }
}
