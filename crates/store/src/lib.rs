//! Storage for hybrid search: documents cut into passages, their vectors, and two retrievers that search them.
//!
//! The idea: a search asks two questions of every passage, and this crate answers both. The lexical retriever scores the words
//! that a passage shares with the query (BM25). The semantic retriever scores how close their vectors are (cosine similarity). The
//! crate returns raw scores of both kinds for any passage, together with the scores of unrelated passages, and leaves the
//! decision about relevance to its caller.
//!
//! One database holds the truth. Everything that makes searching fast is derived from it and can be deleted: each derived
//! index carries the number of the last change it holds, replays the later ones, and is rebuilt when it is missing, damaged
//! or of another version.
//!
//! [`Store`] is the seam to the database: the union of small traits, one for each group of users. [`EmbeddedStore`]
//! implements it in a directory, with SQLite, Tantivy and memory-mapped vector files. [`EmbeddedUsageLog`] keeps recorded
//! searches and feedback in a database of its own beside it. [`EmbeddingCache`] shares vectors between all indexes of a user.
//!
//! ```
//! use tamis_store::prelude::*;
//! use tamis_store::{Access, Change, EmbeddedStore, FileStat, Filter, LexicalQuery, ModelKey, NewDocument, NewPassage, TextForm};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let store = EmbeddedStore::open(directory.path(), Access::ReadWrite)?;
//! let text = "A sieve keeps what is coarse and lets the rest through.";
//! store.apply(&[Change::Put(NewDocument {
//!     language: Some("markdown".into()),
//!     title: Some("The sieve".into()),
//!     file: FileStat { size: text.len() as u64, ..FileStat::default() },
//!     passages: vec![NewPassage {
//!         embedded_text: format!("The sieve\n\n{text}"),
//!         ..NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)
//!     }],
//!     ..NewDocument::new("kitchen", "docs", "tools/sieve.md")
//! })])?;
//!
//! let model = ModelKey { id: "toy".into(), dimension: 2 };
//! for missing in store.unembedded(&model.id, &Filter::default(), 100)? {
//!     store.put_vectors(&model, &[(missing.hash, vec![1.0, 0.5])])?;
//! }
//! store.publish(&mut |_| Ok(()))?;
//!
//! let lexical = store.lexical(&LexicalQuery::new("coarse sieves"), &Filter::namespace("kitchen"), 10)?;
//! let semantic = store.nearest("toy", &[1.0, 0.0], &Filter::default(), 10)?;
//! assert_eq!(lexical.hits[0].passage, semantic.hits[0].passage);
//! assert!(lexical.hits[0].score.coverage > 0.99);
//! let passage = &store.passages(&[], &[lexical.hits[0].passage])?[0];
//! assert_eq!((passage.path.as_str(), passage.text.as_str()), ("tools/sieve.md", text));
//! # Ok(())
//! # }
//! ```

// Unit tests take databases from the same file as the tests outside of the crate.
#[cfg(test)]
extern crate self as tamis_store;

mod cache;
mod content;
mod counting_allocator;
mod embedded;
mod embedding_cache;
mod error;
mod evidence;
mod files;
mod filter;
mod graph;
mod lexical;
mod lock;
mod names;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod report;
mod retrieval;
mod semantic;
mod session;
mod sql_guard;
mod sqlite;
mod store;
mod untrusted_sql;
mod usage;
mod usage_record;
pub mod vectors;

pub use embedded::EmbeddedStore;
pub use embedding_cache::{CacheSummary, EmbeddingCache};
pub use error::{Result, StoreError};
pub use evidence::{
    Claim, EVIDENCE_COLLECTION, Edge, EdgeKind, EvidenceKey, EvidenceRecord, Fragment, LONGEST_EVIDENCE_TEXT, NodeType,
    Page, Relation, Task, Work, domain,
};
pub use filter::{AttributeCondition, DateBound, DateRange, Filter, PathGlobs};
pub use lexical::{Highlighter, Mark, is_function_word};
#[cfg(feature = "postgres")]
pub use postgres::{
    Job, JobEnd, JobState, MOST_JOB_FAILURES, NamespaceStatus, NextJob, PostgresStatus, PostgresStore, Sharding,
    TakenJob, Versions,
};
pub use record::{
    Applied, Attribute, Calibration, Change, Description, DocumentId, DocumentState, FileStat, ModelKey, Namespace,
    NewDocument, NewNamespace, NewPassage, PassageId, PassageKey, PassageRef, Place, StoredPassage, TextForm, TextHash,
    TextToEmbed, Tree, WholeDocument,
};
pub use report::{
    Count, Counts, Coverage, EvidenceSummary, Findings, ModelSummary, Origin, Part, Problem, Progress, Pruned, Sizes,
    Summary,
};
pub use retrieval::{
    Background, LexicalHit, LexicalHits, LexicalQuery, LexicalScore, LexicalStatistics, NearWord, Nearest, SemanticHit,
    TermStatistics,
};
pub use sqlite::connection::Access;
pub use store::{
    Changes, Documents, EvidenceGraph, LexicalRetriever, Maintenance, Properties, Serving, SharedSession,
    SharedSessions, Store, Usage, UsageLog, VectorRetriever, Writing,
};
pub use untrusted_sql::{
    LEAST_SQL_BYTES, LONGEST_SQL_TIME, MOST_SQL_BYTES, MOST_SQL_ROWS, SQL_TABLES, SqlColumn, SqlQuery, SqlRows,
    SqlTable, SqlValue,
};
pub use usage::{EmbeddedUsageLog, UsageCheck};
pub use usage_record::{
    CallerKey, JudgedSearch, Judgement, LoggedOpening, LoggedSearch, OpenedCount, Opening, Purged, QueryQuality,
    RETAINED, RETAINED_QUALITY, RecordedCandidate, RecordedSearch, ScoringKey, ScoringKeyError, ScoringKind,
    SearchSummary,
};

/// The traits of a store, for calling their methods on a concrete store.
pub mod prelude {
    pub use crate::{
        Changes as _, Documents as _, EvidenceGraph as _, LexicalRetriever as _, Maintenance as _, Properties as _,
        Serving as _, Usage as _, UsageLog as _, VectorRetriever as _,
    };
}
