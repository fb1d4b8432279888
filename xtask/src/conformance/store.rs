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

    pub fn start_worker(&self, _: std::process::Command) -> anyhow::Result<()> {
        match *self {}
    }
}

#[cfg(unix)]
mod unix {
    use crate::postgres::DurableServer;
    use crate::run::Owned;
    use anyhow::{Context, Result};
    use std::process::{Command, Stdio};
    use std::sync::{Mutex, PoisonError};

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

        /// Starts a worker, unless it runs.
        ///
        /// # Errors
        /// It cannot be started.
        pub fn start_worker(&self, mut command: Command) -> Result<()> {
            let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            if worker.is_none() {
                command.stdin(Stdio::null()).stdout(Stdio::null());
                *worker = Some(Owned(command.spawn().context("the worker cannot be started")?));
            }
            Ok(())
        }
    }
}
