//! Counting and checking what the database holds.

use rusqlite::{Connection, OptionalExtension};

use super::{Database, Fault, SCHEMA_VERSION};
use crate::error::Result;
use crate::record::ModelKey;
use crate::report::{Count, Coverage, ModelSummary, Origin, Part, Problem, Summary};

/// Most findings of SQLite's own check that are passed on.
const MAX_FINDINGS: usize = 20;

/// What a check of the database found, and what the derived indexes should hold.
#[derive(Debug, Default)]
pub(crate) struct Integrity {
    pub(crate) problems: Vec<Problem>,
    /// All passages, ascending.
    pub(crate) passages: Vec<u64>,
}

impl Database {
    /// Counts everything; what only the files know is left empty.
    pub(crate) fn summary(&self) -> Result<Summary> {
        let models = self.models()?;
        self.snapshot(|connection| {
            let (documents, passages): (i64, i64) = connection.query_row(
                "SELECT count(*), coalesce(sum(passages), 0) FROM documents",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
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
            let models = models
                .into_iter()
                .map(|model| {
                    let count = |sql: &str| connection.query_row(sql, [model.id], |row| row.get::<_, i64>(0));
                    let embedded = count(
                        "SELECT count(*) FROM passages p WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1)",
                    )?;
                    Ok(ModelSummary {
                        vectors: count("SELECT count(*) FROM vectors WHERE model = ?1")? as u64,
                        coverage: Coverage {
                            passages: passages as u64,
                            embedded: embedded as u64,
                        },
                        model: ModelKey {
                            id: model.name,
                            dimension: model.dimension,
                        },
                        file_seq: None,
                    })
                })
                .collect::<rusqlite::Result<_>>()?;
            Ok(Summary {
                documents: documents as u64,
                passages: passages as u64,
                namespaces: by_document("namespace")?,
                collections: by_document("collection")?,
                languages: by_passage("coalesce(p.language, d.language)")?,
                roles: by_passage("p.role")?,
                models,
                last_change_ms: time(connection, "last_change_ms")?,
                last_publish_ms: time(connection, "last_publish_ms")?,
                schema_version: SCHEMA_VERSION,
                seq: super::replay::seq(connection)?,
                ..Summary::default()
            })
        })
    }

    /// Where documents came from that are no files, and evidence that is no document.
    pub(crate) fn origins(&self) -> Result<Vec<Origin>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT namespace, collection, origin, sum(documents), sum(passages), max(dated_ns) FROM (\
                   SELECT namespace, collection, origin, count(*) AS documents, sum(passages) AS passages, \
                     max(dated_ns) AS dated_ns FROM documents WHERE origin IS NOT NULL GROUP BY 1, 2, 3 \
                   UNION ALL SELECT namespace, 'evidence', origin, 0, 0, NULL FROM (\
                     SELECT namespace, origin FROM evidence_tasks UNION SELECT namespace, origin FROM evidence_works \
                     UNION SELECT namespace, origin FROM evidence_pages UNION SELECT namespace, origin FROM evidence_edges)) \
                 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(Origin {
                    namespace: row.get(0)?,
                    collection: row.get(1)?,
                    name: row.get(2)?,
                    documents: row.get::<_, i64>(3)? as u64,
                    passages: row.get::<_, i64>(4)? as u64,
                    dated_ns: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Checks the file, the references in it and the counts.
    pub(crate) fn integrity(&self) -> Result<Integrity> {
        let mut integrity = Integrity::default();
        let checked = self.snapshot(|connection| {
            let mut messages: Vec<String> = Vec::new();
            let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MAX_FINDINGS})"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let finding: String = row.get(0)?;
                if finding != "ok" {
                    messages.push(format!("integrity check: {finding}"));
                }
            }
            let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
            let mut rows = statement.query([])?;
            let mut dangling = 0u64;
            while rows.next()?.is_some() {
                dangling += 1;
            }
            if dangling > 0 {
                messages.push(format!("{dangling} rows refer to rows that are not there"));
            }
            let miscounted: i64 = connection.query_row(
                "SELECT count(*) FROM documents d WHERE d.passages <> (SELECT count(*) FROM passages p WHERE p.document = d.id)",
                [],
                |row| row.get(0),
            )?;
            if miscounted > 0 {
                messages.push(format!("{miscounted} documents have another number of passages than recorded"));
            }
            let lost: i64 = connection.query_row(
                "SELECT count(*) FROM passages p JOIN texts t ON t.id = p.text_id WHERE t.text IS NULL",
                [],
                |row| row.get(0),
            )?;
            if lost > 0 {
                messages.push(format!("{lost} passages have lost their text"));
            }
            let misshapen: i64 = connection.query_row(
                "SELECT count(*) FROM vectors v JOIN models m ON m.id = v.model WHERE length(v.vector) <> 4 * m.dimension",
                [],
                |row| row.get(0),
            )?;
            if misshapen > 0 {
                messages.push(format!("{misshapen} vectors are not of their model's length"));
            }
            messages.extend(super::evidence::contradictions(connection)?);
            let mut statement = connection.prepare("SELECT id FROM passages ORDER BY id")?;
            let rows = statement.query_map([], |row| row.get::<_, i64>(0).map(|id| id as u64))?;
            Ok((messages, rows.collect::<rusqlite::Result<Vec<u64>>>()?))
        });
        let (messages, passages) = match checked {
            Ok(checked) => checked,
            // A page that can not be read is a finding, not a reason to stop looking.
            Err(error @ crate::StoreError::Corrupt { .. }) => (vec![error.to_string()], Vec::new()),
            Err(error) => return Err(error),
        };
        integrity.passages = passages;
        integrity.problems.extend(messages.into_iter().map(|message| Problem {
            part: Part::Database,
            message,
            mendable: false,
        }));
        Ok(integrity)
    }

    /// Passages with a vector of a model, ascending.
    pub(crate) fn embedded(&self, model: i64) -> Result<Vec<u64>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT p.id FROM passages p WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1) ORDER BY p.id",
            )?;
            let rows = statement.query_map([model], |row| row.get::<_, i64>(0).map(|id| id as u64))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

fn counts(connection: &Connection, sql: &str) -> Result<Vec<Count>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(Count { name: row.get(0)?, documents: row.get::<_, i64>(1)? as u64, passages: row.get::<_, i64>(2)? as u64 })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn time(connection: &Connection, key: &str) -> Result<Option<i64>, Fault> {
    Ok(connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}
