//! Counting, checking and pruning the content of the database.

use rusqlite::Connection;

use super::catch_up::{count_kept_texts, kept_texts, now_ms, published_seq, set};
use super::session::{SqliteSession, now};
use super::{Database, SCHEMA, catch_up, changes};
use crate::content;
use crate::content::Problems;
use crate::error::{Result, StoreError};
use crate::report::{Part, Problem, Pruned, Summary};
use crate::sqlite::connection::{all, count, unsigned};

/// The findings of a check of the database, and the passages that the derived indexes should hold.
#[derive(Debug, Default)]
pub(crate) struct Integrity {
    pub(crate) problems: Vec<Problem>,
    /// All passages, ascending.
    pub(crate) passages: Vec<u64>,
}

impl Database {
    /// Counts everything in the database. Figures of the derived files stay empty.
    pub(crate) fn summary(&self) -> Result<Summary> {
        self.snapshot(|connection| {
            Ok(Summary {
                last_change_ms: catch_up::get(connection, "last_change_ms")?,
                last_publish_ms: catch_up::get(connection, "last_publish_ms")?,
                schema_version: SCHEMA.version,
                seq: catch_up::seq(connection)?,
                ..now(content::summary(&SqliteSession::new(connection)))?
            })
        })
    }

    /// Checks the file, its references and its counts.
    pub(crate) fn integrity(&self) -> Result<Integrity> {
        let checked = self.snapshot(|connection| {
            // The first finding is enough: no other one has another way out.
            let mut messages: Vec<String> = all(connection, "PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            messages.retain(|finding| finding != "ok");
            for finding in &mut messages {
                let reason = std::mem::take(finding);
                *finding = StoreError::Corrupt { path: self.path.clone(), reason }.to_string();
            }
            let mut problems = Problems::default();
            for (problem, sql) in CHECKS {
                problems.count(Part::Database, problem, count(connection, sql, [])?);
            }
            let namespaces: Vec<String> = all(connection, "SELECT namespace FROM namespaces", [], |row| row.get(0))?;
            for namespace in &namespaces {
                now(content::check_evidence(&SqliteSession::new(connection), namespace, &mut problems))?;
            }
            let passages =
                all(connection, "SELECT passage FROM passages ORDER BY passage", [], |row| unsigned(row, 0))?;
            Ok((messages, problems, passages))
        });
        let (messages, counted, passages) = match checked {
            Ok(checked) => checked,
            // An unreadable page is a finding too.
            Err(error @ StoreError::Corrupt { .. }) => (vec![error.to_string()], Problems::default(), Vec::new()),
            Err(error) => return Err(error),
        };
        let problem = |message| Problem { part: Part::Database, message, mendable: false };
        Ok(Integrity { problems: messages.into_iter().map(problem).chain(counted.found()).collect(), passages })
    }
}

/// The problems that SQL can count, apart from those of the evidence.
const CHECKS: [(&str, &str); 5] = [
    ("rows refer to missing rows", "SELECT count(*) FROM pragma_foreign_key_check"),
    (
        "documents have a wrong passage count",
        "SELECT count(*) FROM documents d \
         WHERE d.passages <> (SELECT count(*) FROM passages p WHERE p.document = d.document)",
    ),
    (
        "passages have lost their text",
        "SELECT count(*) FROM passages p JOIN texts t ON t.id = p.text_id WHERE t.text IS NULL",
    ),
    (
        "texts cannot be decompressed",
        "SELECT count(*) FROM texts WHERE CASE typeof(text) WHEN 'blob' THEN plain(text) IS NULL END",
    ),
    (
        "vectors have a wrong length for their model",
        "SELECT count(*) FROM vectors v JOIN models m ON m.model = v.model WHERE length(v.vector) <> 2 * m.dimension",
    ),
];

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

    /// Records the change up to which the retrievers were published, and forgets the deletions that all of them have passed.
    pub(crate) fn published(&self, seq: u64, passed_by_all: u64) -> Result<()> {
        self.write(|connection| {
            if connection.execute("DELETE FROM tombstones WHERE seq <= ?1", [passed_by_all as i64])? > 0 {
                set(connection, "tombstone_floor", passed_by_all as i64)?;
            }
            set(connection, "published_seq", published_seq(connection)?.max(seq) as i64)?;
            set(connection, "last_publish_ms", now_ms())?;
            Ok(changes::clear(connection)?)
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
