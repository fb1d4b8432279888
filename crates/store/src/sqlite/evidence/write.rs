//! Records of the evidence graph, in and out.

use rusqlite::{Connection, params};

use super::super::batch::Batch;
use super::super::{Database, Fault};
use super::read::exists;
use super::tasks::Unsettled;
use crate::error::{Result, StoreError};
use crate::evidence::{CLAIM_PATH, Edge, EvidenceRecord, FRAGMENT_PATH, NodeType, Relation, domain};
use crate::record::{Applied, Change, DocumentId};

impl Database {
    /// Puts records and applies changes with them, in one transaction.
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
                batch.unsettled.record(connection, namespace, record)?;
            }
            for record in records {
                check(connection, namespace, record)?;
            }
            batch.end()
        })
    }

    /// Removes what came from an origin out of namespaces.
    pub(crate) fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            for namespace in namespaces {
                let documents: Vec<u32> = connection
                    .prepare_cached("SELECT id FROM documents WHERE namespace = ?1 AND origin = ?2 ORDER BY id")?
                    .query_map([namespace, origin], |row| row.get(0))?
                    .collect::<rusqlite::Result<_>>()?;
                documents.into_iter().try_for_each(|document| batch.delete(DocumentId(document)))?;
                remove(connection, namespace, origin, &mut batch.unsettled)?;
            }
            batch.end()
        })
    }
}

/// Writes a record in place of the one with its key.
fn put(connection: &Connection, namespace: &str, origin: &str, record: &EvidenceRecord) -> Result<(), Fault> {
    match record {
        EvidenceRecord::Task(task) => connection
            .prepare_cached(
                "INSERT OR REPLACE INTO evidence_tasks(namespace, id, question, status, created_at, origin) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![namespace, task.id, task.question, task.status, task.created_at, origin])?,
        EvidenceRecord::Work(work) => connection
            .prepare_cached(
                "INSERT OR REPLACE INTO evidence_works(namespace, id, title, authors, year, venue, doi, citation_count, origin) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                namespace,
                work.id,
                work.title,
                (!work.authors.is_empty()).then(|| serde_json::json!(work.authors).to_string()),
                work.year,
                work.venue,
                work.doi,
                work.citation_count,
                origin
            ])?,
        EvidenceRecord::Page(page) => connection
            .prepare_cached(
                "INSERT OR REPLACE INTO evidence_pages(namespace, id, url, domain, title, work_id, published_at, fetched_at, \
                 origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                namespace,
                page.id,
                page.url,
                page.url.as_deref().and_then(domain),
                page.title,
                page.work_id,
                page.published_at,
                page.fetched_at,
                origin
            ])?,
        EvidenceRecord::Fragment(fragment) => connection
            .prepare_cached(
                "INSERT OR REPLACE INTO evidence_fragments(namespace, id, page_id, text, heading, position, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                namespace,
                fragment.id,
                fragment.page_id,
                fragment.text,
                fragment.heading,
                fragment.position,
                fragment.created_at
            ])?,
        EvidenceRecord::Claim(claim) => connection
            .prepare_cached(
                "INSERT OR REPLACE INTO evidence_claims(namespace, id, task_id, text, type, confidence, status, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                namespace,
                claim.id,
                claim.task_id,
                claim.text,
                claim.claim_type,
                claim.confidence,
                claim.status,
                claim.created_at
            ])?,
        EvidenceRecord::Edge(edge) => put_edge(connection, namespace, origin, edge)?,
    };
    Ok(())
}

/// Writes an edge. A stand takes the place of the one that the fragment took before.
fn put_edge(connection: &Connection, namespace: &str, origin: &str, edge: &Edge) -> Result<usize, Fault> {
    let Edge { source_type, source_id, target_type, target_id, relation, .. } = edge;
    if !relation.leads(*source_type, *target_type) {
        let ends = match relation {
            Relation::Cites => "from a page or work to a page or work",
            _ => "from a fragment to a claim",
        };
        let reason = format!("leads from a {source_type} to a {target_type}; {relation} leads {ends}");
        return Err(StoreError::Invalid { what: named(&EvidenceRecord::Edge(edge.clone())), reason }.into());
    }
    if relation.is_stand() {
        connection
            .prepare_cached(
                "DELETE FROM evidence_edges WHERE namespace = ?1 AND source_type = ?2 AND source_id = ?3 AND target_type = ?4 \
                 AND target_id = ?5 AND relation IN ('supports', 'refutes', 'neutral')",
            )?
            .execute(params![namespace, source_type.as_str(), source_id, target_type.as_str(), target_id])?;
    }
    let inserted = connection
        .prepare_cached(
            "INSERT OR REPLACE INTO evidence_edges(namespace, source_type, source_id, target_type, target_id, relation, \
             nli_edge_confidence, note, created_at, origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
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
        ])?;
    Ok(inserted)
}

