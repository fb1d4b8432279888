//! The trait of the evidence graph.

use super::Content;
use crate::error::Result;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::graph;
use crate::record::{Applied, Change};
use crate::report::EvidenceSummary;
use crate::sql::{SqlQuery, SqlRows};
use crate::store::EvidenceGraph;

impl<C: Content> EvidenceGraph for C {
    fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied> {
        self.put_evidence(namespace, origin, records, changes)
    }

    fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>> {
        self.read_evidence(&[namespace], async |session| graph::all(session, namespace).await)
    }

    fn evidence_of_origin(&self, namespace: &str, origin: &str) -> Result<Vec<EvidenceRecord>> {
        self.read_evidence(&[], async |session| graph::of_origin(session, namespace, origin).await)
    }

    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.read_evidence(&[namespace], async |session| graph::at(session, namespace, keys).await)
    }

    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        self.read_evidence(&[namespace], async |session| graph::fragments_of(session, namespace, page).await)
    }

    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        self.read_evidence(&[namespace], async |session| {
            graph::edges_to(session, namespace, target_type, target_id).await
        })
    }

    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary> {
        self.read_evidence(&[namespace], async |session| graph::summary(session, namespace, task).await)
    }

    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.run_sql(namespace, query, cancelled)
    }
}
