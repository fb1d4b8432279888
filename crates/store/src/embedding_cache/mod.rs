//! A cache of vectors that all indexes of a user share.
//!
//! Work trees and clones of one repository hold the same texts. A vector depends on model and text alone, so the cache keeps
//! it under (model, hash of the text), and no index embeds a text that another one has embedded. The cache is optional:
//! whatever happens to it, the vectors can be computed again. It contains neither texts nor paths.
//!
//! It is one SQLite file, shared by all processes of the user. Its size is limited; the least recently used vectors are
//! deleted first.

#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::cache::lock;
use crate::error::{Result, StoreError};
use crate::files::beside;
use crate::record::{ModelKey, TextHash};
use crate::sqlite::connection::{Schema, count, one, quick_check};

/// The file in the cache's directory.
const FILE: &str = "embeddings.db";

/// Share of the size limit that remains after pruning, so that there is room for a while.
const PRUNED_SHARE: f64 = 0.75;

/// Entries deleted at once.
const DELETED_AT_ONCE: i64 = 512;

/// Tolerance of a vector's length, which is one for every model. A vector beyond it is damaged.
const LENGTH_ERROR: f32 = 1e-3;

/// The vectors that a user's indexes share. Threads can share it too.
///
/// The cache has no clock: callers pass days, counted from any fixed day.
///
/// ```
/// use tamis_store::{EmbeddingCache, ModelKey, TextHash};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let cache = EmbeddingCache::open(directory.path(), 1 << 30)?;
/// let model = ModelKey { id: "toy".into(), dimension: 2 };
/// let (known, unknown) = (TextHash::from_text("a sieve"), TextHash::from_text("a spoon"));
/// cache.put(&model, &[(known, vec![0.6, 0.8])], 20_000)?;
/// assert_eq!(cache.get(&model, &[unknown, known], 20_001)?, [None, Some(vec![0.6, 0.8])]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EmbeddingCache {
    path: PathBuf,
    most_bytes: u64,
    makes_room: bool,
    connection: Mutex<Connection>,
}

/// The size of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct CacheSummary {
    /// Vectors of all models.
    pub vectors: u64,
    /// Bytes in use.
    pub bytes: u64,
}

impl EmbeddingCache {
    /// Opens the cache in a directory. A missing directory is created for the user alone; a damaged cache is moved aside
    /// (`embeddings.db.damaged`) and replaced. The cache grows up to `most_bytes`.
    ///
    /// # Errors
    /// [`ReadOnly`](StoreError::ReadOnly) when it cannot be written, [`Busy`](StoreError::Busy) when another process keeps it
    /// for half a second, [`Full`](StoreError::Full), [`OtherVersion`](StoreError::OtherVersion) when another version
    /// of the program made it.
    pub fn open(directory: impl AsRef<Path>, most_bytes: u64) -> Result<EmbeddingCache> {
        let directory = directory.as_ref();
        make_directory(directory).map_err(|error| StoreError::io(directory, "making the cache", error))?;
        let path = directory.join(FILE);
        let connection = Mutex::new(open(&path)?);
        Ok(EmbeddingCache { path, most_bytes, makes_room: true, connection })
    }

    /// Stops this handle from deleting entries: once the cache is full, nothing is added. Meant for callers that may use the
    /// cache but not decide its size.
    #[must_use]
    pub fn without_making_room(mut self) -> EmbeddingCache {
        self.makes_room = false;
        self
    }

