//! The evidence graph in the tables of either database.
//!
//! This file keeps it consistent with its documents, in every build, since deleting a document can delete a record. `records` writes, reads
//! and counts records. [`content`](crate::content) checks them.

mod records;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::evidence::{CLAIM_PATH, EvidenceRecord, FRAGMENT_PATH, NodeType};
use crate::filter::folded;
use crate::session::{Rows, Session, all, values};

pub(crate) use records::{all_records, at, edges_to, fragments_of, of_origin, summary, write};

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

/// Fragments whose tasks may have changed in a transaction, by namespace.
#[derive(Debug, Default)]
pub(crate) struct TaskUpdates(BTreeMap<String, BTreeSet<String>>);

impl TaskUpdates {
    pub(crate) fn fragment(&mut self, namespace: &str, id: String) {
        self.0.entry(namespace.to_owned()).or_default().insert(id);
    }

    /// Adds the fragments that new records affect.
    pub(crate) async fn records<E>(
        &mut self,
        session: &dyn Session<E>,
        namespace: &str,
        records: &[EvidenceRecord],
    ) -> Result<(), E> {
        let mut claims = Vec::new();
        for record in records {
            match record {
                EvidenceRecord::Claim(claim) => claims.push(claim.id.clone()),
                EvidenceRecord::Edge(edge) if edge.source_type == NodeType::Fragment => {
                    self.fragment(namespace, edge.source_id.clone());
                }
                _ => {}
            }
        }
        self.sources_of(session, namespace, claims).await
    }

    /// Adds all fragments with an edge to one of these claims.
    async fn sources_of<E>(&mut self, session: &dyn Session<E>, namespace: &str, claims: Vec<String>) -> Result<(), E> {
        if claims.is_empty() {
            return Ok(());
        }
        let select = format!(
            "SELECT DISTINCT source_id FROM evidence_edges WHERE namespace = $1 AND target_type = 'claim' AND target_id {} \
             AND source_type = 'fragment'",
            session.one_of(2)
        );
        for source in all(session, &select, values![namespace, claims], |row| row.next()).await? {
            self.fragment(namespace, source);
        }
        Ok(())
    }

    /// Updates the attribute of each fragment that has a document. Returns `true` if any changed.
    pub(crate) async fn apply<E>(&self, session: &dyn Session<E>) -> Result<bool, E> {
        let mut changed = false;
        for (namespace, fragments) in &self.0 {
            changed |= update(session, namespace, fragments).await?;
        }
        Ok(changed)
    }
}

async fn update<E>(session: &dyn Session<E>, namespace: &str, fragments: &BTreeSet<String>) -> Result<bool, E> {
    let dialect = session.dialect();
    let in_namespace = if dialect.has_namespaces { "namespace = $1 AND" } else { "" };
    let paths: Vec<String> = fragments.iter().map(|id| format!("{FRAGMENT_PATH}{id}")).collect();
    let select = format!(
        "SELECT d.path, d.document, a.value FROM documents d LEFT JOIN attributes a ON {} AND a.name = 'task' \
         WHERE d.namespace = $1 AND d.path {}",
        dialect.attributes_of_document,
        session.one_of(2)
    );
    let rows: Vec<(String, i64, Option<String>)> =
        all(session, &select, values![namespace, paths], |row| Ok((row.next()?, row.next()?, row.next()?))).await?;
    let mut documents: BTreeMap<String, (i64, BTreeSet<String>)> = BTreeMap::new();
    for (path, document, task) in rows {
        let id = path.strip_prefix(FRAGMENT_PATH).unwrap_or(&path).to_owned();
        documents.entry(id).or_insert_with(|| (document, BTreeSet::new())).1.extend(task);
    }
    let select = format!(
        "SELECT DISTINCT e.source_id, c.task_id FROM evidence_edges e \
         JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
         WHERE e.namespace = $1 AND e.source_type = 'fragment' AND e.source_id {} AND e.target_type = 'claim'",
        session.one_of(2)
    );
    let fragments: Vec<String> = fragments.iter().cloned().collect();
    let rows: Vec<(String, String)> =
        all(session, &select, values![namespace, fragments], |row| Ok((row.next()?, row.next()?))).await?;
    let mut tasks: HashMap<String, BTreeSet<String>> = HashMap::new();
    for (fragment, task) in rows {
        tasks.entry(fragment).or_default().insert(task);
    }
    let (mut changed, mut rows) = (Vec::new(), Vec::new());
    for (id, (document, known)) in &documents {
        let meant = tasks.remove(id).unwrap_or_default();
        if *known == meant {
            continue;
        }
        changed.push(*document);
        for task in meant {
            rows.push(values![*document, &task, &folded(&task)].to_vec());
        }
    }
    if changed.is_empty() {
        return Ok(false);
    }
    let delete =
        format!("DELETE FROM attributes WHERE {in_namespace} document {} AND name = 'task'", session.one_of(2));
    session.execute(&delete, values![namespace, changed]).await?;
    let mut common = vec![("name", "task".into())];
    if dialect.has_namespaces {
        common.push(("namespace", namespace.into()));
    }
    let columns = vec![("document", "integer"), ("value", "text"), ("folded", "text")];
    session.insert(&Rows { table: "attributes", common, columns, rows, conflict: String::new() }).await?;
    Ok(true)
}
