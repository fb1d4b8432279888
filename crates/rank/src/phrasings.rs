//! Rankings of several phrasings of one query, merged into one.

use crate::fusion::{BackgroundEvidence, Evidence, Fusion, order};

/// The constant that softens the head of each ranking, as in [`Fusion::Rrf`](crate::Fusion).
const K: f64 = 60.0;

/// One phrasing with its results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phrasing {
    /// Its weight, 0 or more.
    pub weight: f64,
    /// The largest share of its IDF mass that a candidate matches, 0 to 1; `None` without a lexical search.
    pub coverage: Option<f64>,
    /// Position in the merged list and raw scores of each of its candidates, each position once.
    pub found: Vec<(usize, Evidence)>,
    /// The raw scores of a passage that has nothing to do with it.
    pub background: BackgroundEvidence,
}

/// One phrasing's candidates with one score each, comparable to those of the other phrasings it was fused with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoredPhrasing {
    /// Its weight.
    pub weight: f64,
    /// Position in the merged list and score, higher is better.
    pub scores: Vec<(usize, f64)>,
    /// The score of a passage that has nothing to do with the phrasing.
    pub background: Option<f64>,
}

/// The scores of all phrasings on one scale.
///
/// A convex fusion normalizes by the best candidate it sees, so each phrasing alone would have a candidate that looks perfect,
/// even one without a match. Therefore all are normalized together. BM25, which grows with the number of words of a phrasing,
/// is first scaled to the share of the phrasing's words that its best candidate contains.
pub fn fuse_phrasings(phrasings: &[Phrasing], fusion: Fusion) -> Vec<ScoredPhrasing> {
    let to_coverage = |phrasing: &Phrasing| -> f64 {
        let bm25 = phrasing.found.iter().filter_map(|(_, evidence)| evidence.bm25).filter(|bm25| bm25.is_finite());
        match (fusion, bm25.reduce(f64::max), phrasing.coverage) {
            (Fusion::Convex { .. }, Some(best), Some(coverage)) if best > 0.0 => coverage / best,
            _ => 1.0,
        }
    };
    let scales: Vec<f64> = phrasings.iter().map(to_coverage).collect();
    let scaled = |bm25: Option<f64>, scale: f64| bm25.map(|bm25| bm25 * scale);
    let all: Vec<Evidence> = phrasings
        .iter()
        .zip(&scales)
        .flat_map(|(phrasing, &scale)| {
            let moved =
                move |&(_, evidence): &(usize, Evidence)| Evidence { bm25: scaled(evidence.bm25, scale), ..evidence };
            phrasing.found.iter().map(moved)
        })
        .collect();
    let mut scores = fusion.fuse(&all).into_iter();
    let score = |(phrasing, scale): (&Phrasing, &f64)| {
        let BackgroundEvidence { similarity, bm25 } = phrasing.background;
        ScoredPhrasing {
            weight: phrasing.weight,
            scores: phrasing.found.iter().map(|&(position, _)| position).zip(scores.by_ref()).collect(),
            background: fusion.background(&all, BackgroundEvidence { similarity, bm25: scaled(bm25, *scale) }),
        }
    };
    phrasings.iter().zip(&scales).map(score).collect()
}

/// Weighted reciprocal ranks, Σ weight / (60 + rank), of `count` candidates, to order the results of several phrasings
/// (Cormack, Clarke and Büttcher, SIGIR 2009, with a weight for each ranking). They carry no evidence of relevance.
///
/// Every ranking has a first place, even of a phrasing without a match. So each weight is multiplied by the distance of the
/// phrasing's best score from its background (from 0 where that is unknown), as a share of the largest such distance.
///
/// Candidates at least half-way from a phrasing's background to its best score have a rank. Others, scores that are not finite
/// and positions outside the list have none. O(n log n).
pub fn merged_ranks(phrasings: &[ScoredPhrasing], count: usize) -> Vec<f64> {
    let mut merged = vec![0.0; count];
    let best = |phrasing: &ScoredPhrasing| {
        let scores = phrasing.scores.iter().map(|&(_, score)| score);
        scores.filter(|score| score.is_finite()).fold(f64::NEG_INFINITY, f64::max)
    };
    let stands_out = |phrasing: &ScoredPhrasing| (best(phrasing) - phrasing.background.unwrap_or(0.0)).max(0.0);
    let farthest = phrasings.iter().map(stands_out).fold(0.0, f64::max);
    for phrasing in phrasings {
        let share = if farthest > 0.0 { stands_out(phrasing) / farthest } else { 1.0 };
        let weight = phrasing.weight * share;
        let found = phrasing.background.map_or(f64::NEG_INFINITY, |background| background.midpoint(best(phrasing)));
        let scores: Vec<f64> = phrasing.scores.iter().map(|&(_, score)| score).collect();
        let ranks = order(&scores).into_iter().enumerate();
        for (rank, at) in ranks.filter(|&(_, at)| scores[at].is_finite() && scores[at] >= found) {
            if let Some(value) = merged.get_mut(phrasing.scores[at].0) {
                *value += weight / (K + rank as f64 + 1.0);
            }
        }
    }
    merged
}

