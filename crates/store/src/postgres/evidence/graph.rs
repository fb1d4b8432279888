//! The trait of the evidence graph.

use super::super::store::PostgresStore;
use super::{apply, records, summary};
use crate::error::Result;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
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
        let applied = self
            .connections
            .write(async |transaction| apply::apply(self, transaction, namespace, origin, records, changes).await)?;
        self.counted.wrote(records.len() as u64 + applied.passages_added);
        Ok(applied)
    }

    fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>> {
        self.connections.read_of(&[namespace], async |transaction| records::all(transaction, namespace).await)
    }

    fn evidence_of_origin(&self, namespace: &str, origin: &str) -> Result<Vec<EvidenceRecord>> {
        self.connections.read(async |transaction| records::of_origin(transaction, namespace, origin).await)
    }

    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.connections.read_of(&[namespace], async |transaction| records::at(transaction, namespace, keys).await)
    }

    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        self.connections
            .read_of(&[namespace], async |transaction| records::fragments_of(transaction, namespace, page).await)
    }

    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        self.connections.read_of(&[namespace], async |transaction| {
            records::edges_to(transaction, namespace, target_type, target_id).await
        })
    }

    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary> {
        self.connections.read_of(&[namespace], async |transaction| summary::summary(transaction, namespace, task).await)
    }

    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.run_sql(namespace, query, cancelled)
    }
}
