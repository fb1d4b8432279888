//! Counting and checking the content of the database.

use rusqlite::Connection;

use super::schema::SCHEMA;
use super::{Database, TransactionError, meta};
use crate::content;
use crate::error::Result;
use crate::query::{all, count, unsigned};
use crate::report::{Part, Problem, Summary};
use crate::session::sqlite::{SqliteSession, now};

/// Most findings of SQLite's own check that are reported.
const MAX_FINDINGS: usize = 20;

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
                last_change_ms: meta::get(connection, "last_change_ms")?,
                last_publish_ms: meta::get(connection, "last_publish_ms")?,
                schema_version: SCHEMA.version,
                seq: meta::seq(connection)?,
                ..now(content::summary(&SqliteSession::new(connection)))?
            })
        })
    }

    /// Checks the file, its references and its counts.
    pub(crate) fn integrity(&self) -> Result<Integrity> {
        let checked = self.snapshot(|connection| {
            let findings = format!("PRAGMA integrity_check({MAX_FINDINGS})");
            let mut messages: Vec<String> = all(connection, &findings, [], |row| row.get(0))?;
            messages.retain(|finding| finding != "ok");
            messages.iter_mut().for_each(|finding| finding.insert_str(0, "integrity check: "));
            for (problem, sql) in CHECKS {
                let found = count(connection, sql, [])?;
                if found > 0 {
                    messages.push(format!("{found} {problem}"));
                }
            }
            messages.extend(contradictions(connection)?);
            let passages =
                all(connection, "SELECT passage FROM passages ORDER BY passage", [], |row| unsigned(row, 0))?;
            Ok((messages, passages))
        });
        let (messages, passages) = match checked {
            Ok(checked) => checked,
            // An unreadable page is a finding too.
            Err(error @ crate::StoreError::Corrupt { .. }) => (vec![error.to_string()], Vec::new()),
            Err(error) => return Err(error),
        };
        let problem = |message| Problem { part: Part::Database, message, mendable: false };
        Ok(Integrity { problems: messages.into_iter().map(problem).collect(), passages })
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

/// Returns a sentence for each problem of the evidence.
fn contradictions(connection: &Connection) -> Result<Vec<String>, TransactionError> {
    let namespaces: Vec<String> = all(connection, "SELECT namespace FROM namespaces", [], |row| row.get(0))?;
    let mut found: Vec<(&str, u64)> = Vec::new();
    for namespace in &namespaces {
        let problems = now(content::evidence_problems(&SqliteSession::new(connection), namespace))?;
        match found.is_empty() {
            true => found = problems,
            false => found.iter_mut().zip(problems).for_each(|(known, (_, more))| known.1 += more),
        }
    }
    Ok(found.iter().filter(|(_, count)| *count > 0).map(|(problem, count)| format!("{count} {problem}")).collect())
}
