//! The evidence graph.

use super::EmbeddedStore;
use crate::error::Result;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::graph;
use crate::record::{Applied, Change};
use crate::report::EvidenceSummary;
use crate::session::sqlite::{SqliteSession, now};
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
        self.database.snapshot(|connection| now(graph::all(&SqliteSession::new(connection), namespace)))
    }

    fn evidence_of_origin(&self, namespace: &str, origin: &str) -> Result<Vec<EvidenceRecord>> {
        self.database.snapshot(|connection| now(graph::of_origin(&SqliteSession::new(connection), namespace, origin)))
    }

    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.database.snapshot(|connection| now(graph::at(&SqliteSession::new(connection), namespace, keys)))
    }

    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        self.database.snapshot(|connection| now(graph::fragments_of(&SqliteSession::new(connection), namespace, page)))
    }

    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        self.database.snapshot(|connection| {
            now(graph::edges_to(&SqliteSession::new(connection), namespace, target_type, target_id))
        })
    }

    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary> {
        self.database.snapshot(|connection| now(graph::summary(&SqliteSession::new(connection), namespace, task)))
    }

    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.database.query_sql(namespace, query, cancelled)
    }
}
