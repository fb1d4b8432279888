//! Removes data that nothing refers to any more.

use rusqlite::Connection;

use super::meta::{count_kept_texts, kept_texts, now_ms, published_seq, set};
use super::{Database, retired};
use crate::error::Result;
use crate::query::count;
use crate::report::Pruned;

/// Fewest texts without passages that are kept.
const FEWEST_KEPT: i64 = 1024;
/// Fewest free pages that are kept for the next changes.
const FEWEST_FREE: i64 = 4096;

impl Database {
    /// Deletes vectors without passages, then returns the space.
    pub(crate) fn prune(&self) -> Result<Pruned> {
        let pruned = self.write(|connection| Ok(prune(connection, 0)?))?;
        self.vacuum()?;
        Ok(pruned)
    }

    /// Prunes if that pays. Up to as many texts without passages stay as there are others, because they come back when
    /// their branch is checked out again. Space is returned once most of the file is free.
    pub(crate) fn tidy(&self) -> Result<Pruned> {
        let (kept, pages, free) = self.read(|connection| {
            let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            Ok((kept_texts(connection)?, pragma("page_count")?, pragma("freelist_count")?))
        })?;
        let mut pruned = Pruned::default();
        if kept > FEWEST_KEPT {
            let passages = self.read(|connection| Ok(count(connection, "SELECT count(*) FROM passages", [])?))? as i64;
            let most = passages.max(FEWEST_KEPT);
            if kept > most {
                pruned = self.write(|connection| Ok(prune(connection, most / 2)?))?;
            }
        }
        if free > pages / 2 && free > FEWEST_FREE {
            self.vacuum()?;
        }
        Ok(pruned)
    }

    fn vacuum(&self) -> Result<()> {
        self.with_writer(|connection| Ok(connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?))
    }

    /// Records the change up to which the legs were published, and forgets the deletions that all of them have passed.
    pub(crate) fn published(&self, seq: u64, passed_by_all: u64) -> Result<()> {
        self.write(|connection| {
            if connection.execute("DELETE FROM tombstones WHERE seq <= ?1", [passed_by_all as i64])? > 0 {
                set(connection, "tombstone_floor", passed_by_all as i64)?;
            }
            set(connection, "published_seq", published_seq(connection)?.max(seq) as i64)?;
            set(connection, "last_publish_ms", now_ms())?;
            Ok(retired::clear(connection)?)
        })
    }
}

/// Deletes texts without passages and their vectors, except the `kept` latest texts.
fn prune(connection: &Connection, kept: i64) -> rusqlite::Result<Pruned> {
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS pruned(id INTEGER NOT NULL PRIMARY KEY) STRICT; DELETE FROM temp.pruned;",
    )?;
    connection.execute(
        "INSERT INTO temp.pruned SELECT t.id FROM texts t WHERE NOT EXISTS \
         (SELECT 1 FROM passages p WHERE p.text_id = t.id) ORDER BY t.id DESC LIMIT -1 OFFSET ?1",
        [kept],
    )?;
    let vectors = connection.execute("DELETE FROM vectors WHERE text_id IN (SELECT id FROM temp.pruned)", [])?;
    connection.execute("DELETE FROM texts WHERE id IN (SELECT id FROM temp.pruned)", [])?;
    connection.execute("DELETE FROM temp.pruned", [])?;
    count_kept_texts(connection)?;
    Ok(Pruned { vectors: vectors as u64 })
}
