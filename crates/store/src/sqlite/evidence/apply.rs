//! Writing records of the evidence graph.

use rusqlite::{Connection, params};

use super::super::batch::Batch;
use super::super::meta::properties_changed;
use super::super::{Database, TransactionError};
use super::records::exists;
use crate::error::{Result, StoreError};
use crate::evidence::{Edge, EvidenceRecord, Relation, domain};
use crate::query::execute;
use crate::record::{Applied, Change};

impl Database {
    /// Writes records and applies document changes, in one transaction.
    pub(crate) fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            batch.register(namespace)?;
            for change in changes {
                batch.change(change)?;
            }
            for record in records {
                put(connection, namespace, origin, record)?;
                batch.tasks.record(connection, namespace, record)?;
            }
            for record in records {
                check(connection, namespace, record)?;
            }
            properties_changed(connection)?;
            batch.end()
        })
    }
}

/// Writes a record, replacing the one with the same key.
fn put(
    connection: &Connection,
    namespace: &str,
    origin: &str,
    record: &EvidenceRecord,
) -> Result<(), TransactionError> {
    match record {
        EvidenceRecord::Task(task) => execute(
            connection,
            "INSERT OR REPLACE INTO evidence_tasks(\
                 namespace, id, question, status, created_at, origin) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![namespace, task.id, task.question, task.status, task.created_at, origin],
        )?,
        EvidenceRecord::Work(work) => execute(
            connection,
            "INSERT OR REPLACE INTO evidence_works(\
                 namespace, id, title, authors, year, venue, doi, citation_count, origin) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                namespace,
                work.id,
                work.title,
                (!work.authors.is_empty()).then(|| serde_json::json!(work.authors).to_string()),
                work.year,
                work.venue,
                work.doi,
                work.citation_count,
                origin
            ],
        )?,
        EvidenceRecord::Page(page) => execute(
            connection,
            "INSERT OR REPLACE INTO evidence_pages(\
                 namespace, id, url, domain, title, work_id, published_at, fetched_at, \
                 origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                namespace,
                page.id,
                page.url,
                page.url.as_deref().and_then(domain),
                page.title,
                page.work_id,
                page.published_at,
                page.fetched_at,
                origin
            ],
        )?,
        EvidenceRecord::Fragment(fragment) => execute(
            connection,
            "INSERT OR REPLACE INTO evidence_fragments(\
                 namespace, id, page_id, text, heading, position, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                namespace, fragment.id, fragment.page_id, fragment.text, fragment.heading, fragment.position,
                fragment.created_at
            ],
        )?,
        EvidenceRecord::Claim(claim) => execute(
            connection,
            "INSERT OR REPLACE INTO evidence_claims(\
                 namespace, id, task_id, text, type, confidence, status, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                namespace, claim.id, claim.task_id, claim.text, claim.claim_type, claim.confidence, claim.status,
                claim.created_at
            ],
        )?,
        EvidenceRecord::Edge(edge) => put_edge(connection, namespace, origin, edge)?,
    };
    Ok(())
}

/// Writes an edge. A stance replaces the fragment's previous one.
fn put_edge(connection: &Connection, namespace: &str, origin: &str, edge: &Edge) -> Result<usize, TransactionError> {
    let Edge { source_type, source_id, target_type, target_id, relation, .. } = edge;
    if !relation.leads(*source_type, *target_type) {
        let ends = match relation {
            Relation::Cites => "from a page or work to a page or work",
            _ => "from a fragment to a claim",
        };
        let reason = format!("leads from a {source_type} to a {target_type}; {relation} leads {ends}");
        return Err(StoreError::Invalid { what: named(&EvidenceRecord::Edge(edge.clone())), reason }.into());
    }
    if relation.is_stance() {
        execute(
            connection,
            "DELETE FROM evidence_edges WHERE namespace = ?1 \
                 AND source_type = ?2 AND source_id = ?3 AND target_type = ?4 \
                 AND target_id = ?5 AND relation IN ('supports', 'refutes', 'neutral')",
            params![namespace, source_type.as_str(), source_id, target_type.as_str(), target_id],
        )?;
    }
    let inserted = execute(
        connection,
        "INSERT OR REPLACE INTO evidence_edges(\
                 namespace, source_type, source_id, target_type, target_id, relation, \
             nli_edge_confidence, note, created_at, origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            namespace,
            source_type.as_str(),
            source_id,
            target_type.as_str(),
            target_id,
            relation.as_str(),
            edge.nli_edge_confidence,
            edge.note,
            edge.created_at,
            origin
        ],
    )?;
    Ok(inserted)
}

/// Fails if the document of a record, or a record that it refers to, is missing.
fn check(connection: &Connection, namespace: &str, record: &EvidenceRecord) -> Result<(), TransactionError> {
    for key in record.refers_to() {
        if !exists(connection, namespace, &key)? {
            let reason = format!("refers to {key}, which is not there; add that first, or with it");
            return Err(StoreError::Invalid { what: named(record), reason }.into());
        }
    }
    if let Some(path) = record.path() {
        let known = connection
            .prepare_cached("SELECT 1 FROM documents WHERE namespace = ?1 AND path = ?2")?
            .exists([namespace, &path])?;
        if !known {
            let reason = format!("has no document {path}, by which it would be found; put both together");
            return Err(StoreError::Invalid { what: named(record), reason }.into());
        }
    }
    Ok(())
}

fn named(record: &EvidenceRecord) -> String {
    record.key().to_string()
}
