//! The attribute `task` of fragments: the tasks of all claims that their edges lead to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::evidence::FRAGMENT_PATH;
use crate::filter::folded;
use crate::session::{Rows, Session, all, values};

/// Fragments whose tasks may have changed in a transaction, by namespace.
#[derive(Debug, Default)]
pub(crate) struct TaskUpdates(BTreeMap<String, BTreeSet<String>>);

impl TaskUpdates {
    /// Adds a fragment.
    pub(super) fn fragment(&mut self, namespace: &str, id: String) {
        self.0.entry(namespace.to_owned()).or_default().insert(id);
    }

    /// Adds the fragments that new records affect.
    #[cfg(feature = "evidence")]
    pub(super) async fn records<E>(
        &mut self,
        session: &dyn Session<E>,
        namespace: &str,
        records: &[crate::evidence::EvidenceRecord],
    ) -> Result<(), E> {
        use crate::evidence::{EvidenceRecord, NodeType};
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
    pub(super) async fn sources_of<E>(
        &mut self,
        session: &dyn Session<E>,
        namespace: &str,
        claims: Vec<String>,
    ) -> Result<(), E> {
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
