//! The seam between the search pipeline and the database: one small trait for each group of users, and [`Store`] for all.
//!
//! Calls are batched, filters are data, and no type, path or handle of a database crosses the seam. Every method can be
//! called from several threads at once. Writers wait for each other within a process and fail with
//! [`Busy`](crate::StoreError::Busy) when another process writes. Searching never waits for writing.
//!
//! | trait | users |
//! | --- | --- |
//! | [`Documents`] | reading documents, passages and namespaces |
//! | [`Changes`] | indexing and importing |
//! | [`LexicalRetriever`], [`VectorRetriever`] | searching |
//! | [`EvidenceGraph`] | claims, and the fragments that support or refute them |
//! | [`Properties`] | settings of the index and calibrated thresholds |
//! | [`Maintenance`] | publishing, checking, pruning |
//! | [`Usage`], [`UsageLog`] | recorded searches and feedback |
//! | [`Serving`] | servers: waiting for changes, sessions of clients |

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::filter::Filter;
use crate::record::{
    Applied, Attribute, Calibration, Change, DocumentId, DocumentState, ModelKey, Namespace, NewNamespace, PassageId,
    PassageRef, Place, StoredPassage, TextHash, TextToEmbed, Tree, WholeDocument,
};
use crate::report::{Coverage, EvidenceSummary, Findings, Origin, Progress, Pruned, Summary};
use crate::retrieval::{LexicalHits, LexicalQuery, LexicalScore, NearWord, Nearest};
use crate::untrusted_sql::{SqlQuery, SqlRows};
use crate::usage_record::{
    JudgedSearch, Judgement, LoggedSearch, OpenedCount, Opening, Purged, QueryQuality, RecordedSearch, SearchSummary,
};

/// A whole store. Any type that implements the traits above is one.
///
/// A `dyn Store` offers the methods of all of them without an import. For a concrete store, import
/// [`prelude`](crate::prelude).
pub trait Store:
    Documents + Changes + LexicalRetriever + VectorRetriever + EvidenceGraph + Properties + Maintenance + Usage + Serving
{
}

impl<S> Store for S where
    S: Documents
        + Changes
        + LexicalRetriever
        + VectorRetriever
        + EvidenceGraph
        + Properties
        + Maintenance
        + Usage
        + Serving
        + ?Sized
{
}

/// Reads documents, passages and namespaces.
pub trait Documents: Send + Sync {
    /// Returns all namespaces, by name: those with documents and those that were registered.
    fn namespaces(&self) -> Result<Vec<Namespace>>;

    /// Returns the namespaces that cannot be read now, because the server that holds them is away; empty for a store in one place.
    fn unreachable(&self) -> Result<Vec<String>>;

    /// Returns all documents of a namespace, by path.
    fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>>;

    /// Returns the document at a path.
    fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>>;

    /// Returns the passages of the document at a path, in document order; empty if the document does not exist.
    fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>>;

    /// Returns whole documents in the order given, as [`Change::Put`](crate::Change::Put) takes them; `None` for a document
    /// that is gone or belongs to another namespace.
    fn whole_documents(&self, namespace: &str, documents: &[DocumentId]) -> Result<Vec<Option<WholeDocument>>>;

    /// Returns the records ([`NewDocument::record`](crate::NewDocument::record)) of documents in the order given; `None`
    /// for a document that is gone or has none. `namespaces` says where they are, as in [`passages`](Documents::passages).
    fn records(&self, namespaces: &[String], documents: &[DocumentId]) -> Result<Vec<Option<String>>>;

