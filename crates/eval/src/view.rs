//! One query and one decision, in the form that the metrics read.

use crate::data::{Decision, QueryKind, QueryPool};
use crate::prefix;
use crate::report::QueryReport;

/// One query in the pool's order, shared by all methods.
pub(crate) struct QueryView<'a> {
    pub(crate) pool: &'a QueryPool,
    /// The query's kind; a judged one without a relevant document is unanswerable.
    pub(crate) kind: QueryKind,
    /// Number of relevant documents by the judgements, found or not.
    pub(crate) relevant: usize,
    /// Relevance of each document of the pool.
    pub(crate) relevance: Vec<bool>,
    /// Number of relevant ones among the first k documents.
    pub(crate) found: Vec<usize>,
    /// The shortest best prefix, and its F1.
    pub(crate) best: (usize, f64),
}

/// The outcome of a decision.
pub(crate) struct Outcome {
    pub(crate) documents: usize,
    pub(crate) relevant: usize,
    pub(crate) characters: usize,
    pub(crate) share_of_best_f1: f64,
    pub(crate) penalised_dcg: f64,
}

impl<'a> QueryView<'a> {
    pub(crate) fn new(pool: &'a QueryPool) -> Self {
        let kind = pool.effective_kind();
        let relevant = pool.relevant();
        let relevance: Vec<bool> = (0..pool.documents.len()).map(|position| pool.is_relevant(position)).collect();
        let found = prefix::cumulative(relevance.iter().copied());
        let best = prefix::best_prefix(&found, relevant);
        QueryView { pool, kind, relevant, relevance, found, best }
    }

    pub(crate) fn is_answerable(&self) -> bool {
        self.kind == QueryKind::Judged
    }

    /// Relevant documents in the pool.
    pub(crate) fn relevant_in_pool(&self) -> usize {
        self.found.last().copied().unwrap_or(0)
    }

    /// Relevant documents and characters among the first `keep` of the pool, and their share of the best F1.
    pub(crate) fn outcome(&self, decision: &Decision) -> Outcome {
        let positions: Vec<usize> = match &decision.ranking {
            Some(ranking) => ranking.clone(),
            None => (0..self.relevance.len()).collect(),
        };
        let keep = decision.keep.min(positions.len());
        let kept = &positions[..keep];
        let share_of_best_f1 = match decision.ranking {
            Some(_) => {
                let found = prefix::cumulative(positions.iter().map(|&position| self.relevance[position]));
                prefix::share_of_best_f1(&found, keep, self.relevant)
            }
            None => self.share(keep),
        };
        Outcome {
            documents: keep,
            relevant: kept.iter().filter(|&&position| self.relevance[position]).count(),
            characters: kept.iter().map(|&position| self.pool.documents[position].characters).sum(),
            share_of_best_f1,
            penalised_dcg: prefix::penalised_dcg(kept.iter().map(|&position| self.relevance[position])),
        }
    }

    /// Share of the best F1 of the first `keep` documents of the pool's order, all of them where there are fewer.
    pub(crate) fn share(&self, keep: usize) -> f64 {
        let keep = keep.min(self.relevance.len());
        match self.best.1 {
            0.0 => f64::from(keep == 0),
            best => prefix::f_beta(self.found[keep], keep, self.relevant, 1.0) / best,
        }
    }

    pub(crate) fn report(&self) -> QueryReport {
        QueryReport {
            id: self.pool.id.clone(),
            kind: self.kind,
            pool: self.relevance.len(),
            relevant: self.relevant,
            relevant_in_pool: self.relevant_in_pool(),
            best_f1: self.best.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PooledDocument;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn pool(relevance: &[bool], missing: usize) -> QueryPool {
        let document = |at: usize| PooledDocument { id: at.to_string(), score: -(at as f64), characters: 10 * at };
        let judged = relevance.iter().enumerate().map(|(at, &relevant)| (at.to_string(), i32::from(relevant)));
        let missing = (0..missing).map(|at| (format!("missing {at}"), 1));
        QueryPool {
            id: "q".into(),
            kind: QueryKind::Judged,
            documents: (0..relevance.len()).map(document).collect(),
            judged: judged.chain(missing).collect(),
            beyond: Vec::new(),
        }
    }

    #[test]
    fn an_own_ranking_is_compared_with_its_own_best() {
        let pool = pool(&[false, false, true], 0);
        let view = QueryView::new(&pool);
        let own = view.outcome(&Decision { ranking: Some(vec![2, 0]), ..Decision::keep(1) });
        assert_eq!((own.relevant, own.characters, own.share_of_best_f1, own.penalised_dcg), (1, 20, 1.0, 1.0));
        let shared = view.outcome(&Decision::keep(1));
        assert_eq!((shared.relevant, shared.share_of_best_f1, shared.penalised_dcg), (0, 0.0, -1.0));
    }

    #[test]
    fn a_foreign_query_has_no_relevant_document_whatever_is_judged() {
        let foreign = QueryPool { kind: QueryKind::Foreign, ..pool(&[true, false], 0) };
        let view = QueryView::new(&foreign);
        assert_eq!((view.relevant, view.relevant_in_pool(), view.best), (0, 0, (0, 1.0)));
        assert_eq!(view.outcome(&Decision::keep(0)).share_of_best_f1, 1.0);
        assert_eq!(view.outcome(&Decision::keep(1)).share_of_best_f1, 0.0);
    }

    #[test]
    fn a_judged_query_without_a_relevant_document_is_unanswerable() {
        let judged = QueryPool { judged: BTreeMap::from([("0".into(), 0), ("1".into(), -1)]), ..pool(&[true], 0) };
        assert_eq!(QueryView::new(&judged).kind, QueryKind::Unanswerable);
    }

    proptest! {
        #[test]
        fn the_pools_order_given_as_own_changes_nothing(
            relevance in prop::collection::vec(any::<bool>(), 0..20),
            missing in 0usize..3,
            keep in 0usize..20,
        ) {
            let pool = pool(&relevance, missing);
            let view = QueryView::new(&pool);
            let keep = keep.min(relevance.len());
            let shared = view.outcome(&Decision::keep(keep));
            let own = view.outcome(&Decision { ranking: Some((0..relevance.len()).collect()), ..Decision::keep(keep) });
            prop_assert_eq!(shared.relevant, own.relevant);
            prop_assert_eq!(shared.share_of_best_f1, own.share_of_best_f1);
            prop_assert_eq!(shared.share_of_best_f1, prefix::share_of_best_f1(&view.found, keep, view.relevant));
        }
    }
}
