//! Search by a passage: its vector replaces the query's, and the rest is a semantic search.

use super::answer::CutReport;
use super::candidate::Scores;
use super::decide;
use super::gather::Statistics;
use super::metadata::MetadataFilter;
use super::plan::Plan;
use super::query::SearchRequest;
use super::question::Question;
use super::ranking::Entry;
use super::retrieve::{Retrieved, fetch};
use super::scope::Scope;
use super::searcher::Searcher;
use crate::Error;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use tamis_cut::Relevance;
use tamis_store::{Filter, PassageId, StoredPassage};

/// The passages similar to a passage.
#[derive(Debug, Default)]
pub(crate) struct SimilarPassages {
    /// The model whose vectors were compared.
    pub model: Option<String>,
    /// The passages, best first, each with its similarity. The cut has not shortened the list.
    pub passages: Vec<(Arc<StoredPassage>, f64)>,
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
        let Some(vector) = self.index.store.vectors(&info.id, &[], &[passage])?.pop().flatten() else {
            let remark = Some(format!("it has no vector of {} yet", info.id));
            return Ok(SimilarPassages { remark, ..SimilarPassages::default() });
        };
        let depth = self.index.config.search.pool;
        let found = self.index.store.nearest(&info.id, &vector, &filter, depth + own.len())?;
        let others = found.hits.iter().filter(|hit| !own.contains(&hit.passage)).take(depth);
        let scores: BTreeMap<PassageId, Scores> = others
            .map(|hit| (hit.passage, Scores { similarity: Some(f64::from(hit.similarity)), ..Scores::default() }))
            .collect();
        let (candidates, _) = fetch(&*self.index.store, &scores, &filter.namespaces, &scope.own)?;
        let statistics = Statistics { semantic: Some(found.background), ..Statistics::default() };

        let asked = SearchRequest::default().tuned_rule(&self.index.config)?;
        let rule = asked.rule();
        let thresholds = rule.reads_thresholds().then(|| self.thresholds(Some(&info))).transpose()?;
        let question = Question { now_ns: crate::dates::present_ns(), ..Question::default() };
        let plan = Plan { model: Some(info.clone()), ..Plan::default() };
        let retrieved = Retrieved { question, plan, candidates, statistics, ..Retrieved::default() };
        let mut ranking = self.rank(&retrieved, rule, thresholds.as_ref())?;
        let mut cut = decide::cut(rule, None, Relevance::default(), &retrieved, &mut ranking);
        // Uses of the passage may stand beside these, and they were found too.
        if let Some(rest) = cut.reason.strip_prefix("nothing else was found") {
            cut.reason = format!("no other passage is as similar{rest}");
        }
        let similarity = |entry: Entry| (entry.best.passage, entry.best.scores.similarity.unwrap_or(0.0));
        Ok(SimilarPassages {
            model: Some(info.id),
            passages: ranking.entries.into_iter().map(similarity).collect(),
            cut: Some(cut),
            remark,
        })
    }
}