    /// Returns the cache's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the vectors of texts under a model, in the order given, and records their use on `day`. A vector with a wrong
    /// dimension, or one that is not finite and of length one (or zero), counts as missing.
    ///
    /// # Errors
    /// The cache cannot be read. Where it is damaged, see [`EmbeddingCache::begin_anew`].
    pub fn get(&self, model: &ModelKey, hashes: &[TextHash], day: i64) -> Result<Vec<Option<Vec<f32>>>> {
        let mut found = vec![None; hashes.len()];
        let mut served: Vec<i64> = Vec::new();
        let mut connection = lock(&self.connection);
        self.reading(&connection, |connection| {
            let Some(number) = model_number(connection, model)? else { return Ok(()) };
            let mut select = connection.prepare_cached(
                "SELECT e.number, e.day, v.vector FROM entries e JOIN vectors v ON v.number = e.number \
                 WHERE e.model = ?1 AND e.hash = ?2",
            )?;
            for (hash, place) in hashes.iter().zip(&mut found) {
                let row = |row: &rusqlite::Row<'_>| {
                    let blob = row.get_ref(2)?.as_blob().unwrap_or_default();
                    Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, decode(blob, model.dimension)))
                };
                if let Some((entry, last, vector)) =
                    select.query_row(params![number, hash.0.as_slice()], row).optional()?
                {
                    if vector.is_some() && last < day {
                        served.push(entry);
                    }
                    *place = vector;
                }
            }
            Ok(())
        })?;
        if !served.is_empty() {
            // An entry that seems slightly older than it is does no harm.
            let _ = touch(&mut connection, &served, day);
        }
        Ok(found)
    }

    /// Stores vectors of unit length, bit for bit, replacing those there, and returns how many were stored. A full cache deletes
    /// its least recently used vectors at most once a day; otherwise it stores nothing. Vectors with a wrong dimension, or
    /// that are not finite and of length one (or zero), are skipped.
    ///
    /// # Errors
    /// The cache cannot be written.
    pub fn put(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)], day: i64) -> Result<u64> {
        let mut connection = lock(&self.connection);
        if used(&connection).map_err(|error| self.failed(error))? >= self.most_bytes
            && self.prune_in(&mut connection, day)? == 0
        {
            return Ok(0);
        }
        let result = (|| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let kept = insert(&transaction, model, vectors, day)?;
            transaction.commit()?;
            Ok(kept)
        })();
        result.map_err(|error| self.failed(error))
    }

    /// Shrinks a cache that exceeds its limit, at most once a day. Returns the number of deleted vectors.
    ///
    /// # Errors
    /// The cache cannot be written.
    pub fn prune(&self, day: i64) -> Result<u64> {
        let mut connection = lock(&self.connection);
        match used(&connection).map_err(|error| self.failed(error))? > self.most_bytes {
            true => self.prune_in(&mut connection, day),
            false => Ok(0),
        }
    }

    /// Returns the cache's size.
    ///
    /// # Errors
    /// The cache cannot be read.
    pub fn summary(&self) -> Result<CacheSummary> {
        self.reading(&lock(&self.connection), |connection| {
            Ok(CacheSummary {
                vectors: count(connection, "SELECT count(*) FROM entries", [])?,
                bytes: used(connection)?,
            })
        })
    }

    /// Returns a description of the damage, if there is any. Reads everything.
    ///
    /// # Errors
    /// The cache cannot be read, for a reason other than damage.
    pub fn damage(&self) -> Result<Option<String>> {
        damage(&lock(&self.connection), &self.path)
    }

    /// Moves a damaged cache aside, so that the next process creates a new one. Returns its new path.
    ///
    /// # Errors
    /// The files cannot be moved.
    pub fn begin_anew(self) -> Result<Option<PathBuf>> {
        let path = self.path.clone();
        drop(self);
        begin_anew(&path)
    }

    fn prune_in(&self, connection: &mut Connection, day: i64) -> Result<u64> {
        if !self.makes_room {
            return Ok(0);
        }
        let most = (self.most_bytes as f64 * PRUNED_SHARE) as u64;
        let result = (|| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let last = transaction.query_row("SELECT max(day) FROM pruned", [], |row| row.get::<_, Option<i64>>(0))?;
            if last.is_some_and(|last| last >= day) {
                return Ok(0);
            }
            transaction.execute("DELETE FROM pruned", [])?;
            transaction.execute("INSERT INTO pruned (day) VALUES (?1)", [day])?;
            let deleted = delete_oldest(&transaction, most)?;
            transaction.commit()?;
            // Free pages that are not returned here are used again.
            let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = vacuum.query([])?;
            while rows.next()?.is_some() {}
            Ok(deleted)
        })();
        result.map_err(|error| self.failed(error))
    }

    fn reading<T>(
        &self,
        connection: &Connection,
        work: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T> {
        // One transaction, so that all reads see the same state.
        let transaction = connection.unchecked_transaction().map_err(|error| self.failed(error))?;
        work(&transaction).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, error)
    }
}

impl Drop for EmbeddingCache {
    fn drop(&mut self) {
        // The last process to close writes back the rest.
        let _ = crate::sqlite::connection::checkpoint(&lock(&self.connection));
    }
}

fn make_directory(directory: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    // A vector reveals something about its text.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn model_number(connection: &Connection, model: &ModelKey) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT number FROM models WHERE name = ?1 AND dimension = ?2";
    one(connection, sql, params![model.id, model.dimension as i64], |row| row.get(0))
}

fn insert(
    transaction: &Transaction<'_>,
    model: &ModelKey,
    vectors: &[(TextHash, Vec<f32>)],
    day: i64,
) -> rusqlite::Result<u64> {
    transaction
        .prepare_cached("INSERT OR IGNORE INTO models (name, dimension) VALUES (?1, ?2)")?
        .execute(params![model.id, model.dimension as i64])?;
    let Some(number) = model_number(transaction, model)? else { return Ok(0) };
    let mut entry = transaction.prepare_cached(
        "INSERT INTO entries (model, hash, day) VALUES (?1, ?2, ?3) \
         ON CONFLICT (model, hash) DO UPDATE SET day = max(day, excluded.day) RETURNING number",
    )?;
    let mut vector = transaction.prepare_cached("INSERT OR REPLACE INTO vectors (number, vector) VALUES (?1, ?2)")?;
    let mut kept = 0;
    for (hash, values) in vectors {
        let Some(blob) = encode(values, model.dimension) else { continue };
        let number: i64 = entry.query_row(params![number, hash.0.as_slice(), day], |row| row.get(0))?;
        vector.execute(params![number, blob])?;
        kept += 1;
    }
    Ok(kept)
}

