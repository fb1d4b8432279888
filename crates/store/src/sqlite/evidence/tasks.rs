//! The attribute `task` of fragments: the tasks of all claims that an edge leads to.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::super::Fault;
use crate::evidence::{EVIDENCE_COLLECTION, EvidenceRecord, FRAGMENT_PATH, NodeType};
use crate::filter::folded;

/// The attribute's name.
pub(super) const TASK: &str = "task";

/// Fragments whose tasks may be others at the end of a transaction, each by namespace and identifier.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct Unsettled(BTreeSet<(String, String)>);

impl Unsettled {
    /// One fragment.
    pub(super) fn fragment(&mut self, namespace: &str, id: String) {
        self.0.insert((namespace.to_owned(), id));
    }

    /// A document that was put, with the attributes that it was put with.
    pub(in crate::sqlite) fn document(&mut self, namespace: &str, collection: &str, path: &str) {
        if let Some(id) = path.strip_prefix(FRAGMENT_PATH).filter(|_| collection == EVIDENCE_COLLECTION) {
            self.fragment(namespace, id.to_owned());
        }
    }

    /// What a record that was put has to do with.
    pub(super) fn record(
        &mut self,
        connection: &Connection,
        namespace: &str,
        record: &EvidenceRecord,
    ) -> Result<(), Fault> {
        match record {
            EvidenceRecord::Claim(claim) => self.sources_of(connection, namespace, &claim.id)?,
            EvidenceRecord::Edge(edge) if edge.source_type == NodeType::Fragment => {
                self.fragment(namespace, edge.source_id.clone());
            }
            _ => {}
        }
        Ok(())
    }

    /// All fragments with an edge to a claim.
    pub(super) fn sources_of(&mut self, connection: &Connection, namespace: &str, claim: &str) -> Result<(), Fault> {
        let mut statement = connection.prepare_cached(
            "SELECT source_id FROM evidence_edges WHERE namespace = ?1 AND target_type = 'claim' AND target_id = ?2 \
             AND source_type = 'fragment'",
        )?;
        let mut rows = statement.query([namespace, claim])?;
        while let Some(row) = rows.next()? {
            self.fragment(namespace, row.get(0)?);
        }
        Ok(())
    }

    /// Gives each of them the tasks that it has. Returns whether any has others now.
    pub(in crate::sqlite) fn settle(&self, connection: &Connection) -> Result<bool, Fault> {
        let mut changed = false;
        for (namespace, fragment) in &self.0 {
            let document: Option<i64> = connection
                .prepare_cached("SELECT id FROM documents WHERE namespace = ?1 AND path = ?2")?
                .query_row(params![namespace, format!("{FRAGMENT_PATH}{fragment}")], |row| row.get(0))
                .optional()?;
            // One that was deleted has none.
            let Some(document) = document else { continue };
            let known: Vec<String> = connection
                .prepare_cached("SELECT value FROM attributes WHERE document = ?1 AND name = ?2 ORDER BY value")?
                .query_map(params![document, TASK], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let tasks: Vec<String> = connection
                .prepare_cached(
                    "SELECT DISTINCT c.task_id FROM evidence_edges e \
                     JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
                     WHERE e.namespace = ?1 AND e.source_type = 'fragment' AND e.source_id = ?2 AND e.target_type = 'claim' \
                     ORDER BY 1",
                )?
                .query_map([namespace, fragment], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            if known == tasks {
                continue;
            }
            changed = true;
            connection
                .prepare_cached("DELETE FROM attributes WHERE document = ?1 AND name = ?2")?
                .execute(params![document, TASK])?;
            let mut insert = connection
                .prepare_cached("INSERT INTO attributes(document, name, value, folded) VALUES (?1, ?2, ?3, ?4)")?;
            for task in &tasks {
                insert.execute(params![document, TASK, task, folded(task)])?;
            }
        }
        Ok(changed)
    }
}