/// What a record refers to, and its document, must be there once all is written.
fn check(connection: &Connection, namespace: &str, record: &EvidenceRecord) -> Result<(), Fault> {
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

/// Takes out the record of a document that is deleted, with all edges of it.
pub(in crate::sqlite) fn forget(
    connection: &Connection,
    namespace: &str,
    path: &str,
    unsettled: &mut Unsettled,
) -> Result<(), Fault> {
    let (kind, table, id) = match (path.strip_prefix(FRAGMENT_PATH), path.strip_prefix(CLAIM_PATH)) {
        (Some(id), _) => (NodeType::Fragment, "evidence_fragments", id),
        (None, Some(id)) => (NodeType::Claim, "evidence_claims", id),
        (None, None) => return Ok(()),
    };
    if kind == NodeType::Claim {
        unsettled.sources_of(connection, namespace, id)?;
    }
    remove_edges_of(connection, namespace, kind, id)?;
    connection
        .prepare_cached(&format!("DELETE FROM {table} WHERE namespace = ?1 AND id = ?2"))?
        .execute([namespace, id])?;
    Ok(())
}

fn remove_edges_of(connection: &Connection, namespace: &str, kind: NodeType, id: &str) -> Result<(), Fault> {
    for end in ["source", "target"] {
        connection
            .prepare_cached(&format!(
                "DELETE FROM evidence_edges WHERE namespace = ?1 AND {end}_type = ?2 AND {end}_id = ?3"
            ))?
            .execute([namespace, kind.as_str(), id])?;
    }
    Ok(())
}

/// Takes out the evidence of an origin that is no document: its edges, and its pages, works and tasks that nothing refers to
/// that stays.
fn remove(connection: &Connection, namespace: &str, origin: &str, unsettled: &mut Unsettled) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM evidence_edges WHERE namespace = ?1 AND origin = ?2 RETURNING source_type, source_id",
    )?;
    let mut rows = statement.query([namespace, origin])?;
    while let Some(row) = rows.next()? {
        if row.get_ref(0)?.as_str()? == NodeType::Fragment.as_str() {
            unsettled.fragment(namespace, row.get(1)?);
        }
    }
    // In this order: a page that goes frees its work.
    let nodes = [
        (Some(NodeType::Page), "evidence_pages", "evidence_fragments", "page_id"),
        (Some(NodeType::Work), "evidence_works", "evidence_pages", "work_id"),
        (None, "evidence_tasks", "evidence_claims", "task_id"),
    ];
    for (kind, table, referring, column) in nodes {
        let removed: Vec<String> = connection
            .prepare_cached(&format!(
                "DELETE FROM {table} WHERE namespace = ?1 AND origin = ?2 AND NOT EXISTS \
                 (SELECT 1 FROM {referring} r WHERE r.namespace = {table}.namespace AND r.{column} = {table}.id) RETURNING id"
            ))?
            .query_map([namespace, origin], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for (kind, id) in kind.iter().flat_map(|kind| removed.iter().map(move |id| (*kind, id))) {
            remove_edges_of(connection, namespace, kind, id)?;
        }
    }
    Ok(())
}

/// Takes out all evidence of a namespace. Its documents go apart.
pub(in crate::sqlite) fn empty(connection: &Connection, namespace: &str) -> Result<(), Fault> {
    for table in ["edges", "claims", "fragments", "pages", "works", "tasks"] {
        connection.execute(&format!("DELETE FROM evidence_{table} WHERE namespace = ?1"), [namespace])?;
    }
    Ok(())
}
