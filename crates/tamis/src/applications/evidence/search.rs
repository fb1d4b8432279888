//! Searches the evidence: the fragments about a claim, ranked, and claims or fragments near a text.

use std::collections::HashMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_cut::Rule;
use tamis_store::{
    AttributeCondition, Claim, EVIDENCE_COLLECTION, Edge, EvidenceKey, EvidenceRecord, Filter, NodeType, Relation,
};

use super::{EvidenceGraph, preview};
use crate::Error;
use crate::config::{Mode, nearest};
#[cfg(feature = "clap")]
use crate::flag_values;
#[cfg(feature = "clap")]
use crate::flag_values::whole;
use crate::search::{
    Asker, Context, CutReport, End, EvidenceQuery, FoundRecord, SearchMetadata, SearchRequest, Stopwatch, chosen_cut,
    similar_evidence,
};

/// Fragments that words propose for a claim, to be ordered by their similarity to it.
const CANDIDATES: usize = 150;

/// The origin of edges that a ranking stores.
const ORIGIN: &str = "rank";

/// A request for the fragments relevant to a claim. [`RankRequest::new`] uses the configuration's settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RankRequest {
    /// Identifier of the claim.
    #[schemars(length(min = 1, max = 1000))]
    #[cfg_attr(feature = "clap", arg(value_name = "CLAIM"))]
    pub claim: String,
    /// Only fragments with an edge to a claim of one of these tasks.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "task", value_name = "ID", value_delimiter = ','))]
    pub tasks: Vec<String>,
    /// Where relevance ends (default: evidence.cut, auto).
    #[schemars(length(min = 1, max = 1000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD[:PARAM=VALUE,…]"))]
    pub cut: Option<String>,
    /// Show at most this many fragments; never changes what is relevant (default: all).
    #[schemars(range(min = 1, max = 10_000))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = whole::<1, 10_000>, allow_negative_numbers = true))]
    pub limit: Option<usize>,
    /// Store a neutral edge for each fragment shown that has no edge yet.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(long))]
    pub link: bool,
    /// Repository (default: this one).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
    /// The time of stored edges. `None`: now.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub now: Option<Timestamp>,
}

impl RankRequest {
    /// Creates a request for a claim's fragments.
    pub fn new(claim: impl Into<String>) -> Self {
        RankRequest { claim: claim.into(), ..RankRequest::default() }
    }
}

/// The fragments relevant to a claim.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RankedEvidence {
    /// The claim.
    pub claim: RankedClaim,
    /// The namespace of the graph.
    pub namespace: String,
    /// Most similar first, shortened to the limit.
    pub fragments: Vec<RankedFragment>,
    /// The number of relevant fragments, and the reason for it.
    pub cut: CutReport,
    /// True if any fragment stands out for the claim, by the gate of every search. The cut keeps some fragments even if
    /// none does.
    pub stands_out: bool,
    /// The reason, in one sentence.
    pub stands_out_reason: String,
    /// The number of fragments for which an edge was stored.
    pub linked: usize,
    /// The number of fragments that words proposed and that have a vector.
    pub proposed: usize,
    /// The number of passages searched.
    pub searched: u64,
    /// How the search was made.
    #[serde(flatten)]
    pub search: SearchMetadata,
}

/// The claim whose fragments were ranked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RankedClaim {
    /// The claim's identifier.
    pub id: String,
    /// The identifier of its task.
    pub task_id: String,
    /// The claim's text.
    pub text: String,
}

/// A fragment relevant to a claim.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RankedFragment {
    /// Its rank, from 1.
    pub rank: usize,
    /// The fragment's identifier.
    pub id: String,
    /// The identifier of its page.
    pub page_id: String,
    /// The headings above it.
    pub heading: Option<String>,
    /// Cosine similarity of the claim and the fragment's most similar passage, in [-1, 1]. The fragments are ordered by
    /// it.
    pub similarity: f64,
    /// Its rank among the fragments that words proposed, from 1. It does not affect the order.
    pub proposed_rank: usize,
    /// The BM25 score behind that rank.
    pub bm25: f64,
    /// The existing relation to the claim: `supports`, `refutes` or `neutral`, or else `origin`; null if there was
    /// none.
    pub relation: Option<Relation>,
    /// True if the claim was taken from it.
    pub is_origin: bool,
    /// True if this call stored an edge for it.
    pub linked: bool,
    /// The text of its most similar passage.
    pub text: String,
}

