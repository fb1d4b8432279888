//! Which version of our schema a database has: the same question to each of the databases.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{Result, StoreError};

/// The version of a database that is ours, told by `application`, or 0 of an empty one; at most `supported`.
pub(crate) fn schema_version(connection: &Connection, path: &Path, application: i64, supported: u32) -> Result<u32> {
    let failed = |error| StoreError::sqlite(path, error);
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    // Reads the file in any case, which an empty one says nothing against.
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    if id != application && (tables.map_err(failed)? != 0 || found != 0) {
        let reason = "the database of another program".to_owned();
        return Err(StoreError::Corrupt { path: path.to_owned(), reason });
    }
    if found > supported {
        return Err(StoreError::Newer { path: path.to_owned(), found, supported });
    }
    Ok(found)
}
