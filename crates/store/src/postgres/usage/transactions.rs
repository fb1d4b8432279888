//! Transactions that give up soon, transactions that wait, and single statements that read.

use std::time::Duration;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::error::{Result, StoreError};
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::usage::rules::{IMPATIENT, PATIENT};

/// The values of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Judgements and openings are added one transaction after the other, so that their numbers ascend in the order in which they become
/// visible. That makes the last number and the count a version of all of them.
pub(super) const LABELS: &str = "SELECT pg_advisory_xact_lock(x'74616d6973000002'::bigint)";

/// The longest that one statement may take while a search waits. It protects a search from an overloaded server; locks are waited for
/// no longer than [`IMPATIENT`].
const STATEMENT: Duration = Duration::from_millis(500);

/// The longest that a search waits for its recording, also when the server does not answer.
const WHOLE: Duration = Duration::from_secs(1);

/// Writes in one transaction, without waiting for anybody. What it commits may be lost if the server breaks down in the next moments.
pub(super) fn impatiently<T>(
    connections: &Connections,
    work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
) -> Result<T> {
    let settings = format!(
        "SET LOCAL lock_timeout = {}; SET LOCAL statement_timeout = {}; SET LOCAL synchronous_commit = off",
        IMPATIENT.as_millis(),
        STATEMENT.as_millis()
    );
    connections.wait(async {
        let written = async {
            let mut connection = connections.connection_within(IMPATIENT).await?;
            let transaction = connection.transaction().await?;
            let set = async { Ok::<_, Failure>(transaction.batch_execute(&settings).await?) };
            // The first statement follows the settings without waiting for the answer to them.
            let (_, done) = tokio::try_join!(biased; set, work(&transaction))?;
            transaction.commit().await?;
            Ok(done)
        };
        match tokio::time::timeout(WHOLE, written).await {
            Ok(result) => result.map_err(|failure| busy(connections, failure)),
            Err(_) => Err(stayed_locked(connections)),
        }
    })
}

/// Writes in one transaction that waits for others. `lock` is empty or a statement that takes a lock.
pub(super) fn patiently<T>(
    connections: &Connections,
    lock: &str,
    work: impl AsyncFn(&tokio_postgres::Transaction<'_>) -> Result<T, Failure>,
) -> Result<T> {
    let begin = format!("SET LOCAL lock_timeout = {}; {lock}", PATIENT.as_millis());
    connections.write(async |transaction| {
        let written = async {
            transaction.batch_execute(&begin).await?;
            work(transaction).await
        };
        written.await.map_err(|failure| busy(connections, failure))
    })
}

/// Reads the rows of one statement.
pub(super) fn rows(connections: &Connections, statement: &str, values: Values<'_>) -> Result<Vec<Row>> {
    connections.ask(async |connection| {
        let statement = connection.prepare_cached(statement).await?;
        Ok(connection.query(&statement, values).await?)
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
    let holder = "the usage log stayed locked".to_owned();
    StoreError::Busy { path: connections.address().into(), holder }.into()
}
