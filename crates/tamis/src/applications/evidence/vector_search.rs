//! Finds claims or fragments similar to a text, by meaning alone.

use super::EvidenceGraph;
use super::preview::preview;
use crate::Error;
use crate::config::Mode;
#[cfg(feature = "clap")]
use crate::flags;
use crate::search::{
    Context, CutReport, End, EvidenceQuery, FoundRecord, SearchRequest, Stopwatch, chosen_cut, similar_evidence,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tamis_store::{AttributeCondition, EVIDENCE_COLLECTION, Filter};

/// The most matches and the least similarity of a request that names none.
const TOP_K: usize = 10;
const MIN_SIMILARITY: f64 = 0.5;

/// The most characters in a preview.
const PREVIEW: usize = 200;

/// The records that are compared with a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceTarget {
    /// Claims.
    #[default]
    Claims,
    /// Fragments.
    Fragments,
}

impl EvidenceTarget {
    /// The names of all targets.
    pub const NAMES: [&str; 2] = ["claims", "fragments"];

    /// The kind of the target's passages.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            EvidenceTarget::Claims => "claim",
            EvidenceTarget::Fragments => "fragment",
        }
    }
}

impl std::str::FromStr for EvidenceTarget {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "claims" => Ok(EvidenceTarget::Claims),
            "fragments" => Ok(EvidenceTarget::Fragments),
            other => Err(Error::argument("target", format!("{other:?}"), "claims or fragments")),
        }
    }
}

/// A vector search over claims or fragments. [`VectorSearchRequest::new`] uses the configuration's settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct VectorSearchRequest {
    /// Text to compare with: a claim, a question or a sentence.
    #[schemars(length(min = 1, max = 10_000))]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub query: String,
    /// Records to compare: claims, or fragments.
    #[schemars(with = "String", extend("enum" = EvidenceTarget::NAMES))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT", default_value = "claims", value_parser = flags::word::<EvidenceTarget>(&EvidenceTarget::NAMES), hide_possible_values = true))]
    pub target: EvidenceTarget,
    /// Only claims of this task, or fragments with an edge to one of them (default: all tasks).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub task: Option<String>,
    /// Show at most this many matches, 1 to 50; never changes what is relevant (default: 10).
    #[schemars(range(min = 1, max = 50))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = flags::whole::<1, 50>, allow_negative_numbers = true))]
    pub top_k: Option<usize>,
    /// Least cosine similarity, 0 to 1; not together with a cut (default: 0.5).
    #[schemars(range(min = 0.0, max = 1.0))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIMILARITY", value_parser = flags::share, conflicts_with = "cut", allow_negative_numbers = true))]
    pub min_similarity: Option<f64>,
    /// Cut that decides in place of a least similarity, such as auto or kneedle, after the gate (default: none).
    #[schemars(length(min = 1, max = 1000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD[:PARAM=VALUE,…]"))]
    pub cut: Option<String>,
    /// Repository (default: this one).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// The namespaces that the caller may read; nothing else is read. `None`: all.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub allowed_namespaces: Option<Vec<String>>,
    /// The entry point recorded for the call. `None`: `vector_search`.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub entry_point: Option<String>,
}

impl VectorSearchRequest {
    /// Creates a search for claims similar to a text.
    pub fn new(query: impl Into<String>) -> Self {
        VectorSearchRequest { query: query.into(), ..VectorSearchRequest::default() }
    }
}

/// The records similar to a text; there may be none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct VectorMatches {
    /// The kind of records compared.
    pub target: EvidenceTarget,
    /// The namespace of the graph.
    pub namespace: String,
    /// Matches, most similar first.
    pub matches: Vec<VectorMatch>,
    /// The number of passages compared: all that the target and the task leave.
    pub total_searched: u64,
    /// The number of similar records, and the reason for it; `matches` holds the first of them.
    pub cut: CutReport,
    /// The model that made the comparison.
    pub model: String,
    /// The reason the best configured model was not used.
    pub fallback_reason: Option<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The identifier under which the search is recorded; null if it is not recorded.
    pub query_id: Option<String>,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
}