fn touch(connection: &mut Connection, entries: &[i64], day: i64) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut update = transaction.prepare_cached("UPDATE entries SET day = ?2 WHERE number = ?1 AND day < ?2")?;
        for entry in entries {
            update.execute(params![entry, day])?;
        }
    }
    transaction.commit()
}

/// Deletes the least recently used vectors until at most `most` bytes are used.
fn delete_oldest(transaction: &Transaction<'_>, most: u64) -> rusqlite::Result<u64> {
    let mut deleted = 0;
    while used(transaction)? > most {
        transaction.execute(
            "DELETE FROM vectors WHERE number IN (SELECT number FROM entries ORDER BY day, number LIMIT ?1)",
            [DELETED_AT_ONCE],
        )?;
        let gone = transaction.execute(
            "DELETE FROM entries WHERE number IN (SELECT number FROM entries ORDER BY day, number LIMIT ?1)",
            [DELETED_AT_ONCE],
        )?;
        if gone == 0 {
            break;
        }
        deleted += gone as u64;
    }
    Ok(deleted)
}

/// Bytes in use, without free pages.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    Ok((pages.max(0) as u64).saturating_mul(pragma("page_size")?.max(0) as u64))
}

/// Encodes a vector bit for bit; `None` where no model could have computed it.
fn encode(vector: &[f32], dimension: usize) -> Option<Vec<u8>> {
    is_sound(vector, dimension).then(|| vector.iter().flat_map(|entry| entry.to_le_bytes()).collect())
}

fn decode(blob: &[u8], dimension: usize) -> Option<Vec<f32>> {
    let (entries, rest) = blob.as_chunks::<4>();
    let vector: Vec<f32> = entries.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    (rest.is_empty() && is_sound(&vector, dimension)).then_some(vector)
}

/// Returns `true` if a vector has the model's dimension, is finite, and has length one, or zero for a text unknown to
/// the model.
fn is_sound(vector: &[f32], dimension: usize) -> bool {
    let length = vector.iter().map(|entry| entry * entry).sum::<f32>().sqrt();
    vector.len() == dimension && (length == 0.0 || (length - 1.0).abs() < LENGTH_ERROR)
}

/// Identified by "TAMC".
const SCHEMA: Schema = Schema { application_id: 0x5441_4d43, version: 1, tables: include_str!("schema.sql") };

/// Page size at which vectors of the usual dimensions waste little: five of 384 entries, one of 1536.
const PAGE_BYTES: u32 = 8192;

/// The time to wait for another process.
const PATIENCE: Duration = Duration::from_millis(500);

/// Opens the cache. A missing one is created, an unreadable one replaced.
pub(crate) fn open(path: &Path) -> Result<Connection> {
    match open_as_it_is(path) {
        Err(StoreError::Corrupt { .. }) => {
            begin_anew(path)?;
            open_as_it_is(path)
        }
        opened => opened,
    }
}

/// Moves an unreadable cache aside, unless another process has done so. Returns its new path.
pub(crate) fn begin_anew(path: &Path) -> Result<Option<PathBuf>> {
    let _alone = alone(path)?;
    if open_as_it_is(path).and_then(|connection| damage(&connection, path)).is_ok_and(|damage| damage.is_none()) {
        return Ok(None);
    }
    let aside = beside(path, ".damaged");
    std::fs::rename(path, &aside).map_err(|error| StoreError::io(path, "moving the damaged cache aside", error))?;
    for suffix in ["-wal", "-shm"] {
        match std::fs::remove_file(beside(path, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(path, "removing the log of the damaged cache", error));
            }
            _ => {}
        }
    }
    Ok(Some(aside))
}

/// Returns a description of the damage inside the file, if there is any. Reads everything.
pub(crate) fn damage(connection: &Connection, path: &Path) -> Result<Option<String>> {
    match quick_check(connection).map_err(|error| StoreError::sqlite(path, error)) {
        Err(StoreError::Corrupt { reason, .. }) => Ok(Some(reason)),
        checked => checked,
    }
}

fn open_as_it_is(path: &Path) -> Result<Connection> {
    let open = || -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = crate::sqlite::connection::open(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        // Both settings apply to a new file only, and the second would wait for a writer of an existing one.
        if connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
            connection.pragma_update(None, "page_size", PAGE_BYTES)?;
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        // A crash of the machine costs no more than embedding some texts again.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // On closing, a connection to a file that was moved aside would otherwise delete the log of the new file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(connection)
    };
    // SQLite does not wait where two processes make the same file at once.
    let started = Instant::now();
    let mut connection = loop {
        match open() {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && started.elapsed() < PATIENCE =>
            {
                std::thread::sleep(PATIENCE / 50);
            }
            opened => break opened.map_err(|error| StoreError::sqlite(path, error))?,
        }
    };
    SCHEMA.create(&mut connection, path)?;
    Ok(connection)
}

/// Prevents other processes from moving the cache aside while it lives.
fn alone(path: &Path) -> Result<File> {
    let path = beside(path, ".lock");
    let locked = || {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    locked().map_err(|error| StoreError::locking(&path, error))
}
