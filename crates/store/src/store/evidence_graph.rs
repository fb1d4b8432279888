//! Claims, and the fragments of pages that support or refute them.

use crate::error::Result;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::record::{Applied, Change};
use crate::report::EvidenceSummary;
use crate::sql::{SqlQuery, SqlRows};

/// Stores the evidence graph and answers SQL on it.
pub trait EvidenceGraph: Send + Sync {
    /// Puts records into a namespace, each replacing the one with the same key, and applies document changes with them, in
    /// one transaction.
    ///
    /// A fragment and a claim need a document at [`EvidenceRecord::path`], put by these changes or earlier. All records
    /// that the new ones refer to must exist at the end. `origin` is stored with records that have no document, as
    /// [`NewDocument::origin`](crate::NewDocument) is with those that have one. Deleting a document of the collection
    /// `evidence` deletes its record and all its edges.
    ///
    /// The store maintains the attribute `task` of a fragment's document: the tasks of all claims its edges lead to.
    fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied>;

    /// Returns all records of a namespace: tasks, works, pages, fragments, claims, edges, each by identifier.
    fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>>;

    /// Returns the records of a namespace that were stored with an origin: tasks, works, pages and edges, each by identifier.
    /// Fragments and claims have the origin of their document.
    fn evidence_of_origin(&self, namespace: &str, origin: &str) -> Result<Vec<EvidenceRecord>>;

    /// Returns records by key, in the order given; `None` for a missing one.
    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>>;

    /// Returns the fragments of a page, by identifier.
    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>>;

    /// Returns the edges that lead to a record, by relation and source.
    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>>;

    /// Counts the evidence of a namespace, or the part of it that belongs to one task.
    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary>;

    /// Runs an untrusted SQL statement on a namespace's evidence tables ([`SQL_TABLES`](crate::SQL_TABLES)). The statement
    /// sees nothing else, changes nothing, and ends within its limits. `cancelled` is polled while it runs. A statement that
    /// cannot be run is an [`Sql`](crate::StoreError::Sql) error.
    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows>;
}
