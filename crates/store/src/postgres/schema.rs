//! The tables and their versions. Migrations only add, so that servers of the version before go on working.

use super::connection::{Connections, SCHEMA};
use super::error::Failure;
use crate::error::{Result, StoreError};
use tokio_postgres::Transaction;

/// The migrations in order; the version of a database is the number of those it has.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    concat!(
        include_str!("migrations/0003.sql"),
        include_str!("migrations/0003_functions.sql"),
        include_str!("guard/reader.sql")
    ),
];

/// The lock of whoever creates or migrates the tables.
const LOCK: i64 = 0x7461_6d69_7300_0001;

/// Creates the tables, or adds what is missing. Of several processes at once, one does it and the others wait.
///
/// # Errors
/// A newer version of the program wrote the tables, or the server refuses.
pub(super) fn migrate(connections: &Connections) -> Result<()> {
    connections.write(async |transaction| {
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
            transaction.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}")).await?;
            let found = version(transaction).await?;
            for migration in MIGRATIONS.iter().skip(found) {
                transaction.batch_execute(migration).await?;
            }
            let now = MIGRATIONS.len().to_string();
            if found < MIGRATIONS.len() {
                let put = "INSERT INTO meta(key, value) VALUES ('schema_version', $1) \
                    ON CONFLICT (key) DO UPDATE SET value = excluded.value";
                transaction.execute(put, &[&now]).await?;
                let instance = "INSERT INTO meta(key, value) VALUES ('instance', gen_random_uuid()::text), ('removed', '0') \
                    ON CONFLICT DO NOTHING";
                transaction.execute(instance, &[]).await?;
            }
            Ok(())
    })
}

/// The version of the tables; 0 if there are none.
async fn version(transaction: &Transaction<'_>) -> Result<usize, Failure> {
    let exists = transaction.query_one("SELECT to_regclass('meta') IS NOT NULL", &[]).await?;
    if !exists.get::<_, bool>(0) {
        return Ok(0);
    }
    let row = transaction.query_opt("SELECT value FROM meta WHERE key = 'schema_version'", &[]).await?;
    let found = row.and_then(|row| row.get::<_, String>(0).parse::<usize>().ok()).unwrap_or(0);
    if found > MIGRATIONS.len() {
        return Err(StoreError::Newer {
            path: "postgres".into(),
            found: found as u32,
            supported: MIGRATIONS.len() as u32,
        }
        .into());
    }
    Ok(found)
}
