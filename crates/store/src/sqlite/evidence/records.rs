//! Reading records of the evidence graph.

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Row, params};

use super::super::{Database, TransactionError};
use crate::error::Result;
use crate::evidence::{
    Claim, Edge, EdgeKind, EvidenceKey, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work,
};
use crate::query::{all, one};

const TASKS: &str = "SELECT id, question, status, created_at FROM evidence_tasks";
const WORKS: &str = "SELECT id, title, authors, year, venue, doi, citation_count FROM evidence_works";
const PAGES: &str = "SELECT id, url, title, work_id, published_at, fetched_at FROM evidence_pages";
const FRAGMENTS: &str = "SELECT id, page_id, text, heading, position, created_at FROM evidence_fragments";
const CLAIMS: &str = "SELECT id, task_id, text, type, confidence, status, created_at FROM evidence_claims";
const EDGES: &str = "SELECT source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at \
                     FROM evidence_edges";

impl Database {
    /// Returns all records of a namespace, by kind and key.
    pub(crate) fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>> {
        self.snapshot(|connection| {
            let mut records = Vec::new();
            for (select, read) in [
                (TASKS, task as Reader),
                (WORKS, work),
                (PAGES, page),
                (FRAGMENTS, fragment),
                (CLAIMS, claim),
                (EDGES, edge),
            ] {
                let order = match select {
                    EDGES => "source_type, source_id, target_type, target_id, relation <> 'origin'",
                    _ => "id",
                };
                let sql = format!("{select} WHERE namespace = ?1 ORDER BY {order}");
                records.extend(all::<_, Vec<_>>(connection, &sql, [namespace], read)?);
            }
            Ok(records)
        })
    }

    /// Returns the records that were stored with an origin, by kind and key.
    pub(crate) fn evidence_of_origin(&self, namespace: &str, origin: &str) -> Result<Vec<EvidenceRecord>> {
        self.snapshot(|connection| {
            let mut records = Vec::new();
            for (select, read) in [(TASKS, task as Reader), (WORKS, work), (PAGES, page), (EDGES, edge)] {
                let order = match select {
                    EDGES => "source_type, source_id, target_type, target_id, relation <> 'origin'",
                    _ => "id",
                };
                let sql = format!("{select} WHERE namespace = ?1 AND origin = ?2 ORDER BY {order}");
                records.extend(all::<_, Vec<_>>(connection, &sql, [namespace, origin], read)?);
            }
            Ok(records)
        })
    }

    /// Returns records by key, in the order given.
    pub(crate) fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.snapshot(|connection| keys.iter().map(|key| at(connection, namespace, key)).collect())
    }

    /// Returns the fragments of a page, by identifier.
    pub(crate) fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        let sql = format!("{FRAGMENTS} WHERE namespace = ?1 AND page_id = ?2 ORDER BY id");
        self.read(|connection| Ok(all(connection, &sql, [namespace, page], read_fragment)?))
    }

    /// Returns the edges that lead to a record, by relation and source.
    pub(crate) fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        let sql = format!(
            "{EDGES} WHERE namespace = ?1 AND target_type = ?2 AND target_id = ?3 ORDER BY relation, source_type, source_id"
        );
        self.read(|connection| Ok(all(connection, &sql, [namespace, target_type.as_str(), target_id], read_edge)?))
    }
}

/// Returns `true` if a record exists.
pub(super) fn exists(connection: &Connection, namespace: &str, key: &EvidenceKey) -> Result<bool, TransactionError> {
    let (table, id) = match key {
        EvidenceKey::Task(id) => ("tasks", id),
        EvidenceKey::Work(id) => ("works", id),
        EvidenceKey::Page(id) => ("pages", id),
        EvidenceKey::Fragment(id) => ("fragments", id),
        EvidenceKey::Claim(id) => ("claims", id),
        EvidenceKey::Edge { .. } => return Ok(at(connection, namespace, key)?.is_some()),
    };
    let sql = format!("SELECT 1 FROM evidence_{table} WHERE namespace = ?1 AND id = ?2");
    Ok(connection.prepare_cached(&sql)?.exists([namespace, id])?)
}

