//! The schema and its versions: `user_version` counts the migrations that a database has had.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::Fault;
use crate::error::StoreError;
use crate::schema_version::schema_version;

/// Migration n makes version n + 1. A released one never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
];

/// The version that this program writes.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// What tells the database from any other: "TAMI".
const APPLICATION_ID: i64 = 0x5441_4d49;

/// Brings the database up to date, or makes it.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    if version(connection, path)? == SCHEMA_VERSION {
        return Ok(());
    }
    // Another process may do the same: what holds is what the version says once the lock is ours.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = version(&transaction, path)?;
    for (migration, to) in MIGRATIONS.iter().zip(1u32..).skip(from as usize) {
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", to)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    Ok(())
}

/// Refuses a database that this program can not read as it is.
pub(super) fn require_current(connection: &Connection, path: &Path) -> Result<(), Fault> {
    let found = version(connection, path)?;
    if found < SCHEMA_VERSION {
        return Err(StoreError::Older { path: path.to_owned(), found, supported: SCHEMA_VERSION }.into());
    }
    Ok(())
}

fn version(connection: &Connection, path: &Path) -> Result<u32, Fault> {
    Ok(schema_version(connection, path, APPLICATION_ID, SCHEMA_VERSION)?)
}
