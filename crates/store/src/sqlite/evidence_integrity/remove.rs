//! Removing records of the evidence graph.

use rusqlite::Connection;

use super::tasks::TaskUpdates;
use crate::evidence::{CLAIM_PATH, FRAGMENT_PATH, NodeType};
use crate::query::{all, execute};

/// Removes the record of a deleted document, with all its edges.
pub(in crate::sqlite) fn remove_record(
    connection: &Connection,
    namespace: &str,
    path: &str,
    tasks: &mut TaskUpdates,
) -> rusqlite::Result<()> {
    let (kind, table, id) = match (path.strip_prefix(FRAGMENT_PATH), path.strip_prefix(CLAIM_PATH)) {
        (Some(id), _) => (NodeType::Fragment, "evidence_fragments", id),
        (None, Some(id)) => (NodeType::Claim, "evidence_claims", id),
        (None, None) => return Ok(()),
    };
    if kind == NodeType::Claim {
        tasks.sources_of(connection, namespace, id)?;
    }
    remove_edges_of(connection, namespace, kind, id)?;
    execute(connection, &format!("DELETE FROM {table} WHERE namespace = ?1 AND id = ?2"), [namespace, id]).map(drop)
}

fn remove_edges_of(connection: &Connection, namespace: &str, kind: NodeType, id: &str) -> rusqlite::Result<()> {
    for end in ["source", "target"] {
        let sql = format!("DELETE FROM evidence_edges WHERE namespace = ?1 AND {end}_type = ?2 AND {end}_id = ?3");
        execute(connection, &sql, [namespace, kind.as_str(), id])?;
    }
    Ok(())
}

/// Removes the evidence of an origin that has no documents: its edges, and its pages, works and tasks that nothing else
/// refers to.
pub(in crate::sqlite) fn remove_origin(
    connection: &Connection,
    namespace: &str,
    origin: &str,
    tasks: &mut TaskUpdates,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM evidence_edges WHERE namespace = ?1 AND origin = ?2 RETURNING source_type, source_id";
    let sources: Vec<(String, String)> =
        all(connection, sql, [namespace, origin], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (kind, id) in sources {
        if kind == NodeType::Fragment.as_str() {
            tasks.fragment(namespace, id);
        }
    }
    // Pages go before works, because a removed page frees its work.
    let nodes = [
        (Some(NodeType::Page), "evidence_pages", "evidence_fragments", "page_id"),
        (Some(NodeType::Work), "evidence_works", "evidence_pages", "work_id"),
        (None, "evidence_tasks", "evidence_claims", "task_id"),
    ];
    for (kind, table, referring, column) in nodes {
        let sql = format!(
            "DELETE FROM {table} WHERE namespace = ?1 AND origin = ?2 AND NOT EXISTS \
             (SELECT 1 FROM {referring} r WHERE r.namespace = {table}.namespace AND r.{column} = {table}.id) RETURNING id"
        );
        let removed: Vec<String> = all(connection, &sql, [namespace, origin], |row| row.get(0))?;
        if let Some(kind) = kind {
            removed.iter().try_for_each(|id| remove_edges_of(connection, namespace, kind, id))?;
        }
    }
    Ok(())
}

/// Removes all evidence of a namespace. Its documents are deleted separately.
pub(in crate::sqlite) fn remove_namespace(connection: &Connection, namespace: &str) -> rusqlite::Result<()> {
    for table in ["edges", "claims", "fragments", "pages", "works", "tasks"] {
        connection.execute(&format!("DELETE FROM evidence_{table} WHERE namespace = ?1"), [namespace])?;
    }
    Ok(())
}