impl EvidenceGraph<'_> {
    /// Ranks the fragments relevant to a claim. The claim's words propose 150 of them, their
    /// similarity to it orders them, and `evidence.cut` ends the list. With [`RankRequest::link`] a `neutral` edge
    /// without confidence is stored for each returned fragment that has no edge to the claim yet, all or none.
    ///
    /// # Errors
    /// A missing claim or namespace, a value out of range, no vectors to compare, or edges that cannot be stored.
    pub fn rank(&self, request: &RankRequest) -> Result<RankedEvidence, Error> {
        let clock = Stopwatch::start();
        let namespace = self.namespace(request.namespace.as_deref(), request.asker.allowed_namespaces.as_deref())?;
        if request.limit == Some(0) {
            return Err(Error::argument("limit", "0", "1 or more"));
        }
        let claim = self.claim(&namespace, &request.claim)?;
        let chosen = chosen_cut(&self.index.config, request.cut.as_deref())?;
        let rule: &dyn Rule = chosen.as_deref().unwrap_or(&*self.index.config.evidence.cut);
        let search = SearchRequest::new(&claim.text)
            .mode(Mode::Hybrid)
            .namespaces([namespace.as_str()])
            .asker(request.asker.clone());
        let limit = request.limit.unwrap_or(usize::MAX);
        let query = EvidenceQuery {
            request: &search,
            filter: filter(EvidenceTarget::Fragments, &request.tasks),
            candidates: CANDIDATES,
            end: End::RuleAlone(rule),
            limit,
            entry_point: request.asker.entry_point.as_deref().unwrap_or("rank"),
        };
        let found = similar_evidence(&Context::unobserved(self.index), &query, clock)?;
        let proposed = found.records.len();
        let kept: Vec<FoundRecord> = found.records.into_iter().take(found.cut.keep.min(limit)).collect();
        let mut fragments = self.ranked_fragments(&namespace, &claim.id, kept)?;
        let linked = match request.link {
            true => self.link(&namespace, &claim.id, &mut fragments, &found.search.model, request.now)?,
            false => 0,
        };
        Ok(RankedEvidence {
            claim: RankedClaim { id: claim.id, task_id: claim.task_id, text: claim.text },
            namespace,
            fragments,
            cut: found.cut,
            stands_out: !found.verdict.empty,
            stands_out_reason: found.verdict.reason,
            linked,
            proposed,
            searched: found.searched,
            search: found.search,
        })
    }

    fn claim(&self, namespace: &str, id: &str) -> Result<Claim, Error> {
        let key = EvidenceKey::Claim(id.to_owned());
        if let Some(Some(EvidenceRecord::Claim(claim))) = self.index.store.evidence_at(namespace, &[key])?.pop() {
            return Ok(claim);
        }
        let claims = self.index.store.evidence(namespace)?.into_iter().filter_map(|record| match record {
            EvidenceRecord::Claim(claim) => Some(claim.id),
            _ => None,
        });
        let claims: Vec<String> = claims.collect();
        let near = nearest(id, claims.iter().map(String::as_str)).map(str::to_owned);
        Err(Error::NotFound { wanted: format!("claim {id}"), nearest: near })
    }

    /// Reads the fragments found from the graph.
    fn ranked_fragments(
        &self,
        namespace: &str,
        claim: &str,
        found: Vec<FoundRecord>,
    ) -> Result<Vec<RankedFragment>, Error> {
        let mut stands: HashMap<String, Relation> = HashMap::new();
        let mut origins: HashMap<String, Relation> = HashMap::new();
        for edge in self.index.store.edges_to(namespace, NodeType::Claim, claim)? {
            let known = if edge.relation.is_stance() { &mut stands } else { &mut origins };
            known.insert(edge.source_id, edge.relation);
        }
        let ids: Vec<&str> = found.iter().map(|found| record_id(&found.passage.path)).collect();
        let keys: Vec<EvidenceKey> = ids.iter().map(|id| EvidenceKey::Fragment((*id).to_owned())).collect();
        let records = self.index.store.evidence_at(namespace, &keys)?;
        let fragments = found.iter().zip(ids).zip(records).filter_map(|((found, id), record)| {
            // A fragment deleted since is left out.
            let EvidenceRecord::Fragment(fragment) = record? else { return None };
            let (proposed_rank, bm25) = found.proposed.unwrap_or_default();
            Some(RankedFragment {
                rank: 0,
                page_id: fragment.page_id,
                heading: fragment.heading,
                similarity: found.similarity,
                proposed_rank,
                bm25,
                relation: stands.get(id).or(origins.get(id)).copied(),
                is_origin: origins.contains_key(id),
                linked: false,
                text: found.passage.text.clone(),
                id: id.to_owned(),
            })
        });
        let mut fragments: Vec<RankedFragment> = fragments.collect();
        fragments.iter_mut().zip(1..).for_each(|(fragment, rank)| fragment.rank = rank);
        Ok(fragments)
    }

    /// Stores a neutral edge for each fragment without an edge to the claim, in one transaction.
    fn link(
        &self,
        namespace: &str,
        claim: &str,
        fragments: &mut [RankedFragment],
        model: &str,
        now: Option<Timestamp>,
    ) -> Result<usize, Error> {
        let now = now.unwrap_or_else(crate::dates::present).to_string();
        let _writing = self.index.wait_to_write(&())?;
        // Somebody may have judged one of them since.
        let known = self.index.store.edges_to(namespace, NodeType::Claim, claim)?;
        let new = fragments.iter_mut().filter(|fragment| !known.iter().any(|edge| edge.source_id == fragment.id));
        let edges = new.map(|fragment| {
            fragment.linked = true;
            fragment.relation = Some(Relation::Neutral);
            EvidenceRecord::Edge(Edge {
                source_type: NodeType::Fragment,
                source_id: fragment.id.clone(),
                target_type: NodeType::Claim,
                target_id: claim.to_owned(),
                relation: Relation::Neutral,
                nli_edge_confidence: None,
                note: Some(format!("proposed by ranking, not judged: similarity {:.4} ({model})", fragment.similarity)),
                created_at: Some(now.clone()),
            })
        });
        let edges: Vec<EvidenceRecord> = edges.collect();
        if !edges.is_empty() {
            self.index.store.apply_evidence(namespace, ORIGIN, &edges, &[])?;
        }
        Ok(edges.len())
    }
}