/// The best of each candidate's scores, each times its phrasing's weight. A cut reads these for several phrasings, since ranks
/// carry no evidence of relevance. A candidate without a score gets −∞. O(n).
pub fn best_scores(phrasings: &[ScoredPhrasing], count: usize) -> Vec<f64> {
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
            ScoredPhrasing { background: None, weight: 1.0, scores: vec![(0, 0.8), (2, 0.4)] },
            ScoredPhrasing { background: None, weight: 0.9, scores: vec![(2, 0.8), (1, 0.7), (0, f64::NAN)] },
        ];
        let merged = merged_ranks(&phrasings, 3);
        assert!((merged[0] - 1.0 / 61.0).abs() < 1e-12);
        assert!((merged[1] - 0.9 / 62.0).abs() < 1e-12);
        assert!((merged[2] - (1.0 / 62.0 + 0.9 / 61.0)).abs() < 1e-12, "found by both, and so the first");
        let best = best_scores(&phrasings, 4);
        assert_eq!(best[0], 0.8);
        assert!((best[2] - 0.72).abs() < 1e-12 && best[3] == f64::NEG_INFINITY);
    }

    #[test]
    fn a_first_place_among_nothing_counts_little() {
        let phrasing =
            |scores: &[(usize, f64)]| ScoredPhrasing { weight: 1.0, scores: scores.to_vec(), background: None };
        let merged = merged_ranks(&[phrasing(&[(0, 1.0), (1, 0.5)]), phrasing(&[(1, 0.01), (0, 0.0)])], 2);
        assert!(merged[0] > merged[1], "{merged:?}");
    }

    #[test]
    fn a_phrasing_that_found_nothing_does_not_look_perfect() {
        let evidence = |similarity, bm25| Evidence { similarity: Some(similarity), bm25: Some(bm25) };
        let phrasing = |coverage, found: Evidence| Phrasing {
            weight: 1.0,
            coverage: Some(coverage),
            found: vec![(0, found), (1, evidence(0.0, 0.0))],
            background: BackgroundEvidence { similarity: Some(0.0), bm25: Some(0.0) },
        };
        let fusion = Fusion::Convex { weight: 0.5 };
        let scored = fuse_phrasings(&[phrasing(1.0, evidence(0.6, 20.0)), phrasing(0.05, evidence(0.2, 2.0))], fusion);
        assert_eq!(scored[0].scores[0], (0, 1.0));
        // Similarity (0.2 + 1) / 1.6, words 0.05 of 1.
        assert!((scored[1].scores[0].1 - (0.5 * 0.75 + 0.5 * 0.05)).abs() < 1e-12);
        assert!((scored[1].background.expect("known") - 0.5 / 1.6).abs() < 1e-12);
        // A sum of absolute values needs no common scale.
        let weighted = fuse_phrasings(&[phrasing(0.05, evidence(0.2, 1.0))], Fusion::Weighted { weight: 0.7 });
        assert!((weighted[0].scores[0].1 - (0.14 + 0.15)).abs() < 1e-12);
        assert_eq!(fuse_phrasings(&[], fusion), []);
    }

    proptest! {
        #[test]
        fn one_phrasing_of_which_every_word_is_there_is_fused_as_a_query_alone(
            pool in prop::collection::vec((-1.0..1.0f64, 0.0..30.0f64), 1..20),
        ) {
            let evidence: Vec<Evidence> =
                pool.iter().map(|&(s, r)| Evidence { similarity: Some(s), bm25: Some(r) }).collect();
            let found = evidence.iter().copied().enumerate().collect();
            let phrasing = Phrasing { weight: 1.0, coverage: Some(1.0), found, ..Phrasing::default() };
            let fusion = Fusion::Convex { weight: 0.4 };
            let scored = fuse_phrasings(&[phrasing], fusion);
            for ((_, score), alone) in scored[0].scores.iter().zip(fusion.fuse(&evidence)) {
                prop_assert!((score - alone).abs() < 1e-9);
            }
        }

        #[test]
        fn one_phrasing_is_its_own_ranking(scores in prop::collection::vec(-1.0..1.0f64, 0..30)) {
            let phrasing = ScoredPhrasing { background: None, weight: 1.0, scores: scores.iter().copied().enumerate().collect() };
            let merged = merged_ranks(std::slice::from_ref(&phrasing), scores.len());
            prop_assert_eq!(order(&merged), order(&scores));
            prop_assert_eq!(best_scores(&[phrasing], scores.len()), scores);
        }

        #[test]
        fn nothing_panics(phrasings in prop::collection::vec((0.0..2.0f64, prop::collection::vec((0usize..9, any::<f64>()), 0..9)), 0..4)) {
            let phrasings: Vec<ScoredPhrasing> =
                phrasings.into_iter().map(|(weight, scores)| ScoredPhrasing { background: None, weight, scores }).collect();
            prop_assert!(merged_ranks(&phrasings, 5).iter().all(|value| value.is_finite()));
            prop_assert_eq!(best_scores(&phrasings, 5).len(), 5);
        }
    }
}
