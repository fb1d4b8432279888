//! The tables and their versions. Migrations only add, so that servers of the version before go on working.

use deadpool_postgres::GenericClient;

use super::connection::{Connections, SCHEMA};
use super::error::Failure;
use crate::error::{Result, StoreError};

/// The migrations in order; the version of a database is the number of those it has.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    concat!(
        include_str!("migrations/0003.sql"),
        include_str!("migrations/0003_functions.sql"),
        include_str!("guard/reader.sql")
    ),
    include_str!("migrations/0004_jobs.sql"),
];

/// The lock of whoever creates or migrates the tables.
const LOCK: i64 = 0x7461_6d69_7300_0001;

const PUT_VERSION: &str = "INSERT INTO meta(key, value) VALUES ('schema_version', $1) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";

const PUT_INSTANCE: &str = "INSERT INTO meta(key, value) \
    VALUES ('instance', gen_random_uuid()::text), ('removed', '0') ON CONFLICT DO NOTHING";

/// Creates the tables, or adds what is missing. Of several processes at once, one does it and the others wait. Nothing is written
/// to a database that has everything.
///
/// # Errors
/// A newer version of the program wrote the tables, or the server refuses.
pub(super) fn migrate(connections: &Connections) -> Result<()> {
    let found = connections.wait(async { version(&connections.connection().await?, connections.address()).await })?;
    if found == MIGRATIONS.len() {
        return Ok(());
    }
    connections.write(async |transaction| {
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}")).await?;
        let found = version(transaction, connections.address()).await?;
        for migration in MIGRATIONS.iter().skip(found) {
            transaction.batch_execute(migration).await?;
        }
        transaction.execute(PUT_VERSION, &[&MIGRATIONS.len().to_string()]).await?;
        transaction.execute(PUT_INSTANCE, &[]).await?;
        Ok(())
    })
}

/// The version of the tables; 0 if there are none.
async fn version(client: &impl GenericClient, address: &str) -> Result<usize, Failure> {
    let exists = client.query_one("SELECT to_regclass('meta') IS NOT NULL", &[]).await?;
    if !exists.get::<_, bool>(0) {
        return Ok(0);
    }
    let row = client.query_opt("SELECT value FROM meta WHERE key = 'schema_version'", &[]).await?;
    let found = row.and_then(|row| row.get::<_, String>(0).parse::<usize>().ok()).unwrap_or(0);
    if found > MIGRATIONS.len() {
        let (found, supported) = (found as u32, MIGRATIONS.len() as u32);
        return Err(StoreError::Newer { path: address.into(), found, supported }.into());
    }
    Ok(found)
}
