//! Documents, passages and vectors, and the two legs that search them, behind one trait.
//!
//! A [`Store`] takes documents cut into passages, keeps a vector for each text and model, and answers from two legs: the
//! lexical one (BM25) and the semantic one (cosine similarity to everything). It decides nothing about
//! relevance: it hands out raw scores of both kinds for any passage, and what these scores look like for passages that
//! have nothing to do with the query, for fusion and cuts to work with.
//!
//! [`EmbeddedStore`] keeps it all in one directory. SQLite holds the truth; the Tantivy index and the vector files are
//! derived: each carries the number of the last change it holds, replays the rest from the database, and is rebuilt when
//! it is missing, damaged or of another version. [`UsageLog`] keeps what was searched and what people said of the results, in
//! a database of its own beside it. [`EmbeddingCache`] holds vectors for all indexes of a user.
//!
//! ```
//! use tamis_store::{
//!     Access, Change, EmbeddedStore, Filter, LexicalQuery, ModelKey, NewDocument, NewPassage, Store, TextForm,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let store = EmbeddedStore::open(directory.path(), Access::ReadWrite)?;
//! let text = "A sieve keeps what is coarse and lets the rest through.";
//! store.apply(&[Change::Put(NewDocument {
//!     language: Some("markdown".into()),
//!     title: Some("The sieve".into()),
//!     size: text.len() as u64,
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
//! store.publish(&mut |_| {})?;
//!
//! let lexical = store.lexical(&LexicalQuery::new("coarse sieves"), &Filter::namespace("kitchen"), 10)?;
//! let semantic = store.nearest("toy", &[1.0, 0.0], &Filter::default(), 10)?;
//! assert_eq!(lexical.hits[0].passage, semantic.hits[0].passage);
//! assert!(lexical.hits[0].score.coverage > 0.99);
//! let passage = &store.passages(&[lexical.hits[0].passage])?[0];
//! assert_eq!((passage.path.as_str(), passage.text.as_str()), ("tools/sieve.md", text));
//! # Ok(())
//! # }
//! ```

mod cache;
mod calibration;
mod check;
mod embedded;
mod error;
mod evidence;
mod filter;
mod hits;
mod in_use;
mod lexical;
mod lock;
mod namespace;
mod record;
mod report;
mod schema_version;
mod semantic;
mod sql;
mod sql_tables;
mod sqlite;
mod stamp;
mod store;
mod symbols;
mod usage;
pub mod vectors;
mod verified;

pub use cache::{CacheSummary, EmbeddingCache};
pub use calibration::Calibration;
pub use embedded::{Access, EmbeddedStore};
pub use error::{Result, StoreError};
pub use evidence::{
    Claim, EVIDENCE_COLLECTION, Edge, EdgePlace, EvidenceKey, EvidenceRecord, Fragment, LONGEST_EVIDENCE_TEXT,
    NodeType, Page, Relation, Task, Work, domain,
};
pub use filter::{AttributeCondition, Filter};
pub use hits::{
    Background, LexicalHit, LexicalHits, LexicalQuery, LexicalScore, LexicalStatistics, Nearest, SemanticHit,
    TermStatistics,
};
pub use lexical::{Highlighter, Mark};
pub use namespace::{Namespace, NewNamespace};
pub use record::{
    Applied, Attribute, Change, DocumentId, DocumentState, ModelKey, NewDocument, NewPassage, PassageId, PassageRef,
    StoredPassage, TextForm, TextHash, TextToEmbed,
};
pub use report::{
    Count, Coverage, EvidenceSummary, Findings, ModelSummary, Origin, Part, Problem, Progress, Pruned, Sizes, Summary,
};
pub use sql::{LEAST_SQL_BYTES, LONGEST_SQL_TIME, MOST_SQL_BYTES, MOST_SQL_ROWS, SqlQuery, SqlRows, SqlValue};
pub use sql_tables::{SQL_TABLES, SqlColumn, SqlTable};
pub use store::{Store, Writing};
pub use usage::{
    JudgedSearch, Judgement, PastQuery, Purged, QueryQuality, RETAINED, RETAINED_QUALITY, RecordedCandidate,
    RecordedSearch, SearchSummary, UsageCheck, UsageLog,
};
