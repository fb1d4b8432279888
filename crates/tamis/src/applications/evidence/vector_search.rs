//! The claims or fragments that are like a text, by meaning alone.

use super::EvidenceGraph;
use super::preview::preview;
use crate::Error;
use crate::config::Mode;
use crate::search::{CutReport, End, EvidenceQuery, FoundRecord, SearchRequest, Stopwatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tamis_cut::Rule;
use tamis_store::{AttributeCondition, EVIDENCE_COLLECTION, Filter};

/// Characters of a preview.
const PREVIEW: usize = 200;

/// What is compared with a text.
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
    /// All by name.
    pub const NAMES: [&str; 2] = ["claims", "fragments"];

    /// The kind of its passages.
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

/// A text and what is compared with it. [`VectorSearchRequest::new`] asks with the configuration's settings.
#[derive(Clone, Debug, Default)]
pub struct VectorSearchRequest {
    /// The text.
    pub query: String,
    /// What is compared with it.
    pub target: EvidenceTarget,
    /// Only what has to do with this task: its claims, or fragments with an edge to one of them.
    pub task: Option<String>,
    /// Most matches, 1 to 50; it only shortens what is like the text. `None`: `evidence.top_k`.
    pub top_k: Option<usize>,
    /// Least similarity, 0 to 1. `None`: `evidence.min_similarity`.
    pub min_similarity: Option<f64>,
    /// Where the matches end, in place of a least similarity and after the gate of every search.
    pub cut: Option<Box<dyn Rule>>,
    /// The namespace whose graph is asked. `None`: the index's own.
    pub namespace: Option<String>,
    /// The namespaces that the caller may read. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
    /// Where the call comes from, as it is recorded; `None`: `vector_search`.
    pub entry_point: Option<String>,
}

impl VectorSearchRequest {
    /// A text that claims are compared with.
    pub fn new(query: impl Into<String>) -> Self {
        VectorSearchRequest { query: query.into(), ..VectorSearchRequest::default() }
    }
}

/// What is like a text. Nothing is an answer too.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct VectorMatches {
    /// What was compared.
    pub target: EvidenceTarget,
    /// The namespace whose graph was asked.
    pub namespace: String,
    /// Most similar first.
    pub matches: Vec<VectorMatch>,
    /// How many passages were compared: all that the target and the task leave.
    pub total_searched: u64,
    /// How many are like the text, and why; `matches` holds the first of them.
    pub cut: CutReport,
    /// The model that compared.
    pub model: String,
    /// Why that is not the best one configured.
    pub fallback_reason: Option<String>,
    /// What did not go as it should.
    pub warnings: Vec<String>,
    /// The identifier under which the search is recorded; null where it is not.
    pub query_id: Option<String>,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
}

/// A claim or a fragment that is like a text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct VectorMatch {
    /// Which one.
    pub id: String,
    /// The cosine similarity of its most similar passage, in [-1, 1].
    pub similarity: f64,
    /// The first 200 characters of that passage; `…` where there is more.
    pub text_preview: String,
}

impl EvidenceGraph<'_> {
    /// The claims or fragments that are like a text, by meaning alone, each once. Nothing found is an answer, with its reason.
    ///
    /// # Errors
    /// A value out of its range, a least similarity and a cut at once, a namespace that is not there, or nothing that has
    /// vectors.
    pub fn vector_search(&self, request: &VectorSearchRequest) -> Result<VectorMatches, Error> {
        let clock = Stopwatch::start();
        let top_k = request.top_k.unwrap_or(self.index.config.evidence.top_k);
        if !(1..=50).contains(&top_k) {
            return Err(Error::argument("top_k", top_k.to_string(), "1 to 50"));
        }
        let least = request.min_similarity.unwrap_or(self.index.config.evidence.min_similarity);
        if !(0.0..=1.0).contains(&least) {
            return Err(Error::argument("min_similarity", least.to_string(), "0 to 1"));
        }
        let end = match (&request.cut, request.min_similarity) {
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
            // Never by the caller's limit: what is like a text does not depend on how much of it is shown.
            candidates: self.index.config.search.pool,
            end,
            limit: top_k,
            entry_point: request.entry_point.as_deref().unwrap_or("vector_search"),
        };
        let found = self.index.searcher().similar_evidence(&query, clock)?;
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

/// The records of a kind that have to do with one of the tasks, where any are named.
pub(super) fn filter(target: EvidenceTarget, tasks: &[String]) -> Filter {
    let tasks = (!tasks.is_empty()).then(|| AttributeCondition::new("task", tasks));
    Filter {
        collections: vec![EVIDENCE_COLLECTION.to_owned()],
        kinds: vec![target.kind().to_owned()],
        attributes: tasks.into_iter().collect(),
        ..Filter::default()
    }
}
