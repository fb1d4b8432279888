//! One need in several phrasings: their rankings merged into one.

use crate::order;

/// The constant that softens the head of each ranking, as in [`Fusion::Rrf`](crate::Fusion).
const K: f64 = 60.0;

/// One phrasing's candidates: positions in the merged list and the phrasing's own scores, higher is better.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phrasing {
    /// How much its ranks count, 0 or more.
    pub weight: f64,
    /// Position in the merged list and score of each candidate that it found, in any order, each position once.
    pub scores: Vec<(usize, f64)>,
}

/// Weighted reciprocal ranks, Σ weight / (60 + rank), of `count` candidates: what orders them when several phrasings were
/// asked. Cormack, Clarke and Büttcher, SIGIR 2009, with a weight for each ranking. Not evidence of relevance.
///
/// A score that is not finite has no rank, and neither has a position outside of the list. O(n log n).
pub fn merged_ranks(phrasings: &[Phrasing], count: usize) -> Vec<f64> {
    let mut merged = vec![0.0; count];
    for phrasing in phrasings {
        let scores: Vec<f64> = phrasing.scores.iter().map(|&(_, score)| score).collect();
        for (rank, at) in order(&scores).into_iter().enumerate().filter(|&(_, at)| scores[at].is_finite()) {
            if let Some(value) = merged.get_mut(phrasing.scores[at].0) {
                *value += phrasing.weight / (K + rank as f64 + 1.0);
            }
        }
    }
    merged
}

/// The best of each candidate's scores, each times its phrasing's weight: what a cut reads when several phrasings were
/// asked, since ranks say nothing of relevance. A candidate that no phrasing scored has none: −∞. O(n).
pub fn best_scores(phrasings: &[Phrasing], count: usize) -> Vec<f64> {
    let mut best = vec![f64::NEG_INFINITY; count];
    for phrasing in phrasings {
        for &(position, score) in phrasing.scores.iter().filter(|(_, score)| score.is_finite()) {
            if let Some(value) = best.get_mut(position) {
                *value = value.max(phrasing.weight * score);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_by_hand() {
        let phrasings = [
            Phrasing { weight: 1.0, scores: vec![(0, 0.9), (2, 0.4)] },
            Phrasing { weight: 0.9, scores: vec![(2, 0.8), (1, 0.7), (0, f64::NAN)] },
        ];
        let merged = merged_ranks(&phrasings, 3);
        assert!((merged[0] - 1.0 / 61.0).abs() < 1e-12);
        assert!((merged[1] - 0.9 / 62.0).abs() < 1e-12);
        assert!((merged[2] - (1.0 / 62.0 + 0.9 / 61.0)).abs() < 1e-12, "found by both, and so the first");
        let best = best_scores(&phrasings, 4);
        assert_eq!(best[0], 0.9);
        assert!((best[2] - 0.72).abs() < 1e-12 && best[3] == f64::NEG_INFINITY);
    }

    proptest! {
        #[test]
        fn one_phrasing_is_its_own_ranking(scores in prop::collection::vec(-1.0..1.0f64, 0..30)) {
            let phrasing = Phrasing { weight: 1.0, scores: scores.iter().copied().enumerate().collect() };
            let merged = merged_ranks(std::slice::from_ref(&phrasing), scores.len());
            prop_assert_eq!(order(&merged), order(&scores));
            prop_assert_eq!(best_scores(&[phrasing], scores.len()), scores);
        }

        #[test]
        fn nothing_panics(phrasings in prop::collection::vec((0.0..2.0f64, prop::collection::vec((0usize..9, any::<f64>()), 0..9)), 0..4)) {
            let phrasings: Vec<Phrasing> =
                phrasings.into_iter().map(|(weight, scores)| Phrasing { weight, scores }).collect();
            prop_assert!(merged_ranks(&phrasings, 5).iter().all(|value| value.is_finite()));
            prop_assert_eq!(best_scores(&phrasings, 5).len(), 5);
        }
    }
}