    /// Returns the attributes of documents in the order given, each list by name and value; empty for a document that is
    /// gone. `namespaces` says where they are, as in [`passages`](Documents::passages).
    fn attributes(&self, namespaces: &[String], documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>>;

    /// Returns the origins of imported documents and evidence, by namespace, collection and name.
    fn origins(&self) -> Result<Vec<Origin>>;

    /// Returns the date of the newest document of each namespace, in nanoseconds since 1970, by namespace. Documents with a date
    /// of their own decide; where a namespace has none, the times of modification do. A namespace without either is left out.
    fn newest_dates(&self) -> Result<Vec<(String, i64)>>;

    /// Returns passages in the order given, without those that are gone. A passage that was replaced or deleted after the
    /// last [`publish`](Maintenance::publish) is still returned where the lexical retriever still finds it.
    ///
    /// `namespaces` says where they are, so that a store of several servers asks no other; empty: anywhere.
    fn passages(&self, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<StoredPassage>>;

    /// Returns the places of passages, without those that are gone, in any order.
    fn places(&self, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<(PassageId, Place)>>;

    /// Returns passages whose public identifier starts with `prefix`, by identifier, at most `limit`. An exact match is
    /// returned alone.
    fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>>;

    /// Returns all passages that pass a filter, ascending.
    fn select(&self, filter: &Filter) -> Result<Vec<PassageRef>>;
}

/// Changes documents and namespaces.
pub trait Changes: Send + Sync {
    /// Takes the right to write and holds it over several calls. Without it, each writing method takes the right for its
    /// own duration.
    fn writer(&self) -> Result<Writing<'_>>;

    /// Takes the right to write as [`writer`](Changes::writer) does, after queueing behind other processes for up to
    /// `patience`. `waiting` receives the current writer's name before each pause; returning false gives up.
    fn wait_to_write(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Writing<'_>>;

    /// Takes the right to embed in the background, after waiting for it for up to `patience`. One process at a time has it, so
    /// that no two make the same vectors. It keeps nobody from writing. A store whose namespaces have a worker each needs none.
    fn wait_to_embed(&self, patience: Duration) -> Result<Writing<'_>> {
        let _ = patience;
        Ok(Writing::new(()))
    }

    /// Returns `true` while a process has the right to embed in the background.
    fn is_embedding(&self) -> bool {
        false
    }

    /// Registers a namespace, or replaces its registration. Its documents and its tree stay as they are.
    fn put_namespace(&self, namespace: &NewNamespace) -> Result<()>;

    /// Makes trees those of their namespaces, all or none. A namespace keeps its tree: another one is
    /// [`StoreError::OtherTree`](crate::StoreError::OtherTree), unless it has `moved`, which means that the tree of the namespace is
    /// at this place now. Every writer of files calls this first.
    fn claim_trees(&self, trees: &[Tree], moved: bool) -> Result<()>;

    /// Removes a namespace and all its documents in one transaction. A missing namespace is not an error.
    fn remove_namespace(&self, name: &str) -> Result<Applied>;

    /// Applies changes in order, in one transaction: all or nothing. The database shows them at once, the retrievers after
    /// [`publish`](Maintenance::publish) at the latest.
    fn apply(&self, changes: &[Change]) -> Result<Applied>;

    /// Removes everything imported from an origin into these namespaces, in one transaction: its documents, and the
    /// evidence that nothing else refers to.
    fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied>;

    /// Sets the dates of the documents at these paths, in nanoseconds since 1970, and skips paths without a document.
    /// Passages and the change number stay. Returns the number of dates that changed. A later
    /// [`Put`](Change::Put) overwrites the date.
    fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64>;
}

/// The right to write, held until dropped.
#[must_use = "the right to write ends when this is dropped"]
pub struct Writing<'a> {
    _hold: Box<dyn Send + 'a>,
}

impl<'a> Writing<'a> {
    /// Wraps the guard that an implementation releases on drop.
    pub fn new(hold: impl Send + 'a) -> Writing<'a> {
        Writing { _hold: Box::new(hold) }
    }
}

impl std::fmt::Debug for Writing<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Writing")
    }
}

/// Scores passages by BM25.
pub trait LexicalRetriever: Send + Sync {
    /// Returns the `k` passages that match the query's words best.
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits>;

    /// Returns the scores that [`lexical`](LexicalRetriever::lexical) gives with the same filter, for any passages, in the order
    /// given. Of the filter only the namespaces count, because they determine the frequencies; a passage of another
    /// namespace scores 0.
    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>>;

