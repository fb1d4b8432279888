//! Counting and checking the content of the database.

use rusqlite::Connection;

use super::contradictions::contradictions;
use super::schema::SCHEMA;
use super::vectors::EMBEDDED;
use super::{Database, TransactionError, meta};
use crate::error::Result;
use crate::query::{all, count, unsigned};
use crate::record::ModelKey;
use crate::report::{Count, Coverage, ModelSummary, Part, Problem, Summary};

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
        let models = self.models()?;
        self.snapshot(|connection| {
            let documents = count(connection, "SELECT count(*) FROM documents", [])?;
            let passages = count(connection, "SELECT coalesce(sum(passages), 0) FROM documents", [])?;
            let by_document = |column: &str| {
                counts(
                    connection,
                    &format!("SELECT {column}, count(*), sum(passages) FROM documents GROUP BY 1 ORDER BY 1"),
                )
            };
            let by_passage = |column: &str| {
                counts(
                    connection,
                    &format!(
                        "SELECT coalesce({column}, ''), count(DISTINCT p.document), count(*) \
                         FROM passages p JOIN documents d ON d.id = p.document GROUP BY 1 ORDER BY 1"
                    ),
                )
            };
            let models = models.into_iter().map(|model| {
                Ok(ModelSummary {
                    vectors: count(connection, "SELECT count(*) FROM vectors WHERE model = ?1", [model.id])?,
                    coverage: Coverage {
                        passages,
                        embedded: count(connection, &format!("SELECT count(*) {EMBEDDED}"), [model.id])?,
                    },
                    model: ModelKey { id: model.name, dimension: model.dimension },
                    file_seq: None,
                })
            });
            let models = models.collect::<rusqlite::Result<_>>()?;
            Ok(Summary {
                documents,
                passages,
                namespaces: by_document("namespace")?,
                collections: by_document("collection")?,
                languages: by_passage("coalesce(p.language, d.language)")?,
                roles: by_passage("p.role")?,
                models,
                last_change_ms: meta::get(connection, "last_change_ms")?,
                last_publish_ms: meta::get(connection, "last_publish_ms")?,
                schema_version: SCHEMA.version,
                seq: meta::read_seq(connection)? as u64,
                ..Summary::default()
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
            let passages = all(connection, "SELECT id FROM passages ORDER BY id", [], |row| unsigned(row, 0))?;
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
         WHERE d.passages <> (SELECT count(*) FROM passages p WHERE p.document = d.id)",
    ),
    (
        "passages have lost their text",
        "SELECT count(*) FROM passages p JOIN texts t ON t.id = p.text_id WHERE t.text IS NULL",
    ),
    (
        "texts cannot be decompressed",
        "SELECT count(*) FROM texts WHERE CASE typeof(text) WHEN 'blob' THEN decompressed(text) IS NULL END",
    ),
    (
        "vectors have a wrong length for their model",
        "SELECT count(*) FROM vectors v JOIN models m ON m.id = v.model WHERE length(v.vector) <> 2 * m.dimension",
    ),
];

fn counts(connection: &Connection, sql: &str) -> Result<Vec<Count>, TransactionError> {
    let counts = all(connection, sql, [], |row| {
        Ok(Count { name: row.get(0)?, documents: unsigned(row, 1)?, passages: unsigned(row, 2)? })
    })?;
    Ok(counts)
}
