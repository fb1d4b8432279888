//! The search pipeline: plan → gather → exact → rank → group → relevance → rerank → decide → present → record.
//!
//! `search` calls the steps in this order. Each is a function of a [`Context`] and the data before it: the
//! [`SearchRequest`], the query that it becomes, candidates, and their ranking. This module knows no application: applications ask it for
//! passages, issues, pages or records, and add their own part.

mod adjustments;
mod answer;
mod candidate;
mod context;
mod decide;
mod documents;
mod exact;
mod filter;
mod gather;
mod group;
mod judged;
mod learning;
mod parameters;
mod plan;
mod pool;
mod present;
mod query;
mod rank;
mod ranking;
mod readings;
mod record;
#[cfg(feature = "evidence")]
mod records;
mod relation;
mod relevance;
mod request;
mod rerank;
mod rule;
#[expect(clippy::module_inception, reason = "the steps of a search in their order")]
mod search;

pub use crate::error::AimError;
pub use answer::{
    Answer, Copy, CutReport, EvidencePart, FurtherPassage, Hit, IndexReport, Nearest, PoolEntry, Reading, judged,
    percent,
};
#[cfg(test)]
pub(crate) use candidate::test_support;
pub(crate) use context::{Context, Scope, Stopwatch, scope_of};
pub(crate) use decide::{check_rule, replacement};
pub(crate) use documents::{
    FoundIssue, FoundIssues, FoundPage, FoundPages, IssuePassages, IssueQuery, issue_similarities, issues,
    other_similarities, pages, record_issues,
};
pub use filter::MetadataFilter;
#[cfg(feature = "clap")]
pub(crate) use filter::{issue_type, label_group};
pub(crate) use filter::{moment, since, until};
pub(crate) use judged::{IMPORTED_JUDGEMENTS, entry_labels};
#[cfg(feature = "evidence")]
pub(crate) use parameters::chosen_cut;
pub use parameters::{QueryParameters, SearchParameters};
pub(crate) use plan::covering;
pub(crate) use pool::{Candidates, Ordered, OrderedPassage, SimilarPassages, candidates, scope_around, similar};
pub(crate) use present::most_below;
pub(crate) use record::{Configured, ReplayGrounds, Served, replayed};
#[cfg(feature = "evidence")]
pub(crate) use records::{End, EvidenceQuery, FoundRecord, similar_evidence};
pub(crate) use relevance::OnDemandVectors;
pub use request::{Aim, CutGoal, MAX_VARIANTS, SearchCaller, SearchRequest, Variant, VariantKind};
pub(crate) use rerank::ModelReranker;
pub use rerank::{RerankedPassage, Reranker};
pub(crate) use rule::{EVERYTHING, Under, resolve, thresholds};
pub use rule::{ThresholdSource, Thresholds, TunedRule};
pub(crate) use search::search_under;
