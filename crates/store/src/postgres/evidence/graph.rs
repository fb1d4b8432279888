//! The trait of the evidence graph.

use std::collections::BTreeSet;

use super::super::error::Failure;
use super::super::store::PostgresStore;
use super::changed;
use crate::error::Result;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::graph;
use crate::record::{Applied, Change};
use crate::report::EvidenceSummary;
use crate::sql::{SqlQuery, SqlRows};
use crate::store::EvidenceGraph;

impl EvidenceGraph for PostgresStore {
    fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied> {
        let applied = self.connections.write(async |transaction| {
            let also = BTreeSet::from([namespace.to_owned()]);
            let (mut applied, mut tasks) = self.apply_documents(transaction, changes, also).await?;
            let session = self.connections.session(transaction);
            graph::write::<Failure>(&session, namespace, origin, records, &mut tasks).await?;
            tasks.apply(&session).await?;
            changed(transaction, &[namespace]).await?;
            applied.seq = self.change_number_in(transaction).await?;
            Ok(applied)
        })?;
        self.counted.wrote(records.len() as u64 + applied.passages_added);
        Ok(applied)
    }

    fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>> {
        self.connections.read_of(&[namespace], async |transaction| {
            graph::all(&self.connections.session(transaction), namespace).await
        })
    }

    fn evidence_of_origin(&self, namespace: &str, origin: &str) -> Result<Vec<EvidenceRecord>> {
        self.connections
            .read(async |transaction| graph::of_origin(&self.connections.session(transaction), namespace, origin).await)
    }

    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.connections.read_of(&[namespace], async |transaction| {
            graph::at(&self.connections.session(transaction), namespace, keys).await
        })
    }

    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        self.connections.read_of(&[namespace], async |transaction| {
            graph::fragments_of(&self.connections.session(transaction), namespace, page).await
        })
    }

    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        self.connections.read_of(&[namespace], async |transaction| {
            graph::edges_to(&self.connections.session(transaction), namespace, target_type, target_id).await
        })
    }

    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary> {
        self.connections.read_of(&[namespace], async |transaction| {
            graph::summary(&self.connections.session(transaction), namespace, task).await
        })
    }

    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.run_sql(namespace, query, cancelled)
    }
}
