//! The search pipeline: plan → gather → exact → rank → group → relevance → rerank → decide → present → record.
//!
//! `search` calls the steps in this order. Each is a function of a [`Context`] and the data before it: the
//! [`SearchRequest`], the query that it becomes, candidates, and their ranking. This module knows no application: applications ask it for
//! passages, issues, pages or records, and add their own part.

mod adjustments;
mod answer;
mod caller;
mod candidate;
mod candidate_pool;
mod context;
mod decide;
mod display_order;
#[cfg(feature = "evidence")]
mod evidence_records;
mod exact;
mod filter;
mod gather;
mod group;
mod issues;
mod judgements;
mod learning;
mod misspellings;
mod named_files;
mod plan;
mod present;
mod query;
mod rank;
mod ranking;
mod recording;
mod relation;
mod relevance;
mod request;
mod rerank;
mod rule;
#[expect(clippy::module_inception, reason = "the steps of a search in their order")]
mod search;
mod snippet;
mod unmatched;

pub use crate::error::AimError;
pub use answer::{
    Answer, Copy, CutReport, EvidencePart, FurtherPassage, Hit, IndexReport, Nearest, PoolEntry, Reading, judged,
    percent,
};
pub use caller::{Asker, SearchCaller};
#[cfg(test)]
pub(crate) use candidate::test_support;
pub(crate) use candidate_pool::{
    Candidates, Ordered, OrderedPassage, SimilarPassages, candidates, scope_around, similar,
};
pub(crate) use context::{Context, Scope, Stopwatch, scope_of};
pub(crate) use decide::{check_rule, replacement};
#[cfg(feature = "evidence")]
pub use evidence_records::SearchMetadata;
#[cfg(feature = "evidence")]
pub(crate) use evidence_records::{End, EvidenceQuery, FoundRecord, similar_evidence};
pub use filter::MetadataFilter;
#[cfg(feature = "clap")]
pub(crate) use filter::{issue_type, label_group};
pub(crate) use filter::{moment, since, until};
pub(crate) use issues::{
    FoundIssue, FoundIssues, FoundPage, FoundPages, IssuePassages, IssueQuery, issue_similarities, issues,
    other_similarities, pages, record_issues,
};
pub(crate) use judgements::{IMPORTED_JUDGEMENTS, entry_labels};
pub(crate) use plan::covering;
pub(crate) use present::most_below;
pub(crate) use query::filter_of;
pub(crate) use recording::{Configured, ReplayGrounds, Served, replayed};
pub use relation::AskedRelation;
pub(crate) use relevance::OnDemandVectors;
pub use request::{
    Aim, CutGoal, CutOptions, MAX_VARIANTS, OutputOptions, RankingOptions, SearchFilters, SearchRequest, Variant,
    VariantKind,
};
pub(crate) use rerank::ModelReranker;
pub use rerank::{RerankedPassage, Reranker};
#[cfg(feature = "evidence")]
pub(crate) use rule::chosen_cut;
pub(crate) use rule::{EVERYTHING, Under, resolve, thresholds};
pub use rule::{ThresholdSource, Thresholds, TunedRule};
pub(crate) use search::search_under;
