//! The search pipeline: query → gather → complete → fuse → rerank → cut → arrange → limit → present → record.
//!
//! [`Searcher`] performs every step. This module knows no application: applications ask the searcher for passages, issues, pages
//! or records, and add their own part.

mod adjustments;
mod aim;
mod answer;
mod arrange;
mod by_document;
mod by_issue;
mod by_page;
#[cfg(feature = "evidence")]
mod by_record;
mod caller;
mod candidate;
mod decay;
mod decide;
mod depth;
mod entries;
mod exact;
mod fitted_prior;
mod gather;
mod guarantee;
mod judged_passages;
mod judged_queries;
mod metadata;
mod missing_words;
mod mode;
mod model_reranker;
mod named_paths;
mod near_passage;
mod on_demand;
mod options;
mod parameters;
mod pipeline;
mod plan;
mod present;
mod quality_row;
mod query;
mod question;
mod rank;
mod rank_factors;
mod ranking;
mod record;
mod relevance;
mod replayed;
mod representative;
mod required;
mod reranker;
mod retrieve;
mod reusable_pool;
mod scope;
mod searcher;
mod shared;
mod shift;
mod snippet;
mod stopwatch;
mod syntax;
mod text_kind;
mod thresholds;
mod tuned_rule;
mod variants;

pub use crate::error::AimError;
pub use aim::{Aim, CutGoal};
pub use answer::{
    Answer, Copy, CutReport, EvidencePart, FurtherPassage, Hit, IndexReport, Nearest, PoolEntry, judged, percent,
};
pub(crate) use by_issue::{FoundIssue, FoundIssues, IssuePassages, IssueQuery};
pub(crate) use by_page::{FoundPage, FoundPages};
#[cfg(feature = "evidence")]
pub(crate) use by_record::{End, EvidenceQuery, FoundRecord};
pub use caller::SearchCaller;
pub(crate) use judged_queries::{IMPORTED_JUDGEMENTS, entry_labels};
pub use metadata::MetadataFilter;
#[cfg(feature = "clap")]
pub(crate) use metadata::{issue_type, label_group};
pub(crate) use metadata::{moment, since, until};
pub(crate) use model_reranker::ModelReranker;
pub(crate) use near_passage::SimilarPassages;
pub(crate) use on_demand::OnDemandVectors;
#[cfg(feature = "evidence")]
pub(crate) use parameters::chosen_cut;
pub use parameters::{QueryParameters, SearchParameters};
pub(crate) use present::most_below;
pub(crate) use quality_row::Served;
pub use query::{MAX_VARIANTS, SearchRequest};
pub(crate) use replayed::{Configured, ReplayGrounds, replayed, scoring_under};
pub use reranker::{RerankedPassage, Reranker};
pub(crate) use reusable_pool::{Candidates, Ordered, OrderedPassage};
pub(crate) use scope::Scope;
pub(crate) use searcher::Searcher;
pub(crate) use stopwatch::Stopwatch;
pub use thresholds::{ThresholdSource, Thresholds};
pub(crate) use thresholds::{Under, resolve};
pub(crate) use tuned_rule::EVERYTHING;
pub use tuned_rule::TunedRule;
pub use variants::{Variant, VariantKind};
