//! Ranking metrics of a list before any cut, equal to trec_eval's to the last digits, and ROC curves of evidence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::QueryKind;

/// A ranked list with the judgements of its query.
///
/// Documents without a judgement count as irrelevant, and so do those with a negative grade, whose gain is 0. All metrics are
/// in 0..=1, and 0 where nothing is relevant.
///
/// ```
/// use std::collections::BTreeMap;
/// use tamis_eval::Ranking;
///
/// let judged = BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), 1), ("c".to_owned(), 0)]);
/// let ranking = Ranking::new(["c", "a", "x"], &judged);
/// assert_eq!(ranking.reciprocal_rank(), 0.5);
/// assert_eq!(ranking.recall(10), 0.5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Gain of each document in order, at least 0.
    gains: Vec<i32>,
    /// Gains of the relevant documents, found or not, highest first.
    ideal: Vec<i32>,
}

impl Ranking {
    /// The list of `documents`, best first, with the grades by document.
    pub fn new<'a>(documents: impl IntoIterator<Item = &'a str>, judged: &BTreeMap<String, i32>) -> Self {
        let gains = documents.into_iter().map(|document| judged.get(document).copied().unwrap_or(0).max(0)).collect();
        let mut ideal: Vec<i32> = judged.values().copied().filter(|&grade| grade > 0).collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        Ranking { gains, ideal }
    }

    /// nDCG at a depth: DCG of the first `depth` documents over the DCG of the best possible ranking, with the grade as gain and
    /// discount log2(rank + 1) (Järvelin and Kekäläinen, 2002). trec_eval calls it `ndcg_cut`.
    pub fn ndcg(&self, depth: usize) -> f64 {
        share(dcg(&self.gains, depth), dcg(&self.ideal, depth))
    }

    /// Recall at a depth: relevant documents among the first `depth`, as a share of all relevant. trec_eval calls it `recall`.
    pub fn recall(&self, depth: usize) -> f64 {
        let found = self.gains.iter().take(depth).filter(|&&gain| gain > 0).count();
        share(found as f64, self.ideal.len() as f64)
    }

    /// Average precision: the mean over all relevant documents of the precision at their rank, 0 for those not found.
    /// Its mean over queries is MAP; trec_eval calls it `map`.
    pub fn average_precision(&self) -> f64 {
        let relevant = self.gains.iter().enumerate().filter(|(_, gain)| **gain > 0);
        let precisions = relevant.enumerate().map(|(before, (at, _))| (before + 1) as f64 / (at + 1) as f64);
        share(precisions.sum(), self.ideal.len() as f64)
    }

    /// Reciprocal of the first relevant document's rank, 0 without one. Its mean over queries is MRR; trec_eval calls it
    /// `recip_rank`.
    pub fn reciprocal_rank(&self) -> f64 {
        self.gains.iter().position(|&gain| gain > 0).map_or(0.0, |at| 1.0 / (at + 1) as f64)
    }

    /// All metrics by name: `ndcg_at_k` and `recall_at_k` for each of `depths`, `map` and `mrr`.
    pub fn figures(&self, depths: &[usize]) -> BTreeMap<String, f64> {
        let at = |name: &str, depth: &usize| format!("{name}_at_{depth}");
        let ndcg = depths.iter().map(|depth| (at("ndcg", depth), self.ndcg(*depth)));
        let recall = depths.iter().map(|depth| (at("recall", depth), self.recall(*depth)));
        let whole = [("map".to_owned(), self.average_precision()), ("mrr".to_owned(), self.reciprocal_rank())];
        ndcg.chain(recall).chain(whole).collect()
    }
}

fn dcg(gains: &[i32], depth: usize) -> f64 {
    let discounted = |(at, &gain): (usize, &i32)| f64::from(gain) / (at as f64 + 2.0).log2();
    gains.iter().take(depth).enumerate().map(discounted).sum()
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

// ROC curves: how well a method's evidence separates queries with an answer from those without.

/// A ROC curve: answerable queries against another kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Roc {
    /// The other kind: unanswerable or foreign.
    pub against: QueryKind,
    /// Area under the curve: the probability that a random answerable query has more evidence than a random one of the other
    /// kind, ties counting half; 0.5 is chance.
    pub auroc: f64,
    /// Points (share of the other kind let through, share of the answerable let through), from (0, 0) to (1, 1); at most
    /// [`POINTS`] and both ends.
    pub points: Vec<(f64, f64)>,
}

/// Most points kept of a ROC curve.
pub const POINTS: usize = 200;