    /// Returns the first `limit` passages that define a symbol whose name, or the last part of it, is `name` as spelled; ascending.
    /// `name` has no separators: it finds `Store::open` by `open`.
    fn defining(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>>;

    /// Returns the first `limit` passages whose text holds all words of `text`, function words too, in any order and by their
    /// stems; ascending. Without words there are none.
    fn containing(&self, text: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>>;

    /// Returns for each word those of the filter's namespaces that are spelled almost like it: with one edit for a word of four to
    /// seven letters, with two for a longer one. There are none for a word that occurs in any form. Of words that do not occur, the
    /// first four are looked up. A store that does not know how its terms are spelled returns none.
    fn near_words(&self, words: &[&str], filter: &Filter) -> Result<Vec<Vec<NearWord>>> {
        let _ = filter;
        Ok(vec![Vec::new(); words.len()])
    }
}

/// Stores vectors and scores passages by cosine similarity.
pub trait VectorRetriever: Send + Sync {
    /// Returns texts of passages that pass the filter and lack a vector of a model, each once, at most `limit`. The model
    /// may be unknown to the store.
    fn unembedded(&self, model: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>>;

    /// Returns such texts, those first of which searches gain the most, where the store can tell. To find their order takes a look at
    /// all of them, and is done again at its end.
    fn most_telling(&self, model: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        self.unembedded(model, filter, limit)
    }

    /// Stores vectors, scaled to unit length unless they have it and rounded to half precision, and returns the number stored. Deleted
    /// texts are skipped, and so are texts that already have a vector: a model whose vectors changed needs a new name.
    fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64>;

    /// Returns the `k` passages most similar to a vector; empty for a model without vectors.
    fn nearest(&self, model: &str, vector: &[f32], filter: &Filter, k: usize) -> Result<Nearest>;

    /// Returns the cosine similarity of a vector to any passages, in the order given. Of the filter only the namespaces count. `None`
    /// for a passage without a vector of the model, and for one of another namespace.
    fn similarities(&self, model: &str, vector: &[f32], filter: &Filter, ids: &[PassageId])
    -> Result<Vec<Option<f32>>>;

    /// Returns the unit vectors of passages in the order given; `None` for a passage without a vector of the model. `namespaces` says
    /// where they are, as in [`passages`](Documents::passages).
    fn vectors(&self, model: &str, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<Option<Vec<f32>>>>;

    /// Returns the models that have vectors, by name.
    fn models(&self) -> Result<Vec<ModelKey>>;

    /// Returns the unit vectors of texts in the order given; `None` for a text that no passage of the namespace has, or that
    /// has no vector of the model.
    fn text_vectors(&self, namespace: &str, model: &str, texts: &[TextHash]) -> Result<Vec<Option<Vec<f32>>>>;

    /// Counts the passages that pass a filter, and those of them that have a vector of the model.
    fn coverage(&self, model: &str, filter: &Filter) -> Result<Coverage>;
}

/// Keeps named values and calibrated thresholds.
pub trait Properties: Send + Sync {
    /// Returns the value stored under a name, such as the version of the splitter.
    fn property(&self, name: &str) -> Result<Option<String>>;

    /// Returns all values with their names, by name.
    fn properties(&self) -> Result<Vec<(String, String)>>;

    /// Stores a value under a name, replacing the one there.
    fn set_property(&self, name: &str, value: &str) -> Result<()>;

    /// Returns all calibrated thresholds, by language, provider and model.
    fn calibrations(&self) -> Result<Vec<Calibration>>;

    /// Stores thresholds, each replacing the one of the same language, provider and model: all or none.
    fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()>;

    /// Deletes all thresholds and returns their number.
    fn clear_calibrations(&self) -> Result<u64>;
}

/// Publishes, checks and prunes a store.
pub trait Maintenance: Send + Sync {
    /// Brings the lexical index and the vector files up to date with the database. An error of `progress` stops it and is returned:
    /// finished parts stay published, and the next publication does the rest.
    fn publish(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()>;

    /// Builds what large namespaces are searched with and is not kept up to date by publishing alone. It can take minutes, in which
    /// others read and write. A run calls it once, at its end, because writing is slower afterwards.
    fn build_indexes(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the change number, which grows with every change of documents, namespaces and vectors.
    fn change_number(&self) -> Result<u64>;

    /// Counts the store's content and measures its size.
    fn summary(&self) -> Result<Summary>;

    /// Looks for damage in the database, and for differences between it and the retrievers. Reads everything, changes nothing.
    fn check(&self) -> Result<Findings>;

    /// Rebuilds every derived index that is damaged or behind, then returns the findings of a new
    /// [`check`](Maintenance::check).
    fn mend(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Findings>;

    /// Deletes vectors without a passage and returns the space to the system. Until then they serve texts that come back.
    fn prune(&self) -> Result<Pruned>;

    /// Fails with [`Replaced`](crate::StoreError::Replaced) when the store was deleted, or replaced by another one, since it
    /// was opened.
    fn check_replaced(&self) -> Result<()>;
}

/// Gives access to a store's usage log.
pub trait Usage: Send + Sync {
    /// Returns the usage log, opened on first use. A log that could not be opened is tried again next time.
    fn usage(&self) -> Result<&dyn UsageLog>;
}

/// Records searches and what people said about their results.
///
/// Recording gives up rather than wait; judging waits, because feedback must not be lost. The log has no clock: callers
/// pass the time. All methods fail when the log cannot be read, and those that write also when it is read-only, busy or
/// full.
pub trait UsageLog: Send + Sync {
    /// Records a search and, if given, the quality row of its query: both or neither. Waits at most 50 ms for another
    /// process, so that a search is hardly delayed. Fails when the identifier is taken.
    fn record_query(&self, search: &RecordedSearch, quality: Option<&QueryQuality>) -> Result<()>;

    /// Records a search alone, as [`record_query`](UsageLog::record_query) does.
    fn record(&self, search: &RecordedSearch) -> Result<()> {
        self.record_query(search, None)
    }

    /// Records judgements of passages for the search called `id`. Each pair holds a passage's public identifier, and
    /// `true` if the passage answers the query. The last judgement of a passage counts. Returns the judgements as
    /// recorded, in the order given; `None` if the search does not exist.
    fn judge(&self, id: &str, judged: &[(&str, bool)], at_ms: i64) -> Result<Option<Vec<Judgement>>>;

    /// Takes back all judgements of passages, by their public identifiers, in the search called `id` and in the others of the same
    /// question under the same namespace label. Returns the number of judgements that are gone; `None` if the search does not exist.
    fn unjudge(&self, id: &str, passages: &[&str]) -> Result<Option<u64>>;

    /// Records that a caller opened passages, at its latest search that showed one of them, and returns how many are newly
    /// opened there. Opening a passage again changes nothing. Waits no longer than recording does.
    fn record_opened(&self, opening: &Opening<'_>) -> Result<u64>;

    /// Reduces what the search called `id` showed to these passages, where an answer was shown in part.
    fn narrow_shown(&self, id: &str, passages: &[&str]) -> Result<()>;

    /// Returns the number of results opened from `since_ms` up to before `until_ms` (`None`: unbounded), of the searches of
    /// one namespace (`None`: all).
    fn opened_count(
        &self,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
        namespace: Option<&str>,
    ) -> Result<OpenedCount>;

    /// Deletes a search with its judgements. Returns `true` if it existed.
    fn forget(&self, id: &str) -> Result<bool>;

    /// Deletes unjudged searches except the last [`RETAINED`](crate::RETAINED), and returns their number. Recording
    /// does the same from time to time.
    fn purge(&self) -> Result<u64>;

    /// Deletes everything recorded about queries. Judged searches stay unless `judged` is set.
    fn purge_telemetry(&self, judged: bool) -> Result<Purged>;

    /// Returns the search called `id`.
    fn search(&self, id: &str) -> Result<Option<RecordedSearch>>;

    /// Returns the last `limit` searches, latest first, with the number of judgements of each.
    fn recent(&self, limit: usize) -> Result<Vec<SearchSummary>>;

    /// Returns the identifiers of the last `limit` searches from `since_ms` up to before `until_ms` (milliseconds since
    /// 1970; `None`: unbounded), earliest first.
    fn search_ids(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<String>>;

    /// Returns every judged search, earliest first, with the judgements that count.
    fn judged(&self) -> Result<Vec<JudgedSearch>>;

    /// Returns the judged searches of one query under one namespace label, earliest first, with the judgements that count.
    /// Without any it reads no search.
    fn judged_as(&self, query_hash: &[u8; 32], namespace: &str) -> Result<Vec<JudgedSearch>>;

    /// Returns the judgements that count for a search; empty if the search does not exist.
    fn judgements(&self, id: &str) -> Result<Vec<Judgement>>;

    /// Returns the number of judgements, and the number of the last one, which tell that judgements were added or deleted.
    fn judgement_version(&self) -> Result<(i64, i64)>;

    /// Returns the quality rows of queries from `since_ms` up to before `until_ms` (milliseconds since 1970; `None`:
    /// unbounded): the last `limit`, earliest first.
    fn quality(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<QueryQuality>>;

    /// Returns searches with all that was recorded of them, in the order of recording: those after the number `after` (0: from
    /// the first), at most `limit`.
    fn logged_searches(&self, after: i64, limit: usize) -> Result<Vec<LoggedSearch>>;

    /// Returns searches by their identifiers with all that was recorded of them, in the order given; `None` for a missing one.
    fn logged(&self, ids: &[&str]) -> Result<Vec<Option<LoggedSearch>>>;

    /// Adds what another log recorded, in one transaction: searches whose identifier is new, and of the others the judgements
    /// and openings that are missing. Numbers are given anew, in the order given. Nothing is purged.
    /// Returns the number of searches that changed.
    fn add_searches(&self, searches: &[LoggedSearch]) -> Result<u64>;

    /// Returns the quality rows of queries with their numbers, in the order of recording: those after the number `after` (0:
    /// from the first), at most `limit`.
    fn logged_quality(&self, after: i64, limit: usize) -> Result<Vec<(i64, QueryQuality)>>;

    /// Adds quality rows of another log, in one transaction. Nothing is purged.
    fn add_quality(&self, rows: &[QueryQuality]) -> Result<()>;
}

/// How often a store is asked for its change number where nothing tells of changes.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Serves many clients from a store that others change.
pub trait Serving: Maintenance {
    /// Waits until the change number is another one than `seen`, for `patience` at most, and returns the number then.
    ///
    /// # Errors
    /// The store cannot be read.
    fn wait_for_change(&self, seen: Option<u64>, patience: Duration) -> Result<u64> {
        let started = Instant::now();
        loop {
            let number = self.change_number()?;
            let left = patience.saturating_sub(started.elapsed());
            if seen != Some(number) || left.is_zero() {
                return Ok(number);
            }
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
    }

    /// Returns `true` if calls mostly wait for another process, so that many can wait at once.
    fn waits_for_server(&self) -> bool {
        false
    }

    /// The sessions that all servers of the store share; `None` if a session belongs to the process that opened it.
    fn shared_sessions(&self) -> Option<&dyn SharedSessions> {
        None
    }
}

/// A session of a client, which any server may continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSession {
    /// Its identifier, which only the client and the servers know.
    pub id: String,
    /// Who opened it, as a text that only this client has.
    pub owner: String,
    /// Its opening message, as JSON.
    pub opened: String,
}

/// Keeps the sessions of all servers of a store.
pub trait SharedSessions: Send + Sync {
    /// Adds a session. Ends the oldest of an owner that has more than `most`, and all that nobody has used for a day.
    ///
    /// # Errors
    /// The store cannot be written.
    fn open_session(&self, session: &SharedSession, most: usize) -> Result<()>;

    /// Returns an open session.
    ///
    /// # Errors
    /// The store cannot be read.
    fn session(&self, id: &str) -> Result<Option<SharedSession>>;

    /// Ends a session.
    ///
    /// # Errors
    /// The store cannot be written.
    fn end_session(&self, id: &str) -> Result<()>;
}

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