/// A claim or a fragment similar to a text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct VectorMatch {
    /// The record's identifier.
    pub id: String,
    /// Cosine similarity of the text and the record's most similar passage, in [-1, 1].
    pub similarity: f64,
    /// The first 200 characters of that passage, followed by `…` if there is more.
    pub text_preview: String,
}

impl EvidenceGraph<'_> {
    /// Finds the claims or fragments similar to a text, by meaning alone, each once. An empty answer is not an error
    /// and states its reason.
    ///
    /// # Errors
    /// A value out of range, a least similarity together with a cut, a missing namespace, or no vectors to compare.
    pub fn vector_search(&self, request: &VectorSearchRequest) -> Result<VectorMatches, Error> {
        let clock = Stopwatch::start();
        let top_k = request.top_k.unwrap_or(TOP_K);
        if !(1..=50).contains(&top_k) {
            return Err(Error::argument("top_k", top_k.to_string(), "1 to 50"));
        }
        let least = request.min_similarity.unwrap_or(MIN_SIMILARITY);
        if !(0.0..=1.0).contains(&least) {
            return Err(Error::argument("min_similarity", least.to_string(), "0 to 1"));
        }
        let cut = chosen_cut(&self.index.config, request.cut.as_deref())?;
        let end = match (&cut, request.min_similarity) {
            (Some(cut), Some(least)) => {
                let allowed = format!("left out where a cut ({}) decides", cut.name());
                return Err(Error::argument("min_similarity", least.to_string(), allowed));
            }
            (Some(cut), None) => End::Rule(&**cut),
            (None, _) => End::Similarity(least),
        };
        let namespace = self.namespace(request.namespace.as_deref(), request.allowed_namespaces.as_deref())?;
        let search = SearchRequest {
            mode: Some(Mode::Semantic),
            namespaces: vec![namespace.clone()],
            allowed_namespaces: request.allowed_namespaces.clone(),
            ..SearchRequest::new(&request.query)
        };
        let query = EvidenceQuery {
            request: &search,
            filter: filter(request.target, request.task.as_slice()),
            // The caller's limit plays no part here: it shortens the list but does not change what is similar.
            candidates: self.index.config.search.pool,
            end,
            limit: top_k,
            entry_point: request.entry_point.as_deref().unwrap_or("vector_search"),
        };
        let found = similar_evidence(&Context::of(self.index), &query, clock)?;
        let kept = found.records.into_iter().take(found.cut.keep.min(top_k));
        Ok(VectorMatches {
            target: request.target,
            namespace,
            matches: kept.map(matched).collect(),
            total_searched: found.searched,
            cut: found.cut,
            model: found.model,
            fallback_reason: found.fallback_reason,
            warnings: found.warnings,
            query_id: found.query_id,
            timings_ms: found.timings_ms,
        })
    }
}

fn matched(FoundRecord { passage, similarity, .. }: FoundRecord) -> VectorMatch {
    VectorMatch { id: record_id(&passage.path).to_owned(), similarity, text_preview: preview(&passage.text, PREVIEW) }
}

/// The identifier of a claim or a fragment in the path of its document.
pub(super) fn record_id(path: &str) -> &str {
    path.split_once(':').map_or(path, |(_, id)| id)
}

/// A filter for the records of a kind that belong to one of the tasks, if any are named.
pub(super) fn filter(target: EvidenceTarget, tasks: &[String]) -> Filter {
    let tasks = (!tasks.is_empty()).then(|| AttributeCondition::new("task", tasks));
    Filter {
        collections: vec![EVIDENCE_COLLECTION.to_owned()],
        kinds: vec![target.kind().to_owned()],
        attributes: tasks.into_iter().collect(),
        ..Filter::default()
    }
}
