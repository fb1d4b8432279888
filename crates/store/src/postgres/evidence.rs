//! Untrusted SQL on evidence. The server never sees a statement of others: it runs on a copy.

use deadpool_postgres::Transaction;
use tokio::sync::Mutex;
use tokio_postgres::Row;

use super::PostgresStore;
use super::error::Failure;
use super::session::{DIALECT, original};
use super::vectors::in_memory::Vector;
use crate::error::Result;
use crate::guard::Filling;
use crate::session::Value;
use crate::sql::{SqlColumn, SqlQuery, SqlRows};

/// Rows fetched at once.
const BATCH: i32 = 1_000;

/// The state of a namespace's evidence: each change of it changes one of these numbers.
const STATE: &str =
    "SELECT concat_ws(' ', number, change_number, evidence_number, changed_ms) FROM namespaces WHERE namespace = $1";

impl PostgresStore {
    /// Runs an untrusted statement on the evidence of a namespace.
    pub(crate) fn query_evidence(
        &self,
        namespace: &str,
        query: &SqlQuery,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<SqlRows> {
        self.guard.query(namespace, query, cancelled, |filling| {
            let filling = Mutex::new(filling);
            self.connections.read_of(&[namespace], async |transaction| {
                let mut filling = filling.lock().await;
                fill(transaction, namespace, &mut filling).await
            })
        })
    }
}

async fn fill(transaction: &Transaction<'_>, namespace: &str, filling: &mut Filling<'_>) -> Result<(), Failure> {
    let state = transaction.prepare_cached(STATE).await?;
    let state = transaction.query_opt(&state, &[&namespace]).await?;
    for table in filling.begin(state.as_ref().map_or("", |row| row.get(0)))? {
        let statement = transaction.prepare_cached(&table.rows(&DIALECT)).await?;
        let found = transaction.bind(&statement, &[&namespace]).await?;
        let mut rows = filling.rows(table)?;
        loop {
            let batch = transaction.query_portal(&found, BATCH).await?;
            for row in &batch {
                let values = table.columns.iter().enumerate().map(|(at, column)| value(row, at, column));
                rows.add(&values.collect::<Result<Vec<_>, _>>()?)?;
            }
            if batch.is_empty() {
                break;
            }
        }
        rows.end()?;
        filling.end(table)?;
    }
    Ok(())
}

/// A value of a row.
fn value(row: &Row, at: usize, column: &SqlColumn) -> Result<Value, Failure> {
    if column.kind != "blob" {
        return Ok(original(row.try_get(at)?));
    }
    // Little-endian floats, the form of every store.
    let Vector(values) = row.try_get(at)?;
    Ok(Value::Bytes(values.iter().flat_map(|value| value.to_le_bytes()).collect()))
}
