//! The attribute `task` of fragments: the tasks of all claims that their edges lead to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deadpool_postgres::Transaction;

use super::super::error::Failure;
use crate::evidence::FRAGMENT_PATH;
use crate::filter::folded;

/// Fragments whose tasks may have changed in a transaction, by namespace.
#[derive(Debug, Default)]
pub(in super::super) struct TaskUpdates(BTreeMap<String, BTreeSet<String>>);

impl TaskUpdates {
    /// Adds a fragment.
    pub(super) fn fragment(&mut self, namespace: &str, id: String) {
        self.0.entry(namespace.to_owned()).or_default().insert(id);
    }

    /// Adds the fragments that new records affect.
    #[cfg(feature = "evidence")]
    pub(super) async fn records(
        &mut self,
        transaction: &Transaction<'_>,
        namespace: &str,
        records: &[crate::evidence::EvidenceRecord],
    ) -> Result<(), Failure> {
        use super::super::copy::storable;
        use crate::evidence::{EvidenceRecord, NodeType};
        let mut claims = Vec::new();
        for record in records {
            match record {
                EvidenceRecord::Claim(claim) => claims.push(storable(&claim.id).into_owned()),
                EvidenceRecord::Edge(edge) if edge.source_type == NodeType::Fragment => {
                    self.fragment(namespace, storable(&edge.source_id).into_owned());
                }
                _ => {}
            }
        }
        self.sources_of(transaction, namespace, &claims).await
    }

    /// Adds all fragments with an edge to one of these claims.
    pub(super) async fn sources_of(
        &mut self,
        transaction: &Transaction<'_>,
        namespace: &str,
        claims: &[String],
    ) -> Result<(), Failure> {
        if claims.is_empty() {
            return Ok(());
        }
        let select = "SELECT DISTINCT source_id FROM evidence_edges WHERE namespace = $1 AND target_type = 'claim' \
            AND target_id = ANY($2) AND source_type = 'fragment'";
        let statement = transaction.prepare_cached(select).await?;
        for row in transaction.query(&statement, &[&namespace, &claims]).await? {
            self.fragment(namespace, row.get(0));
        }
        Ok(())
    }

    /// Updates the attribute of each fragment that has a document.
    pub(in super::super) async fn apply(&self, transaction: &Transaction<'_>) -> Result<(), Failure> {
        for (namespace, fragments) in &self.0 {
            let fragments: Vec<&String> = fragments.iter().collect();
            update(transaction, namespace, &fragments).await?;
        }
        Ok(())
    }
}

async fn update(transaction: &Transaction<'_>, namespace: &str, fragments: &[&String]) -> Result<(), Failure> {
    let paths: Vec<String> = fragments.iter().map(|id| format!("{FRAGMENT_PATH}{id}")).collect();
    let select = "SELECT d.path, d.document, a.value FROM documents d LEFT JOIN attributes a ON a.namespace = d.namespace \
        AND a.document = d.document AND a.name = 'task' WHERE d.namespace = $1 AND d.path = ANY($2)";
    let statement = transaction.prepare_cached(select).await?;
    let mut documents: BTreeMap<String, (i32, BTreeSet<String>)> = BTreeMap::new();
    for row in transaction.query(&statement, &[&namespace, &paths]).await? {
        let path: &str = row.get(0);
        let id = path.strip_prefix(FRAGMENT_PATH).unwrap_or(path).to_owned();
        let known = &mut documents.entry(id).or_insert_with(|| (row.get(1), BTreeSet::new())).1;
        known.extend(row.get::<_, Option<String>>(2));
    }
    let select = "SELECT DISTINCT e.source_id, c.task_id FROM evidence_edges e \
        JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
        WHERE e.namespace = $1 AND e.source_type = 'fragment' AND e.source_id = ANY($2) AND e.target_type = 'claim'";
    let statement = transaction.prepare_cached(select).await?;
    let mut tasks: HashMap<String, BTreeSet<String>> = HashMap::new();
    for row in transaction.query(&statement, &[&namespace, &fragments]).await? {
        tasks.entry(row.get(0)).or_default().insert(row.get(1));
    }
    let (mut changed, mut new, mut values, mut folds) = (vec![], vec![], vec![], vec![]);
    for (id, (document, known)) in &documents {
        let meant = tasks.remove(id).unwrap_or_default();
        if *known == meant {
            continue;
        }
        changed.push(*document);
        for task in meant {
            new.push(*document);
            folds.push(folded(&task));
            values.push(task);
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    let delete = "DELETE FROM attributes WHERE namespace = $1 AND document = ANY($2) AND name = 'task'";
    transaction.execute(&transaction.prepare_cached(delete).await?, &[&namespace, &changed]).await?;
    let insert = "INSERT INTO attributes(namespace, document, name, value, folded) \
        SELECT $1, document, 'task', value, folded FROM unnest($2::integer[], $3::text[], $4::text[]) AS n(document, value, folded)";
    transaction.execute(&transaction.prepare_cached(insert).await?, &[&namespace, &new, &values, &folds]).await?;
    Ok(())
}
