//! The usage log in PostgreSQL, from all servers: how the log of [`crate::usage`] reads and writes there.
//!
//! What a search waits for gives up soon, and does not wait for the server's disk. Feedback waits and is on the disk when it is
//! acknowledged.

#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio_postgres::error::SqlState;

use super::connection::Connections;
use super::error::Failure;
use super::store::PostgresStore;
use crate::error::{Result, StoreError};
use crate::session::Session;
use crate::store::{Usage, UsageLog};
use crate::usage::database::{Database, Patience};
use crate::usage::rules::{IMPATIENT, PATIENT};

/// The longest that one statement may take while a search waits. It protects a search from an overloaded server; locks are waited for
/// no longer than [`IMPATIENT`].
const STATEMENT: Duration = Duration::from_millis(500);

/// The longest that a search waits for its recording, also when the server does not answer.
const WHOLE: Duration = Duration::from_secs(1);

impl Usage for PostgresStore {
    fn usage(&self) -> Result<&dyn UsageLog> {
        Ok(&self.connections)
    }
}

/// The log needs nothing but connections.
impl Database for Connections {
    type Error = Failure;

    fn ask<T: Default>(&self, work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>) -> Result<T> {
        self.ask(async |connection| work(&self.session(connection)).await)
    }

    fn read<T: Default>(&self, work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>) -> Result<T> {
        self.read(async |transaction| work(&self.session(transaction)).await)
    }

    fn write<T>(
        &self,
        patience: Patience,
        work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>,
    ) -> Result<T> {
        match patience {
            Patience::Short => impatiently(self, work),
            Patience::Long => {
                let limit = format!("SET LOCAL lock_timeout = {}", PATIENT.as_millis());
                self.write(async |transaction| {
                    let written = async {
                        transaction.batch_execute(&limit).await?;
                        work(&self.session(transaction)).await
                    };
                    written.await.map_err(|failure| busy(self, failure))
                })
            }
        }
    }

    /// A user who does not own the tables leaves it to the server.
    fn shrink(&self) {
        // Behind a pooler it would wait without a limit.
        let vacuum =
            "VACUUM (FULL) tamis.usage_searches, tamis.usage_judgements, tamis.usage_openings, tamis.usage_quality";
        if self.has_own_sessions() {
            let limit = format!("SET lock_timeout = {}", PATIENT.as_millis());
            let _ = self.wait(self.run_outside(&limit, vacuum));
        }
    }
}

/// Writes in one transaction, without waiting for anybody. What it commits may be lost if the server breaks down in the next moments.
fn impatiently<T>(
    connections: &Connections,
    work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>,
) -> Result<T> {
    let settings = format!(
        "SET LOCAL lock_timeout = {}; SET LOCAL statement_timeout = {}; SET LOCAL synchronous_commit = off",
        IMPATIENT.as_millis(),
        STATEMENT.as_millis()
    );
    connections.wait(async {
        let written = connections.write_within(IMPATIENT, async |transaction| {
            let session = connections.session(transaction);
            let set = async { Ok::<_, Failure>(transaction.batch_execute(&settings).await?) };
            // The first statement follows the settings without waiting for the answer to them.
            Ok(tokio::try_join!(biased; set, work(&session))?.1)
        });
        match tokio::time::timeout(WHOLE, written).await {
            Ok(result) => result.map_err(|failure| busy(connections, failure)),
            Err(_) => Err(stayed_locked(connections)),
        }
    })
}

/// The failure, or [`StoreError::Busy`] if somebody held the tables for too long.
fn busy(connections: &Connections, failure: Failure) -> Failure {
    match &failure {
        Failure::Server(error)
            if error
                .code()
                .is_some_and(|code| [SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED].contains(code)) =>
        {
            stayed_locked(connections)
        }
        _ => failure,
    }
}

fn stayed_locked(connections: &Connections) -> Failure {
    let holder = "another process".to_owned();
    StoreError::Busy { path: connections.address().into(), holder }.into()
}
