//! The evidence graph: writing records with their documents, and untrusted SQL on them.

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use super::Database;
use super::batch::Batch;
use super::replay::{decode_vector, evidence_state, instance, properties_changed};
use super::session::{DIALECT, SqliteSession, now};
use crate::connection::file_uri;
use crate::error::{Result, StoreError};
use crate::evidence::EvidenceRecord;
use crate::graph;
use crate::guard::Filling;
use crate::record::{Applied, Change};
use crate::sql::{SqlQuery, SqlRows};

impl Database {
    /// Writes records and applies document changes, in one transaction.
    pub(crate) fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            batch.register(namespace)?;
            changes.iter().try_for_each(|change| batch.change(change))?;
            let tasks = batch.follow_documents()?;
            now(graph::write(&SqliteSession::new(connection), namespace, origin, records, tasks))?;
            properties_changed(connection)?;
            batch.end()
        })
    }

    /// Runs an untrusted statement on the evidence of a namespace.
    pub(crate) fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.guard.query(namespace, query, cancelled, |filling| {
            let mut filled = false;
            while !filled {
                filled = self.read(|connection| {
                    let state = evidence_state(connection)?;
                    Ok(filling.begin(&state)?.is_empty() || self.fill(filling, &state)?)
                })?;
            }
            Ok(())
        })
    }

    /// Fills a copy from the database in a state. Returns `false` if the state is another one by now.
    fn fill(&self, filling: &mut Filling<'_>, state: &str) -> Result<bool> {
        let failed = |error| StoreError::sqlite(self.path(), error);
        register_f32_vector(filling.filler()).map_err(failed)?;
        let uri = file_uri(self.path(), if self.is_frozen()? { "immutable=1" } else { "mode=ro" });
        filling.filler().execute("ATTACH ?1 AS source", [uri]).map_err(failed)?;
        filling.filler().execute_batch("BEGIN").map_err(failed)?;
        // The file may have been replaced a moment ago.
        if instance(filling.filler()).map_err(failed)? != self.instance() {
            return Err(StoreError::replaced(self.path()));
        }
        let is_same = evidence_state(filling.filler()).map_err(failed)? == state;
        if is_same {
            for table in filling.begin(state)? {
                filling.select(table, &table.rows(&DIALECT))?;
            }
        }
        filling.filler().execute_batch("COMMIT; DETACH source").map_err(failed)?;
        Ok(is_same)
    }
}

/// Registers a function that gives a stored vector as the visible tables have it: in single precision.
fn register_f32_vector(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("f32_vector", 1, flags, |context| {
        let mut vector = Vec::new();
        decode_vector(context.get_raw(0).as_blob()?, &mut vector);
        Ok(vector.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
    })
}
