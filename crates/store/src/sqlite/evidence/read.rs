//! Records of the evidence graph, given back as they were put.

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::super::{Database, Fault};
use crate::error::Result;
use crate::evidence::{
    Claim, Edge, EdgePlace, EvidenceKey, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work,
};

const TASKS: &str = "SELECT id, question, status, created_at FROM evidence_tasks";
const WORKS: &str = "SELECT id, title, authors, year, venue, doi, citation_count FROM evidence_works";
const PAGES: &str = "SELECT id, url, title, work_id, published_at, fetched_at FROM evidence_pages";
const FRAGMENTS: &str = "SELECT id, page_id, text, heading, position, created_at FROM evidence_fragments";
const CLAIMS: &str = "SELECT id, task_id, text, type, confidence, status, created_at FROM evidence_claims";
const EDGES: &str = "SELECT source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at \
                     FROM evidence_edges";

impl Database {
    /// All records of a namespace, by kind and key.
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
                records.extend(all(connection, &sql, [namespace], read)?);
            }
            Ok(records)
        })
    }

    /// Records by their keys, in the order asked for.
    pub(crate) fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.snapshot(|connection| keys.iter().map(|key| at(connection, namespace, key)).collect())
    }

    /// The fragments of a page, by identifier.
    pub(crate) fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        let sql = format!("{FRAGMENTS} WHERE namespace = ?1 AND page_id = ?2 ORDER BY id");
        let records = self.read(|connection| all(connection, &sql, [namespace, page], fragment))?;
        let fragment = |record| if let EvidenceRecord::Fragment(fragment) = record { Some(fragment) } else { None };
        Ok(records.into_iter().filter_map(fragment).collect())
    }

    /// The edges that lead to a record, by relation and source.
    pub(crate) fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        let sql = format!(
            "{EDGES} WHERE namespace = ?1 AND target_type = ?2 AND target_id = ?3 ORDER BY relation, source_type, source_id"
        );
        let records =
            self.read(|connection| all(connection, &sql, [namespace, target_type.as_str(), target_id], edge))?;
        let edge = |record| if let EvidenceRecord::Edge(edge) = record { Some(edge) } else { None };
        Ok(records.into_iter().filter_map(edge).collect())
    }
}

/// Whether a record is there.
pub(super) fn exists(connection: &Connection, namespace: &str, key: &EvidenceKey) -> Result<bool, Fault> {
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

fn at(connection: &Connection, namespace: &str, key: &EvidenceKey) -> Result<Option<EvidenceRecord>, Fault> {
    let node = |select: &str, id: &str, read: Reader| {
        one(connection, &format!("{select} WHERE namespace = ?1 AND id = ?2"), params![namespace, id], read)
    };
    match key {
        EvidenceKey::Task(id) => node(TASKS, id, task),
        EvidenceKey::Work(id) => node(WORKS, id, work),
        EvidenceKey::Page(id) => node(PAGES, id, page),
        EvidenceKey::Fragment(id) => node(FRAGMENTS, id, fragment),
        EvidenceKey::Claim(id) => node(CLAIMS, id, claim),
        EvidenceKey::Edge { source: (source_type, source_id), target: (target_type, target_id), place } => {
            let relations = match place {
                EdgePlace::Origin => "'origin'",
                EdgePlace::Stand => "'supports', 'refutes', 'neutral'",
                EdgePlace::Cites => "'cites'",
            };
            let sql = format!(
                "{EDGES} WHERE namespace = ?1 AND source_type = ?2 AND source_id = ?3 AND target_type = ?4 AND target_id = ?5 \
                 AND relation IN ({relations})"
            );
            let ends = params![namespace, source_type.as_str(), source_id, target_type.as_str(), target_id];
            one(connection, &sql, ends, edge)
        }
    }
}

/// How a row becomes a record.
type Reader = fn(&Row<'_>) -> rusqlite::Result<EvidenceRecord>;

fn all(connection: &Connection, sql: &str, values: impl Params, read: Reader) -> Result<Vec<EvidenceRecord>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(values, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn one(connection: &Connection, sql: &str, values: impl Params, read: Reader) -> Result<Option<EvidenceRecord>, Fault> {
    Ok(connection.prepare_cached(sql)?.query_row(values, read).optional()?)
}

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
    Ok(EvidenceRecord::Fragment(Fragment {
        id: row.get(0)?,
        page_id: row.get(1)?,
        text: row.get(2)?,
        heading: row.get(3)?,
        position: row.get(4)?,
        created_at: row.get(5)?,
    }))
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
    let unknown = |name: &str| FromSqlError::Other(format!("{name:?} is no part of the evidence graph").into());
    let node = |name: &str| NodeType::named(name).ok_or_else(|| unknown(name));
    let relation = row.get_ref(4)?.as_str()?;
    Ok(EvidenceRecord::Edge(Edge {
        source_type: node(row.get_ref(0)?.as_str()?)?,
        source_id: row.get(1)?,
        target_type: node(row.get_ref(2)?.as_str()?)?,
        target_id: row.get(3)?,
        relation: Relation::named(relation).ok_or_else(|| unknown(relation))?,
        nli_edge_confidence: row.get(5)?,
        note: row.get(6)?,
        created_at: row.get(7)?,
    }))
}
