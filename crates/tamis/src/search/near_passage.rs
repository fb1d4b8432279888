//! Search by a passage: its vector replaces the query's, and the rest is a semantic search.

use super::answer::CutReport;
use super::candidate::Candidate;
use super::decay::SearchDecay;
use super::decide::{self, Grounds, Steps};
use super::gather::Gathered;
use super::metadata::MetadataFilter;
use super::query::SearchRequest;
use super::retrieve::fetch;
use super::scope::Scope;
use super::searcher::Searcher;
use crate::Error;
use std::collections::HashSet;
use tamis_rank::QueryNames;
use tamis_store::{Filter, PassageId, StoredPassage};

/// The passages similar to a passage.
#[derive(Debug, Default)]
pub(crate) struct SimilarPassages {
    /// The model whose vectors were compared.
    pub model: Option<String>,
    /// The passages, best first, each with its similarity. The cut has not shortened the list.
    pub passages: Vec<(StoredPassage, f64)>,
    /// The number of passages that are close enough, and the reason; `None` if nothing was compared.
    pub cut: Option<CutReport>,
    /// The reason why nothing was compared, or not with the best model.
    pub remark: Option<String>,
}

impl Searcher<'_> {
    /// Returns the namespaces that a caller in `namespace` reads.
    pub(crate) fn scope_around(&self, namespace: &str, allowed: Option<&[String]>) -> Result<Scope, Error> {
        self.scope(&SearchRequest {
            namespace: Some(namespace.to_owned()),
            allowed_namespaces: allowed.map(<[String]>::to_vec),
            ..SearchRequest::default()
        })
    }

    /// Returns the passages nearest to the given ones that match `metadata`, without those of `own`, ended by the configured cut.
    /// No gate is applied: it is made for queries, and passages are more alike than a query and a passage.
    pub(crate) fn similar(
        &self,
        passage: PassageId,
        own: &HashSet<PassageId>,
        scope: &Scope,
        metadata: &MetadataFilter,
    ) -> Result<SimilarPassages, Error> {
        let filter = scope.of_all(&metadata.narrow(Filter::default()));
        let (model, remark) = self.choose_model(&filter)?;
        let Some(info) = model else { return Ok(SimilarPassages { remark, ..SimilarPassages::default() }) };
        let Some(vector) = self.index.store.vectors(&info.id, &[passage])?.pop().flatten() else {
            let remark = Some(format!("it has no vector of {} yet; run `tamis index --wait`", info.id));
            return Ok(SimilarPassages { remark, ..SimilarPassages::default() });
        };
        let depth = self.index.config.search.pool;
        let found = self.index.store.nearest(&info.id, &vector, &filter, depth + own.len())?;
        let others = found.hits.iter().filter(|hit| !own.contains(&hit.passage)).take(depth);
        let candidate = |hit: &tamis_store::SemanticHit| Candidate {
            similarity: Some(f64::from(hit.similarity)),
            ..Candidate::new(hit.passage)
        };
        let mut gathered = Gathered {
            candidates: others.map(candidate).collect(),
            semantic: Some(found.background),
            ..Gathered::default()
        };
        let passages = fetch(&*self.index.store, &mut gathered, &scope.own)?.passages;

        let request = SearchRequest::default();
        let asked = request.asked(&self.index.config)?;
        let rule = asked.rule();
        let now_ns = crate::dates::present_ns();
        let thresholds = rule.reads_thresholds().then(|| self.thresholds(Some(&info))).transpose()?;
        let names = QueryNames::default();
        let rerank = self.rerank(None, now_ns, false, rule)?;
        let steps = Steps {
            fusions: self.fusions(rule, Some(&info), false)?,
            names: &names,
            lean: None,
            rerank: &rerank,
            decay: SearchDecay::NONE,
            tables: &self.source_tables(rule)?,
            measured: None,
        };
        let threshold =
            |passage: &StoredPassage| thresholds.as_ref().map(|thresholds| thresholds.of(rerank.language_of(passage)));
        let mut listed = decide::list(&gathered, passages, rule, &steps, threshold);
        let grounds = Grounds { gate: None, reference: None, relevance: Default::default(), probabilities: None };
        let decision = decide::decide(rule, &grounds, &gathered, &mut listed)?;
        let similarity =
            |ranked: super::candidate::Ranked| (ranked.passage, ranked.candidate.similarity.unwrap_or(0.0));
        Ok(SimilarPassages {
            model: Some(info.id),
            passages: listed.ranked.into_iter().map(similarity).collect(),
            cut: Some(decision.report),
            remark,
        })
    }
}
