//! The attribute `task` of fragments: the tasks of all claims that their edges lead to.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use crate::evidence::{EVIDENCE_COLLECTION, FRAGMENT_PATH};
use crate::filter::folded;
use crate::query::{all, execute, one};

/// The attribute's name.
const TASK: &str = "task";

/// Fragments whose tasks may have changed in a transaction, by namespace and identifier.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct TaskUpdates(BTreeSet<(String, String)>);

impl TaskUpdates {
    /// Adds a fragment.
    pub(super) fn fragment(&mut self, namespace: &str, id: String) {
        self.0.insert((namespace.to_owned(), id));
    }

    /// Adds the fragment of a document that was put, whose attributes the put has replaced.
    pub(in crate::sqlite) fn document(&mut self, namespace: &str, collection: &str, path: &str) {
        if let Some(id) = path.strip_prefix(FRAGMENT_PATH).filter(|_| collection == EVIDENCE_COLLECTION) {
            self.fragment(namespace, id.to_owned());
        }
    }

    /// Adds the fragments that a new record affects.
    #[cfg(feature = "evidence")]
    pub(in crate::sqlite) fn record(
        &mut self,
        connection: &Connection,
        namespace: &str,
        record: &crate::evidence::EvidenceRecord,
    ) -> rusqlite::Result<()> {
        use crate::evidence::{EvidenceRecord, NodeType};
        match record {
            EvidenceRecord::Claim(claim) => self.sources_of(connection, namespace, &claim.id)?,
            EvidenceRecord::Edge(edge) if edge.source_type == NodeType::Fragment => {
                self.fragment(namespace, edge.source_id.clone());
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds all fragments with an edge to a claim.
    pub(super) fn sources_of(&mut self, connection: &Connection, namespace: &str, claim: &str) -> rusqlite::Result<()> {
        let sql = "SELECT source_id FROM evidence_edges WHERE namespace = ?1 AND target_type = 'claim' AND target_id = ?2 \
                   AND source_type = 'fragment'";
        let sources: Vec<String> = all(connection, sql, [namespace, claim], |row| row.get(0))?;
        sources.into_iter().for_each(|id| self.fragment(namespace, id));
        Ok(())
    }

    /// Updates the attribute of each fragment. Returns `true` if any changed.
    pub(in crate::sqlite) fn apply(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let mut changed = false;
        for (namespace, fragment) in &self.0 {
            let path = format!("{FRAGMENT_PATH}{fragment}");
            let sql = "SELECT id FROM documents WHERE namespace = ?1 AND path = ?2";
            let document: Option<i64> = one(connection, sql, params![namespace, path], |row| row.get(0))?;
            // A deleted fragment has no document.
            let Some(document) = document else { continue };
            let sql = "SELECT value FROM attributes WHERE document = ?1 AND name = ?2 ORDER BY value";
            let known: Vec<String> = all(connection, sql, params![document, TASK], |row| row.get(0))?;
            let sql = "SELECT DISTINCT c.task_id FROM evidence_edges e \
                       JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
                       WHERE e.namespace = ?1 AND e.source_type = 'fragment' AND e.source_id = ?2 \
                       AND e.target_type = 'claim' ORDER BY 1";
            let tasks: Vec<String> = all(connection, sql, [namespace, fragment], |row| row.get(0))?;
            if known == tasks {
                continue;
            }
            changed = true;
            execute(connection, "DELETE FROM attributes WHERE document = ?1 AND name = ?2", params![document, TASK])?;
            for task in &tasks {
                let sql = "INSERT INTO attributes(document, name, value, folded) VALUES (?1, ?2, ?3, ?4)";
                execute(connection, sql, params![document, TASK, task, folded(task)])?;
            }
        }
        Ok(changed)
    }
}