// Finds claims or fragments similar to a text, by meaning alone.

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
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT", default_value = "claims", value_parser = flag_values::word::<EvidenceTarget>(&EvidenceTarget::NAMES), hide_possible_values = true))]
    pub target: EvidenceTarget,
    /// Only claims of this task, or fragments with an edge to one of them (default: all tasks).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub task: Option<String>,
    /// Show at most this many matches, 1 to 50; never changes what is relevant (default: 10).
    #[schemars(range(min = 1, max = 50))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = flag_values::whole::<1, 50>, allow_negative_numbers = true))]
    pub top_k: Option<usize>,
    /// Least cosine similarity, 0 to 1; not together with a cut (default: 0.5).
    #[schemars(range(min = 0.0, max = 1.0))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIMILARITY", value_parser = flag_values::share, conflicts_with = "cut", allow_negative_numbers = true))]
    pub min_similarity: Option<f64>,
    /// Cut that decides in place of a least similarity, such as auto or kneedle, after the gate (default: none).
    #[schemars(length(min = 1, max = 1000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD[:PARAM=VALUE,…]"))]
    pub cut: Option<String>,
    /// Repository (default: this one).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
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
    /// How the search was made.
    #[serde(flatten)]
    pub search: SearchMetadata,
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
        let namespace = self.namespace(request.namespace.as_deref(), request.asker.allowed_namespaces.as_deref())?;
        let search = SearchRequest::new(&request.query)
            .mode(Mode::Semantic)
            .namespaces([namespace.as_str()])
            .asker(request.asker.clone());
        let query = EvidenceQuery {
            request: &search,
            filter: filter(request.target, request.task.as_slice()),
            // The caller's limit plays no part here: it shortens the list but does not change what is similar.
            candidates: self.index.config.search.pool,
            end,
            limit: top_k,
            entry_point: request.asker.entry_point.as_deref().unwrap_or("vector_search"),
        };
        let found = similar_evidence(&Context::unobserved(self.index), &query, clock)?;
        let kept = found.records.into_iter().take(found.cut.keep.min(top_k));
        Ok(VectorMatches {
            target: request.target,
            namespace,
            matches: kept.map(matched).collect(),
            total_searched: found.searched,
            cut: found.cut,
            search: found.search,
        })
    }
}

fn matched(FoundRecord { passage, similarity, .. }: FoundRecord) -> VectorMatch {
    VectorMatch { id: record_id(&passage.path).to_owned(), similarity, text_preview: preview(&passage.text, PREVIEW) }
}

/// The identifier of a claim or a fragment in the path of its document.
pub(crate) fn record_id(path: &str) -> &str {
    path.split_once(':').map_or(path, |(_, id)| id)
}

/// A filter for the records of a kind that belong to one of the tasks, if any are named.
pub(crate) fn filter(target: EvidenceTarget, tasks: &[String]) -> Filter {
    let tasks = (!tasks.is_empty()).then(|| AttributeCondition::new("task", tasks));
    Filter {
        collections: vec![EVIDENCE_COLLECTION.to_owned()],
        kinds: vec![target.kind().to_owned()],
        attributes: tasks.into_iter().collect(),
        ..Filter::default()
    }
}