fn at(connection: &Connection, namespace: &str, key: &EvidenceKey) -> Result<Option<EvidenceRecord>, TransactionError> {
    let node = |select: &str, id: &str, read: Reader| {
        Ok(one(connection, &format!("{select} WHERE namespace = ?1 AND id = ?2"), params![namespace, id], read)?)
    };
    match key {
        EvidenceKey::Task(id) => node(TASKS, id, task),
        EvidenceKey::Work(id) => node(WORKS, id, work),
        EvidenceKey::Page(id) => node(PAGES, id, page),
        EvidenceKey::Fragment(id) => node(FRAGMENTS, id, fragment),
        EvidenceKey::Claim(id) => node(CLAIMS, id, claim),
        EvidenceKey::Edge { source: (source_type, source_id), target: (target_type, target_id), kind } => {
            let relations = match kind {
                EdgeKind::Origin => "'origin'",
                EdgeKind::Stance => "'supports', 'refutes', 'neutral'",
                EdgeKind::Cites => "'cites'",
            };
            let sql = format!(
                "{EDGES} WHERE namespace = ?1 AND source_type = ?2 AND source_id = ?3 AND target_type = ?4 AND target_id = ?5 \
                 AND relation IN ({relations})"
            );
            let ends = params![namespace, source_type.as_str(), source_id, target_type.as_str(), target_id];
            Ok(one(connection, &sql, ends, edge)?)
        }
    }
}

/// Turns a row into a record.
type Reader = fn(&Row<'_>) -> rusqlite::Result<EvidenceRecord>;

fn task(row: &Row<'_>) -> rusqlite::Result<EvidenceRecord> {
    Ok(EvidenceRecord::Task(Task {
        id: row.get(0)?,
        question: row.get(1)?,
        status: row.get(2)?,
        created_at: row.get(3)?,
    }))
}

fn work(row: &Row<'_>) -> rusqlite::Result<EvidenceRecord> {
    let authors: Option<String> = row.get(2)?;
    let authors = authors.map_or(Ok(Vec::new()), |authors| serde_json::from_str(&authors));
    Ok(EvidenceRecord::Work(Work {
        id: row.get(0)?,
        title: row.get(1)?,
        authors: authors.map_err(|error| FromSqlError::Other(error.into()))?,
        year: row.get(3)?,
        venue: row.get(4)?,
        doi: row.get(5)?,
        citation_count: row.get(6)?,
    }))
}

fn page(row: &Row<'_>) -> rusqlite::Result<EvidenceRecord> {
    Ok(EvidenceRecord::Page(Page {
        id: row.get(0)?,
        url: row.get(1)?,
        title: row.get(2)?,
        work_id: row.get(3)?,
        published_at: row.get(4)?,
        fetched_at: row.get(5)?,
    }))
}

fn fragment(row: &Row<'_>) -> rusqlite::Result<EvidenceRecord> {
    read_fragment(row).map(EvidenceRecord::Fragment)
}

fn read_fragment(row: &Row<'_>) -> rusqlite::Result<Fragment> {
    Ok(Fragment {
        id: row.get(0)?,
        page_id: row.get(1)?,
        text: row.get(2)?,
        heading: row.get(3)?,
        position: row.get(4)?,
        created_at: row.get(5)?,
    })
}

fn claim(row: &Row<'_>) -> rusqlite::Result<EvidenceRecord> {
    Ok(EvidenceRecord::Claim(Claim {
        id: row.get(0)?,
        task_id: row.get(1)?,
        text: row.get(2)?,
        claim_type: row.get(3)?,
        confidence: row.get(4)?,
        status: row.get(5)?,
        created_at: row.get(6)?,
    }))
}

fn edge(row: &Row<'_>) -> rusqlite::Result<EvidenceRecord> {
    read_edge(row).map(EvidenceRecord::Edge)
}

fn read_edge(row: &Row<'_>) -> rusqlite::Result<Edge> {
    let unknown = |name: &str| {
        FromSqlError::Other(format!("{name:?} is neither a node nor a relation of the evidence graph").into())
    };
    let node = |name: &str| NodeType::named(name).ok_or_else(|| unknown(name));
    let relation = row.get_ref(4)?.as_str()?;
    Ok(Edge {
        source_type: node(row.get_ref(0)?.as_str()?)?,
        source_id: row.get(1)?,
        target_type: node(row.get_ref(2)?.as_str()?)?,
        target_id: row.get(3)?,
        relation: Relation::named(relation).ok_or_else(|| unknown(relation))?,
        nli_edge_confidence: row.get(5)?,
        note: row.get(6)?,
        created_at: row.get(7)?,
    })
}
