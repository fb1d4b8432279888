//! The usage log in PostgreSQL, from all servers: how the log of [`crate::usage`] reads and writes there.
//!
//! What a search waits for gives up soon, and does not wait for the server's disk. Feedback waits and is on the disk when it is
//! acknowledged.

#[cfg(test)]
mod tests;
mod text;

use std::error::Error;
use std::time::Duration;

use bytes::BytesMut;
use deadpool_postgres::GenericClient;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::connection::Connections;
use super::error::Failure;
use super::store::PostgresStore;
use crate::error::{Result, StoreError};
use crate::store::{Usage, UsageLog};
use crate::usage::database::{Answer, Database, Lock, Patience, Row, Session, Value};
use crate::usage::rules::{IMPATIENT, PATIENT};

/// Keeps others from adding judgements and openings.
const LABELS: &str = "SELECT pg_advisory_xact_lock(x'74616d6973000002'::bigint)";

/// Identifiers are unique in all namespaces, and no index of a distributed table can say so. Two that are equal wait for each other.
/// Locks are taken in one order everywhere, so that nobody waits in a circle.
const SEARCHES: &str = "SELECT pg_advisory_xact_lock(hashtextextended(id, 8386104280808947714)) \
     FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS id ORDER BY id) AS ids";

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
        self.ask(async |connection| work(&On { client: connection, address: self.address() }).await)
    }

    fn read<T: Default>(&self, work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>) -> Result<T> {
        self.read(async |transaction| work(&On { client: transaction, address: self.address() }).await)
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
                        work(&On { client: transaction, address: self.address() }).await
                    };
                    written.await.map_err(|failure| busy(self, failure))
                })
            }
        }
    }

    /// A user who does not own the tables leaves it to the server.
    fn shrink(&self) {
        let _ = self.wait(async {
            let connection = self.connection().await?;
            let vacuum = "VACUUM (FULL) usage_searches, usage_judgements, usage_openings, usage_quality";
            connection.batch_execute(&format!("SET lock_timeout = {}", PATIENT.as_millis())).await?;
            let vacuumed = connection.batch_execute(vacuum).await;
            connection.batch_execute("RESET lock_timeout").await?;
            Ok(vacuumed?)
        });
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
        let written = async {
            let mut connection = connections.connection_within(IMPATIENT).await?;
            let transaction = connection.transaction().await?;
            let session = On { client: &transaction, address: connections.address() };
            let set = async { Ok::<_, Failure>(transaction.batch_execute(&settings).await?) };
            // The first statement follows the settings without waiting for the answer to them.
            let (_, done) = tokio::try_join!(biased; set, work(&session))?;
            transaction.commit().await?;
            Ok(done)
        };
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
    let holder = "the usage log stayed locked".to_owned();
    StoreError::Busy { path: connections.address().into(), holder }.into()
}

/// A connection or a transaction of the database at an address.
struct On<'c, C> {
    client: &'c C,
    address: &'c str,
}

impl<C: GenericClient> Session<Failure> for On<'_, C> {
    fn rows<'s>(&'s self, statement: &'s str, values: &'s [Value]) -> Answer<'s, Vec<Row>, Failure> {
        Box::pin(async move {
            let statement = self.client.prepare_cached(statement).await?;
            let rows = self.client.query(&statement, &parameters(values)).await?;
            let row = |row: &tokio_postgres::Row| {
                let values: Result<Vec<Value>, _> = (0..row.len()).map(|column| row.try_get(column)).collect();
                Ok(Row::from(values?))
            };
            rows.iter().map(row).collect()
        })
    }

    fn execute<'s>(&'s self, statement: &'s str, values: &'s [Value]) -> Answer<'s, u64, Failure> {
        Box::pin(async move {
            let statement = self.client.prepare_cached(statement).await?;
            Ok(self.client.execute(&statement, &parameters(values)).await?)
        })
    }

    fn lock<'s>(&'s self, lock: Lock<'s>) -> Answer<'s, (), Failure> {
        Box::pin(async move {
            match lock {
                Lock::Rows => {}
                Lock::Labels => drop(self.execute(LABELS, &[]).await?),
                Lock::Searches(ids) => {
                    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
                    self.execute(SEARCHES, &[Value::Texts(ids)]).await?;
                }
            }
            Ok(())
        })
    }

    fn one_of(&self, parameter: u32) -> String {
        format!("= ANY(${parameter})")
    }

    fn stays(&self) -> &'static str {
        " FOR KEY SHARE"
    }

    fn damaged(&self, reason: String) -> Failure {
        StoreError::Database { path: self.address.into(), reason }.into()
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// A value takes the type of its column.
impl ToSql for Value {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Boolean(truth) => truth.to_sql(of, out),
            Value::Integer(number) if *of == Type::INT2 => i16::try_from(*number)?.to_sql(of, out),
            Value::Integer(number) => number.to_sql(of, out),
            Value::Real(figure) => figure.to_sql(of, out),
            Value::Text(text) => text::stored(text).to_sql(of, out),
            Value::Bytes(bytes) => bytes.to_sql(of, out),
            Value::Integers(numbers) => numbers.to_sql(of, out),
            Value::Texts(texts) => texts.iter().map(|text| text::stored(text)).collect::<Vec<_>>().to_sql(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'r> FromSql<'r> for Value {
    fn from_sql(of: &Type, raw: &'r [u8]) -> Result<Value, Box<dyn Error + Sync + Send>> {
        Ok(match *of {
            Type::BOOL => Value::Boolean(bool::from_sql(of, raw)?),
            Type::INT2 => Value::Integer(i16::from_sql(of, raw)?.into()),
            Type::INT8 => Value::Integer(i64::from_sql(of, raw)?),
            Type::FLOAT8 => Value::Real(f64::from_sql(of, raw)?),
            Type::TEXT => Value::Text(text::original(String::from_sql(of, raw)?)),
            Type::BYTEA => Value::Bytes(Vec::from_sql(of, raw)?),
            Type::INT8_ARRAY => Value::Integers(Vec::from_sql(of, raw)?),
            Type::TEXT_ARRAY => Value::Texts(Vec::from_sql(of, raw)?.into_iter().map(text::original).collect()),
            _ => return Err(format!("a column of type {of}").into()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Value, Box<dyn Error + Sync + Send>> {
        Ok(Value::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