/// The ROC curve of two samples of evidence, by the trapezoidal rule, which is the Mann–Whitney statistic (Fawcett, *An
/// introduction to ROC analysis*, 2006). `None` where either is empty. O(n log n).
pub fn roc(answerable: &[f64], other: &[f64], against: QueryKind) -> Option<Roc> {
    if answerable.is_empty() || other.is_empty() {
        return None;
    }
    let mut all: Vec<(f64, bool)> =
        answerable.iter().map(|&value| (value, true)).chain(other.iter().map(|&value| (value, false))).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut through, mut wrongly) = (0usize, 0usize);
    let mut points = vec![(0.0, 0.0)];
    let mut area = 0.0;
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let right = group.iter().filter(|member| member.1).count();
        let wrong = group.len() - right;
        area += wrong as f64 * (through as f64 + right as f64 / 2.0);
        through += right;
        wrongly += wrong;
        points.push((wrongly as f64 / other.len() as f64, through as f64 / answerable.len() as f64));
    }
    let step = points.len().div_ceil(POINTS);
    let last = points.len() - 1;
    let kept = points.iter().enumerate().filter(|(at, _)| at % step == 0 || *at == last);
    Some(Roc {
        against,
        auroc: area / (answerable.len() as f64 * other.len() as f64),
        points: kept.map(|(_, &point)| point).collect(),
    })
}

/// The area under the curve of [`roc`] alone: the probability that a random value of `above` exceeds a random one of `below`,
/// ties counting half. `None` where either is empty.
#[must_use]
pub fn auroc(above: &[f64], below: &[f64]) -> Option<f64> {
    roc(above, below, QueryKind::Foreign).map(|curve| curve.auroc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn judged(grades: &[(&str, i32)]) -> BTreeMap<String, i32> {
        grades.iter().map(|&(document, grade)| (document.to_owned(), grade)).collect()
    }

    #[test]
    fn nothing_relevant_or_nothing_found_is_zero() {
        for (documents, grades) in [(vec!["a"], vec![("a", 0)]), (vec![], vec![("a", 1)]), (vec!["b"], vec![("a", 1)])]
        {
            let figures = Ranking::new(documents, &judged(&grades)).figures(&[1, 10]);
            assert!(figures.values().all(|&value| value == 0.0), "{figures:?}");
        }
    }

    #[test]
    fn a_curve_by_hand_and_none_of_one_side_alone() {
        let curve = roc(&[0.9, 0.5], &[0.5, 0.1], QueryKind::Foreign).unwrap();
        // Of four pairs three are in order and one is tied.
        assert_eq!(curve.auroc, 3.5 / 4.0);
        assert_eq!(curve.points, [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
        assert_eq!([roc(&[1.0], &[], QueryKind::Foreign), roc(&[], &[1.0], QueryKind::Unanswerable)], [None, None]);
    }

    proptest! {
        #[test]
        fn figures_are_shares_and_the_ideal_order_is_one(grades in prop::collection::vec(-2i32..4, 0..30), depth in 1usize..40) {
            let ids: Vec<String> = (0..grades.len()).map(|id| id.to_string()).collect();
            let judged: BTreeMap<String, i32> = ids.iter().cloned().zip(grades.iter().copied()).collect();
            let ranking = Ranking::new(ids.iter().map(String::as_str), &judged);
            for (name, value) in ranking.figures(&[depth]) {
                prop_assert!((0.0..=1.0).contains(&value), "{name} {value}");
            }
            let mut best = ids.clone();
            best.sort_by_key(|id| -judged[id]);
            let ranking = Ranking::new(best.iter().map(String::as_str), &judged);
            if grades.iter().any(|&grade| grade > 0) {
                prop_assert!((ranking.ndcg(depth) - 1.0).abs() < 1e-12);
                prop_assert_eq!(ranking.reciprocal_rank(), 1.0);
            }
        }

        #[test]
        fn area_counts_pairs(
            answerable in prop::collection::vec((0i8..10).prop_map(f64::from), 1..30),
            other in prop::collection::vec((0i8..10).prop_map(f64::from), 1..30),
        ) {
            let curve = roc(&answerable, &other, QueryKind::Unanswerable).unwrap();
            let mut won = 0.0;
            for a in &answerable {
                for b in &other {
                    won += if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
                }
            }
            let expected = won / (answerable.len() * other.len()) as f64;
            prop_assert!((curve.auroc - expected).abs() < 1e-9);
            prop_assert_eq!([curve.points[0], *curve.points.last().unwrap()], [(0.0, 0.0), (1.0, 1.0)]);
        }
    }
}
