//! Counting evidence.

use rusqlite::{Connection, params};

use super::super::Database;
use crate::error::Result;
use crate::evidence::Relation;
use crate::query::{all, unsigned};
use crate::report::{Count, EvidenceSummary};

/// The edges to claims of a task, or of all tasks if it is null.
const EDGES: &str = "FROM evidence_edges e JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
                     WHERE e.namespace = ?1 AND e.target_type = 'claim' AND (?2 IS NULL OR c.task_id = ?2)";

impl Database {
    /// Counts the evidence of a namespace, or the part of it that belongs to one task.
    pub(crate) fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary> {
        self.snapshot(|connection| {
            let count = |sql: &str| crate::query::count(connection, sql, params![namespace, task]);
            // A fragment belongs to a task when one of its edges leads to a claim of the task.
            let fragments = match task {
                None => "SELECT ?2, f.id, f.page_id FROM evidence_fragments f WHERE f.namespace = ?1".to_owned(),
                Some(_) => format!(
                    "SELECT ?2, f.id, f.page_id FROM evidence_fragments f WHERE f.namespace = ?1 AND f.id IN \
                     (SELECT e.source_id {EDGES} AND e.source_type = 'fragment')"
                ),
            };
            let pages = match task {
                None => "SELECT count(*) FROM evidence_pages WHERE namespace = ?1 OR ?2".to_owned(),
                Some(_) => format!("SELECT count(DISTINCT page_id) FROM ({fragments})"),
            };
            let edges = |relation: Relation| count(&format!("SELECT count(*) {EDGES} AND e.relation = '{relation}'"));
            Ok(EvidenceSummary {
                namespace: namespace.to_owned(),
                tasks: count("SELECT count(*) FROM evidence_tasks WHERE namespace = ?1 AND (?2 IS NULL OR id = ?2)")?,
                works: match task {
                    None => count("SELECT count(*) FROM evidence_works WHERE namespace = ?1 OR ?2")?,
                    Some(_) => count(&format!(
                        "SELECT count(DISTINCT p.work_id) FROM ({fragments}) f \
                         JOIN evidence_pages p ON p.namespace = ?1 AND p.id = f.page_id"
                    ))?,
                },
                pages: count(&pages)?,
                fragments: count(&format!("SELECT count(*) FROM ({fragments})"))?,
                claims: count(
                    "SELECT count(*) FROM evidence_claims WHERE namespace = ?1 AND (?2 IS NULL OR task_id = ?2)",
                )?,
                supporting: edges(Relation::Supports)?,
                refuting: edges(Relation::Refutes)?,
                neutral: edges(Relation::Neutral)?,
                top_domains: domains(connection, namespace, task, &fragments)?,
            })
        })
    }
}

/// The domains with most fragments.
fn domains(
    connection: &Connection,
    namespace: &str,
    task: Option<&str>,
    fragments: &str,
) -> rusqlite::Result<Vec<Count>> {
    let sql = format!(
        "SELECT p.domain, count(DISTINCT p.id), count(*) FROM ({fragments}) f \
         JOIN evidence_pages p ON p.namespace = ?1 AND p.id = f.page_id WHERE p.domain IS NOT NULL \
         GROUP BY p.domain ORDER BY 3 DESC, 2 DESC, 1 LIMIT 10"
    );
    all(connection, &sql, params![namespace, task], |row| {
        Ok(Count { name: row.get(0)?, documents: unsigned(row, 1)?, passages: unsigned(row, 2)? })
    })
}
