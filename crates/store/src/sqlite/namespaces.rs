//! The registry of namespaces, and the own dates of their documents.

use rusqlite::{Connection, params};

use super::batch::Batch;
use super::evidence::empty;
use super::write::{properties_changed, read_seq, write_seq};
use super::{Database, Fault};
use crate::error::{Result, StoreError};
use crate::namespace::{Namespace, NewNamespace};
use crate::record::Applied;

impl Database {
    /// All namespaces, by name.
    pub(crate) fn namespaces(&self) -> Result<Vec<Namespace>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT n.name, n.root, n.owner, n.shared, count(d.id), coalesce(sum(d.passages), 0) \
                 FROM namespaces n LEFT JOIN documents d ON d.namespace = n.name GROUP BY n.id ORDER BY n.name",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(Namespace {
                    name: row.get(0)?,
                    root: row.get(1)?,
                    owner: row.get(2)?,
                    shared: row.get(3)?,
                    documents: row.get::<_, i64>(4)? as u64,
                    passages: row.get::<_, i64>(5)? as u64,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Makes a namespace known, or replaces what is known of it.
    pub(crate) fn put_namespace(&self, namespace: &NewNamespace) -> Result<()> {
        let NewNamespace { name, root, owner, shared } = namespace;
        if name.is_empty() {
            return Err(StoreError::Invalid {
                what: "a namespace without a name".to_owned(),
                reason: "a namespace is found by its name: give it one".to_owned(),
            });
        }
        self.write(|connection| {
            register(connection, name)?;
            connection
                .prepare_cached("UPDATE namespaces SET root = ?2, owner = ?3, shared = ?4 WHERE name = ?1")?
                .execute(params![name, root, owner, shared])?;
            told(connection)
        })
    }

    /// Removes a namespace and its documents.
    pub(crate) fn remove_namespace(&self, name: &str) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            empty(connection, name)?;
            batch.empty(name)?;
            connection.execute("DELETE FROM namespaces WHERE name = ?1", [name])?;
            let applied = batch.end()?;
            told(connection)?;
            Ok(applied)
        })
    }

    /// Sets the own dates of documents. Returns how many are others now.
    pub(crate) fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64> {
        self.write(|connection| {
            let mut statement = connection.prepare_cached(
                "UPDATE documents SET dated_ns = ?3 WHERE namespace = ?1 AND path = ?2 AND dated_ns IS NOT ?3",
            )?;
            let mut changed = 0;
            for (path, date) in dates {
                changed += statement.execute(params![namespace, path, date])? as u64;
            }
            if changed > 0 {
                properties_changed(connection)?;
            }
            Ok(changed)
        })
    }
}

/// Gives a namespace its number, where it has none.
pub(super) fn register(connection: &Connection, name: &str) -> Result<(), Fault> {
    let known = connection.prepare_cached("SELECT 1 FROM namespaces WHERE name = ?1")?.exists([name])?;
    if !known {
        connection.prepare_cached("INSERT INTO namespaces(name) VALUES (?1)")?.execute([name])?;
    }
    Ok(())
}

/// A change of what is known of namespaces is a change like any other: who remembers them looks again.
fn told(connection: &Connection) -> Result<(), Fault> {
    Ok(write_seq(connection, read_seq(connection)? + 1)?)
}
