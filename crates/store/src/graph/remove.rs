//! Removing records of the evidence graph.

use std::collections::BTreeMap;

use super::tasks::TaskUpdates;
use crate::evidence::{CLAIM_PATH, FRAGMENT_PATH, NodeType};
use crate::session::{Session, all, values};

/// What a removed namespace loses.
pub(crate) const REMOVE: &[&str] = &[
    "DELETE FROM evidence_edges WHERE namespace = $1",
    "DELETE FROM evidence_claims WHERE namespace = $1",
    "DELETE FROM evidence_fragments WHERE namespace = $1",
    "DELETE FROM evidence_pages WHERE namespace = $1",
    "DELETE FROM evidence_works WHERE namespace = $1",
    "DELETE FROM evidence_tasks WHERE namespace = $1",
];

/// A change of a document of the evidence, whose records depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EvidenceChange {
    /// The document at this path was put.
    Put { namespace: String, path: String },
    /// The document at this path was deleted.
    Deleted { namespace: String, path: String },
}

/// Follows documents of the evidence: the record of a deleted one goes with all its edges, and a fragment that was put gets its
/// tasks again.
pub(crate) async fn documents_changed<E>(
    session: &dyn Session<E>,
    changes: &[EvidenceChange],
    tasks: &mut TaskUpdates,
) -> Result<(), E> {
    let mut removed: BTreeMap<&str, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for change in changes {
        match change {
            EvidenceChange::Put { namespace, path } => {
                if let Some(id) = path.strip_prefix(FRAGMENT_PATH) {
                    tasks.fragment(namespace, id.to_owned());
                }
            }
            EvidenceChange::Deleted { namespace, path } => {
                let (fragments, claims) = removed.entry(namespace).or_default();
                match (path.strip_prefix(FRAGMENT_PATH), path.strip_prefix(CLAIM_PATH)) {
                    (Some(id), _) => fragments.push(id.to_owned()),
                    (None, Some(id)) => claims.push(id.to_owned()),
                    (None, None) => {}
                }
            }
        }
    }
    for (namespace, (fragments, claims)) in removed {
        tasks.sources_of(session, namespace, claims.clone()).await?;
        for (kind, table, ids) in
            [(NodeType::Fragment, "evidence_fragments", fragments), (NodeType::Claim, "evidence_claims", claims)]
        {
            if !ids.is_empty() {
                remove_edges_of(session, namespace, kind, &ids).await?;
                let delete = format!("DELETE FROM {table} WHERE namespace = $1 AND id {}", session.one_of(2));
                session.execute(&delete, values![namespace, ids]).await?;
            }
        }
    }
    Ok(())
}

async fn remove_edges_of<E>(
    session: &dyn Session<E>,
    namespace: &str,
    kind: NodeType,
    ids: &[String],
) -> Result<(), E> {
    for end in ["source", "target"] {
        let delete = format!(
            "DELETE FROM evidence_edges WHERE namespace = $1 AND {end}_type = $2 AND {end}_id {}",
            session.one_of(3)
        );
        session.execute(&delete, values![namespace, kind.as_str(), ids.to_vec()]).await?;
    }
    Ok(())
}

/// Records of an origin without documents, and those that can refer to them. Pages come before works, because a removed page frees
/// its work.
const NODES: [(Option<NodeType>, &str); 3] = [
    (
        Some(NodeType::Page),
        "DELETE FROM evidence_pages AS n WHERE n.namespace = $1 AND n.origin = $2 AND NOT EXISTS \
         (SELECT 1 FROM evidence_fragments r WHERE r.namespace = $1 AND r.page_id = n.id) RETURNING id",
    ),
    (
        Some(NodeType::Work),
        "DELETE FROM evidence_works AS n WHERE n.namespace = $1 AND n.origin = $2 AND NOT EXISTS \
         (SELECT 1 FROM evidence_pages r WHERE r.namespace = $1 AND r.work_id = n.id) RETURNING id",
    ),
    (
        None,
        "DELETE FROM evidence_tasks AS n WHERE n.namespace = $1 AND n.origin = $2 AND NOT EXISTS \
         (SELECT 1 FROM evidence_claims r WHERE r.namespace = $1 AND r.task_id = n.id) RETURNING id",
    ),
];

/// Removes the evidence of an origin that has no documents: its edges, and its pages, works and tasks that nothing else refers to.
pub(crate) async fn remove_origin<E>(
    session: &dyn Session<E>,
    namespace: &str,
    origin: &str,
    tasks: &mut TaskUpdates,
) -> Result<(), E> {
    let delete = "DELETE FROM evidence_edges WHERE namespace = $1 AND origin = $2 RETURNING source_type, source_id";
    let sources: Vec<(String, String)> =
        all(session, delete, values![namespace, origin], |row| Ok((row.next()?, row.next()?))).await?;
    for (kind, id) in sources {
        if kind == NodeType::Fragment.as_str() {
            tasks.fragment(namespace, id);
        }
    }
    for (kind, delete) in NODES {
        let ids: Vec<String> = all(session, delete, values![namespace, origin], |row| row.next()).await?;
        if let Some(kind) = kind.filter(|_| !ids.is_empty()) {
            remove_edges_of(session, namespace, kind, &ids).await?;
        }
    }
    Ok(())
}
