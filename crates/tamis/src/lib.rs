//! Retrieval that knows where to stop.
//!
//! An [`Index`] holds the passages of a tree of code and documents. A search gathers candidates from two legs, words
//! (BM25) and vectors, ranks them, and a cut decides how many are relevant, which can be none. This is the library; the
//! `tamis` command and the servers are its faces, with the same pipeline and the same configuration.
//!
//! - [`Location`] finds the tree and its index; [`config::Config`] says how.
//! - [`Index::add_sources`] has an index hold several repositories, each a namespace, in place of one tree.
//! - [`Index::refresh`] brings the index up to date, [`Index::search`] answers a [`SearchRequest`] with an [`Answer`].
//! - [`evaluate`] measures ranking and cuts on collections with judged answers.
//! - [`Index::feedback`] takes down what people say of an answer, for guarantees to be calibrated on.
//! - [`Index::calibrate`] measures similarity thresholds by language, [`Index::thresholds`] says which hold.
//! - [`Index::stats`] tells how well past queries were served, [`Index::replay`] what another cut would have kept of them.
//! - [`Index::related`] goes on from a hit: what is like it, what it uses, what uses it.
//! - [`Index::import_issues`], [`Index::import_pages`] and [`Index::import_conversations`] bring in what is no file;
//!   [`Index::imported`] lists it.
//! - [`Index::import_evidence`] brings in claims and what speaks for and against them, [`Index::export_evidence`] gives them back
//!   and [`Index::evidence_summary`] counts them.
//! - [`Index::remember`] adds a note and [`Index::forget`] has it found no more.
//! - [`Index::troubleshoot`] answers a trouble from solved issues and the wiki, [`Index::duplicates`] tells which issues are
//!   likely the same.
//! - [`Index::query_sql`] runs a statement on the evidence graph, within limits, and [`Index::query_view`] one that has a name.
//! - [`Index::rank_evidence`] finds the fragments that have to do with a claim, [`Index::vector_search`] the claims or fragments
//!   that are like a text.
//! - [`hook`] has git keep the index fresh.
//! - [`clients`] puts the server for agents into the configuration of a client.
//! - [`Index::get`], [`Index::status`], [`Index::check`] and [`Index::mend`] look at what is there.
//!
//! ```
//! use tamis::{Index, Location, RunOptions, SearchRequest, config::Config};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
//!
//! let mut config = Config::built_in();
//! config.index.models = vec!["static".into()];
//! let index = Index::open(Location::at(directory.path(), None), config)?;
//! index.refresh(RunOptions::WHOLE, &())?;
//!
//! let answer = index.search(&SearchRequest::new("how hot should the oven be"), &Default::default())?;
//! assert_eq!(answer.results[0].path, "oven.md");
//! println!("{}", answer.cut.reason);
//! # Ok(())
//! # }
//! ```

mod calibrate;
pub mod clients;
pub mod config;
mod corpus;
pub mod dates;
mod duplicates;
mod embedding_cache;
mod error;
pub mod evaluate;
mod evidence;
mod feedback;
mod file;
mod get;
mod git;
pub mod hook;
mod import;
mod index;
mod left_out;
mod location;
mod memory;
mod models;
mod related;
mod search;
mod status;
mod telemetry;
mod tracker;
mod troubleshoot;
mod user_directories;
mod words;

pub use calibrate::{
    CalibrateMethod, CalibrateReport, CalibrateRequest, LanguageCalibration, Measurement, Outcome, ThresholdSource,
    Thresholds,
};
pub use corpus::TextDocument;
pub use duplicates::{ConsideredDuplicate, DuplicateQuestion, Duplicates, DuplicatesRequest};
pub use embedding_cache::{EmbeddingCacheCheck, EmbeddingCacheStatus, check_embedding_cache};
pub use error::Error;
pub use evidence::{
    EvidenceTarget, ParameterType, RankRequest, RankedClaim, RankedEvidence, RankedFragment, SqlAnswer, SqlRequest,
    VectorMatch, VectorMatches, VectorSearchRequest, ViewColumn, ViewDescription, ViewParameter, ViewRequest, views,
};
pub use feedback::{ImportReport, Judged, Label};
pub use file::{write_bytes, write_file};
pub use get::Excerpt;
pub use import::{
    Clock, ConversationImport, EvidenceImport, EvidenceLine, GITHUB_API, GithubAccess, GithubError, GithubImport,
    GithubReport, ImportInput, ImportSummary, Imported, ImportedLog, ImportedWiki, IssueImport, IssueStates,
    LARGEST_IMPORT, PageImport, RecordCounts, Repository, Stopped, SystemClock, TOKEN_VARIABLES, Token,
    UnreadableRecord, is_imported,
};
pub use index::{
    Freshness, Index, Observer, RunOptions, RunReport, Source, SourceReport, SourceSettings, SourceState, Stage, watch,
};
pub use location::{INDEX_DIRECTORY, Location};
pub use memory::{ForgetAction, Forgotten, Meant, NoteEntry, RememberRequest, Remembered};
pub use models::Models;
pub use related::{NameReference, Referrer, Related, RelatedBy, RelatedPassage, RelatedRequest, SimilarPassage};
pub use search::{
    Aim, AimError, Answer, Asked, CutReport, Hit, IndexReport, MAX_VARIANTS, MetadataFilter, Mode, Nearest, PoolEntry, Priors,
    SearchRequest, Variant, VariantKind,
};
pub use status::{SourceStatus, Status};
pub use tamis_cut as cut;
pub use tamis_eval as eval;
pub use tamis_rank as rank;
pub use tamis_store::{
    Claim, Count, DocumentState, Edge, EvidenceKey, EvidenceRecord, EvidenceSummary, Filter, Findings, Fragment,
    LONGEST_EVIDENCE_TEXT, LONGEST_SQL_TIME, MOST_SQL_BYTES, MOST_SQL_ROWS, NodeType, Page, Part, Problem, Progress,
    Purged, Relation, SQL_TABLES, SearchSummary, SqlColumn, SqlQuery, SqlTable, SqlValue, StoreError, Summary, Task,
    UsageCheck, UsageLog, Work,
};
pub use tamis_text as text;
pub use tamis_text::{Kind, LANGUAGES, Language, Role, estimate_tokens};
pub use telemetry::{
    Bucket, Comparison, CutSummary, Day, Distribution, Drift, Example, Latency, REPLAYED, Replay, ReplayRequest, Share,
    Similarities, SlowQuery, Stats, StatsRequest,
};
pub use troubleshoot::{
    BodyLengths, CommentReason, Considered, Fallback, Remark, SolvedIssue, Thread, ThreadComment, ThreadRules, Trouble,
    TroubleshootRequest, Troubleshooting, TroubleshootingLimits, WikiFound, WikiPage, assemble, budgets, keywords,
    shorten,
};
