//! The evidence graph.

use super::EmbeddedStore;
use crate::error::Result;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::record::{Applied, Change};
use crate::report::EvidenceSummary;
use crate::sql::{SqlQuery, SqlRows};
use crate::store::EvidenceGraph;

impl EvidenceGraph for EmbeddedStore {
    fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied> {
        self.writing(|database| database.apply_evidence(namespace, origin, records, changes))
    }

    fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>> {
        self.database.evidence(namespace)
    }

    fn evidence_of_origin(&self, namespace: &str, origin: &str) -> Result<Vec<EvidenceRecord>> {
        self.database.evidence_of_origin(namespace, origin)
    }

    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.database.evidence_at(namespace, keys)
    }

    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        self.database.fragments_of(namespace, page)
    }

    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        self.database.edges_to(namespace, target_type, target_id)
    }

    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary> {
        self.database.evidence_summary(namespace, task)
    }

    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.database.query_sql(namespace, query, cancelled)
    }
}
