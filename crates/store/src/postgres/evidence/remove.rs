//! Removing records of the evidence graph.

use std::collections::BTreeMap;

use deadpool_postgres::Transaction;

use super::super::changes::EvidenceChange;
use super::super::error::Failure;
use super::tasks::TaskUpdates;
use crate::evidence::{CLAIM_PATH, FRAGMENT_PATH, NodeType};

/// What a removed namespace loses.
pub(in super::super) const REMOVE: &[&str] = &[
    "DELETE FROM evidence_edges WHERE namespace = $1",
    "DELETE FROM evidence_claims WHERE namespace = $1",
    "DELETE FROM evidence_fragments WHERE namespace = $1",
    "DELETE FROM evidence_pages WHERE namespace = $1",
    "DELETE FROM evidence_works WHERE namespace = $1",
    "DELETE FROM evidence_tasks WHERE namespace = $1",
];

/// Follows documents of the evidence: the record of a deleted one goes with all its edges, and a fragment that was put gets its
/// tasks again.
pub(in super::super) async fn documents_changed(
    transaction: &Transaction<'_>,
    changes: &[EvidenceChange],
    tasks: &mut TaskUpdates,
) -> Result<(), Failure> {
    let mut removed: BTreeMap<&str, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for change in changes {
        match change {
            EvidenceChange::Put { namespace, path } => {
                if let Some(id) = path.strip_prefix(FRAGMENT_PATH) {
                    tasks.fragment(namespace, super::super::copy::storable(id).into_owned());
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
        tasks.sources_of(transaction, namespace, &claims).await?;
        for (kind, ids, delete) in [
            (NodeType::Fragment, fragments, "DELETE FROM evidence_fragments WHERE namespace = $1 AND id = ANY($2)"),
            (NodeType::Claim, claims, "DELETE FROM evidence_claims WHERE namespace = $1 AND id = ANY($2)"),
        ] {
            if !ids.is_empty() {
                remove_edges_of(transaction, namespace, kind, &ids).await?;
                transaction.execute(&transaction.prepare_cached(delete).await?, &[&namespace, &ids]).await?;
            }
        }
    }
    Ok(())
}

async fn remove_edges_of(
    transaction: &Transaction<'_>,
    namespace: &str,
    kind: NodeType,
    ids: &[String],
) -> Result<(), Failure> {
    for delete in [
        "DELETE FROM evidence_edges WHERE namespace = $1 AND source_type = $2 AND source_id = ANY($3)",
        "DELETE FROM evidence_edges WHERE namespace = $1 AND target_type = $2 AND target_id = ANY($3)",
    ] {
        let statement = transaction.prepare_cached(delete).await?;
        transaction.execute(&statement, &[&namespace, &kind.as_str(), &ids]).await?;
    }
    Ok(())
}

/// Records of an origin without documents, and those that can refer to them. Pages come before works, because a removed page frees
/// its work.
const NODES: [(Option<NodeType>, &str); 3] = [
    (
        Some(NodeType::Page),
        "DELETE FROM evidence_pages n WHERE n.namespace = $1 AND n.origin = $2 AND NOT EXISTS \
         (SELECT 1 FROM evidence_fragments r WHERE r.namespace = $1 AND r.page_id = n.id) RETURNING n.id",
    ),
    (
        Some(NodeType::Work),
        "DELETE FROM evidence_works n WHERE n.namespace = $1 AND n.origin = $2 AND NOT EXISTS \
         (SELECT 1 FROM evidence_pages r WHERE r.namespace = $1 AND r.work_id = n.id) RETURNING n.id",
    ),
    (
        None,
        "DELETE FROM evidence_tasks n WHERE n.namespace = $1 AND n.origin = $2 AND NOT EXISTS \
         (SELECT 1 FROM evidence_claims r WHERE r.namespace = $1 AND r.task_id = n.id) RETURNING n.id",
    ),
];

/// Removes the evidence of an origin that has no documents: its edges, and its pages, works and tasks that nothing else refers to.
pub(in super::super) async fn remove_origin(
    transaction: &Transaction<'_>,
    namespace: &str,
    origin: &str,
    tasks: &mut TaskUpdates,
) -> Result<(), Failure> {
    let delete = "DELETE FROM evidence_edges WHERE namespace = $1 AND origin = $2 RETURNING source_type, source_id";
    for row in transaction.query(delete, &[&namespace, &origin]).await? {
        if row.get::<_, &str>(0) == NodeType::Fragment.as_str() {
            tasks.fragment(namespace, row.get(1));
        }
    }
    for (kind, delete) in NODES {
        let rows = transaction.query(delete, &[&namespace, &origin]).await?;
        if let Some(kind) = kind.filter(|_| !rows.is_empty()) {
            let ids: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
            remove_edges_of(transaction, namespace, kind, &ids).await?;
        }
    }
    Ok(())
}
