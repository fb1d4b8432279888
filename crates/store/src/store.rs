//! The seam between the pipeline and whatever keeps its passages.

use crate::calibration::Calibration;
use crate::error::Result;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::filter::Filter;
use crate::hits::{LexicalHits, LexicalQuery, LexicalScore, Nearest};
use crate::namespace::{Namespace, NewNamespace};
use crate::record::{
    Applied, Attribute, Change, DocumentId, DocumentState, ModelKey, PassageId, PassageRef, StoredPassage, TextHash,
    TextToEmbed,
};
use crate::report::{Coverage, EvidenceSummary, Findings, Origin, Progress, Pruned, Summary};
use crate::sql::{SqlQuery, SqlRows};
use std::time::Duration;

/// Documents, passages and vectors, and the two legs that search them.
///
/// Calls are batched, filters are data, and no type of a database crosses the seam. All methods can be called from
/// several threads at once; those that write wait for each other, and fail with [`Busy`](crate::StoreError::Busy) when
/// another process writes. Searching never waits for writing.
pub trait Store: Send + Sync {
    /// Holds the right to write over several calls. Every writing method takes it for its own duration otherwise.
    fn writer(&self) -> Result<Writing<'_>>;

    /// Holds the right to write as [`writer`](Store::writer) does, after waiting in turn with other processes that want it,
    /// up to `patience`. `waiting` is told again and again who writes, and ends the waiting when it returns false.
    fn wait_to_write(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Writing<'_>>;

    /// All namespaces, by name: those that documents were put into and those that were made known.
    fn namespaces(&self) -> Result<Vec<Namespace>>;

    /// Makes a namespace known, or replaces what is known of it. Its documents stay as they are.
    fn put_namespace(&self, namespace: &NewNamespace) -> Result<()>;

    /// Removes a namespace with all its documents in one transaction. One that is not there is no error.
    fn remove_namespace(&self, name: &str) -> Result<Applied>;

    /// All documents of a namespace, by path.
    fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>>;

    /// The document at a path.
    fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>>;

    /// The passages of the document at a path, in their order; none when there is no such document.
    fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>>;

    /// The records of documents ([`NewDocument::record`](crate::NewDocument::record)) in the order asked for; `None` for one
    /// that is gone or has none.
    fn records(&self, documents: &[DocumentId]) -> Result<Vec<Option<String>>>;

    /// The attributes of documents in the order asked for, each by name and value as they were given; empty for one that is
    /// gone.
    fn attributes(&self, documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>>;

    /// Where documents came from that are no files, and evidence that is no document, by namespace, collection and name.
    fn origins(&self) -> Result<Vec<Origin>>;

    /// Applies changes in one transaction, in their order: all or nothing, each document whole. Searches see them in the
    /// database at once and in the legs after [`publish`](Store::publish).
    fn apply(&self, changes: &[Change]) -> Result<Applied>;

    /// Puts records of the evidence graph into a namespace, each in place of the one with the same key, and applies changes
    /// of documents with them, in one transaction. A fragment and a claim need their document, at the path that
    /// [`EvidenceRecord::path`] says: put by these changes, or there already. What the records refer to must be there
    /// afterwards. `origin` says where records came from that are no documents, as [`NewDocument::origin`](crate::NewDocument)
    /// does for those that are. A document of the collection `evidence` that is deleted takes its record and all edges of it
    /// along.
    ///
    /// The attribute `task` of a fragment's document is kept by the store: the tasks of all claims that an edge leads to.
    fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied>;

    /// All records of a namespace's evidence: tasks, works, pages, fragments, claims, edges, each by identifier.
    fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>>;

    /// Records of a namespace's evidence in the order asked for; `None` for one that is not there.
    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>>;

    /// The fragments of a page, by identifier.
    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>>;

    /// The edges that lead to a record, by relation and source.
    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>>;

    /// What a namespace's evidence amounts to: all of it, or what has to do with one task.
    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary>;

    /// Removes what came from an origin out of these namespaces, in one transaction: its documents, and of the evidence
    /// what nothing refers to that stays.
    fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied>;

    /// Sets the own dates of documents at these paths, in nanoseconds since 1970. Neither passages nor the change number
    /// move, and a path without a document is passed over. Returns how many dates are others now. A later
    /// [`Put`](Change::Put) of the document brings its own.
    fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64>;

    /// Brings the lexical index and the vector files up to date with the database.
    fn publish(&self, progress: &mut dyn FnMut(Progress)) -> Result<()>;

    /// Texts of passages that pass the filter and have no vector of a model yet, each once, at most `limit`. The model
    /// need not be known.
    fn unembedded(&self, model: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>>;

    /// Stores vectors, scaled to unit length. A text that is gone by now is passed over, and so is one that has a vector:
    /// a model that gives other vectors needs another name. Returns how many were stored.
    fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64>;

    /// The `k` passages that match the query's words best.
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits>;

    /// The scores that [`lexical`](Store::lexical) gives with the same filter, for any passages, in their order. Only the
    /// filter's namespaces matter, since all frequencies are of those; a passage of another one scores nothing.
    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>>;

    /// The `k` passages most similar to a vector. A model that the store has no vectors of finds nothing.
    fn nearest(&self, model: &str, vector: &[f32], filter: &Filter, k: usize) -> Result<Nearest>;

    /// Cosine similarities of a vector to any passages, in their order; `None` where one has no vector of the model.
    fn similarities(&self, model: &str, vector: &[f32], ids: &[PassageId]) -> Result<Vec<Option<f32>>>;

    /// The vectors of passages, of unit length, in their order; `None` where one has no vector of the model.
    fn vectors(&self, model: &str, ids: &[PassageId]) -> Result<Vec<Option<Vec<f32>>>>;

    /// Passages in the order asked for, without those that are gone. One that was replaced or deleted since the last
    /// [`publish`](Store::publish) is still given as it was, since [`lexical`](Store::lexical) still names it.
    fn passages(&self, ids: &[PassageId]) -> Result<Vec<StoredPassage>>;

    /// Passages whose public identifier starts with `prefix`, by identifier, at most `limit`. An identifier that is equal
    /// to `prefix` comes alone.
    fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>>;

    /// All passages that pass a filter, ascending.
    fn select(&self, filter: &Filter) -> Result<Vec<PassageRef>>;

    /// Runs a statement that somebody else wrote on the tables of the evidence graph of a namespace
    /// ([`SQL_TABLES`](crate::SQL_TABLES)): it sees nothing else, changes nothing, and ends within its limits. `cancelled` is
    /// asked now and then. A statement that can not be run is [`Sql`](crate::StoreError::Sql).
    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows>;

    /// How far a model's vectors go.
    fn coverage(&self, model: &str, filter: &Filter) -> Result<Coverage>;

    /// What the store holds and how large it is.
    fn summary(&self) -> Result<Summary>;

    /// A value of the index as a whole that was kept under a name, such as the version of the splitter.
    fn property(&self, name: &str) -> Result<Option<String>>;

    /// Keeps a value of the index as a whole under a name, in place of the one there.
    fn set_property(&self, name: &str, value: &str) -> Result<()>;

    /// All calibrated thresholds, by language, provider and model.
    fn calibrations(&self) -> Result<Vec<Calibration>>;

    /// Keeps calibrated thresholds, each in place of the one of the same language, provider and model: all or none.
    fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()>;

    /// Forgets all calibrated thresholds. Returns how many there were.
    fn clear_calibrations(&self) -> Result<u64>;

    /// Looks for damage: in the database, and between it and the legs. Reads everything; changes nothing.
    fn check(&self) -> Result<Findings>;

    /// Rebuilds from the database whatever is derived and damaged or behind. Returns what [`check`](Store::check) finds
    /// afterwards.
    fn mend(&self, progress: &mut dyn FnMut(Progress)) -> Result<Findings>;

    /// Removes vectors that no passage refers to, and returns the space to the system. Until then they serve texts that
    /// come back.
    fn prune(&self) -> Result<Pruned>;
}

/// The right to write, held until dropped.
#[must_use = "the right to write ends when this is dropped"]
pub struct Writing<'a> {
    _hold: Box<dyn Send + 'a>,
}

impl<'a> Writing<'a> {
    /// Wraps what an implementation releases on drop.
    pub fn new(hold: impl Send + 'a) -> Writing<'a> {
        Writing { _hold: Box::new(hold) }
    }
}

impl std::fmt::Debug for Writing<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Writing")
    }
}
