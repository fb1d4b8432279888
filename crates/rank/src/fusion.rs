//! Fusion of the lexical and the semantic score into one value to order by.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

/// The raw scores of one candidate. A retriever that did not run has no score; a retriever that ran and found no match gives the lowest
/// one (BM25 0).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Cosine similarity to the query, in [-1, 1]. `None`: the semantic retriever did not run.
    pub similarity: Option<f64>,
    /// BM25 of the query in this passage, 0 or more. `None`: the lexical retriever did not run.
    pub bm25: Option<f64>,
}

/// The mean raw scores of passages that have nothing to do with the query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BackgroundEvidence {
    /// Mean similarity of the query to the scanned corpus.
    pub similarity: Option<f64>,
    /// Expected BM25 of a random passage.
    pub bm25: Option<f64>,
}

/// A way to combine the two raw scores.
///
/// The result orders candidates. Only [`Fusion::Convex`] and [`Fusion::Weighted`] keep evidence of relevance in their values.
/// [`Fusion::Rrf`] keeps ranks alone, which do not show how good the best candidate is, so no cut reads it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "fusion", rename_all = "snake_case")]
pub enum Fusion {
    /// `weight` · normalized similarity + (1 − `weight`) · normalized BM25, each normalized from its theoretical
    /// minimum (−1 and 0) to the maximum observed among the candidates. Bruch, Gai and Ingber, "An Analysis of Fusion
    /// Functions for Hybrid Retrieval", ACM TOIS 2023 (TM2C2).
    Convex {
        /// Share of the semantic retriever, in [0, 1].
        weight: f64,
    },
    /// Reciprocal rank fusion, Σ 1 / (k + rank): Cormack, Clarke and Büttcher, SIGIR 2009.
    Rrf {
        /// The constant that softens the head, 60 in the paper; 0 or more.
        k: f64,
    },
    /// `weight` · similarity + (1 − `weight`) · r / (1 + r) with r the raw BM25: the fusion of memory search.
    Weighted {
        /// Share of the semantic retriever, in [0, 1]; 0.7 in the systems that use it.
        weight: f64,
    },
}

/// A fusion with an unknown name or a wrong weight.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FusionError {
    /// The name is not one of the three.
    #[error("fusion = {0:?}: must be one of convex, rrf, weighted")]
    Unknown(String),
    /// The weight is not in [0, 1].
    #[error("fusion weight = {0}: must be 0 to 1")]
    Weight(f64),
}

impl Fusion {
    /// The fusion called `name` (`convex`, `rrf` or `weighted`) with `weight` as the share of the semantic retriever.
    /// `rrf` has no weight and uses k = 60.
    ///
    /// # Errors
    /// An unknown name, or a weight outside [0, 1].
    pub fn from_name(name: &str, weight: f64) -> Result<Self, FusionError> {
        if !(0.0..=1.0).contains(&weight) {
            return Err(FusionError::Weight(weight));
        }
        match name {
            "convex" => Ok(Fusion::Convex { weight }),
            "rrf" => Ok(Fusion::Rrf { k: 60.0 }),
            "weighted" => Ok(Fusion::Weighted { weight }),
            other => Err(FusionError::Unknown(other.to_owned())),
        }
    }

    /// One score per candidate, in the order given. A retriever without any score leaves the whole weight to the other, so BM25 alone
    /// orders a lexical search. Non-finite raw scores give a non-finite result, which a cut then drops and counts. O(n log n)
    /// for `Rrf`, O(n) otherwise.
    pub fn fuse(&self, candidates: &[Evidence]) -> Vec<f64> {
        match *self {
            Fusion::Convex { weight } => {
                let scale = ConvexScale::new(weight, candidates);
                candidates.iter().map(|candidate| scale.apply(candidate.similarity, candidate.bm25)).collect()
            }
            Fusion::Weighted { weight } => {
                let weight = effective_weight(weight, candidates);
                candidates.iter().map(|candidate| weighted(weight, candidate.similarity, candidate.bm25)).collect()
            }
            Fusion::Rrf { k } => {
                let similarity = reciprocal_ranks(k, candidates.iter().map(|candidate| candidate.similarity));
                let bm25 = reciprocal_ranks(k, candidates.iter().map(|candidate| candidate.bm25.filter(|&r| r > 0.0)));
                similarity.iter().zip(&bm25).map(|(a, b)| a + b).collect()
            }
        }
    }

    /// The score that [`Fusion::fuse`] would give, among `candidates`, to a passage that has nothing to do with the query.
    /// `None` for `Rrf`, whose values have no background, and where a retriever that ran has none.
    pub fn background(&self, candidates: &[Evidence], background: BackgroundEvidence) -> Option<f64> {
        let needs = |ran: bool, value: Option<f64>| if ran { value.map(Some) } else { Some(None) };
        let similarity = needs(candidates.iter().any(|c| c.similarity.is_some()), background.similarity)?;
        let bm25 = needs(candidates.iter().any(|c| c.bm25.is_some()), background.bm25)?;
        match *self {
            Fusion::Convex { weight } => Some(ConvexScale::new(weight, candidates).apply(similarity, bm25)),
            Fusion::Weighted { weight } => Some(weighted(effective_weight(weight, candidates), similarity, bm25)),
            Fusion::Rrf { .. } => None,
        }
    }
}

/// The name and the number: `convex 0.5`, `weighted 0.7`, `rrf 60`, as [`Fusion::from_str`] reads it.
impl fmt::Display for Fusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fusion::Convex { weight } => write!(f, "convex {weight}"),
            Fusion::Weighted { weight } => write!(f, "weighted {weight}"),
            Fusion::Rrf { k } => write!(f, "rrf {k}"),
        }
    }
}

impl FromStr for Fusion {
    type Err = FusionError;

    fn from_str(text: &str) -> Result<Self, FusionError> {
        let unknown = || FusionError::Unknown(text.to_owned());
        let (name, number) = text.split_once(' ').ok_or_else(unknown)?;
        let number: f64 = number.trim().parse().map_err(|_| unknown())?;
        match name {
            "rrf" if number >= 0.0 && number.is_finite() => Ok(Fusion::Rrf { k: number }),
            "rrf" => Err(unknown()),
            name => Fusion::from_name(name, number),
        }
    }
}

/// Positions of `scores` from best to worst. Ties keep the order given; non-finite values come last.
pub fn order(scores: &[f64]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..scores.len()).collect();
    let key = |position: usize| if scores[position].is_finite() { scores[position] } else { f64::NEG_INFINITY };
    positions.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    positions
}

struct ConvexScale {
    weight: f64,
    best_similarity: f64,
    best_bm25: f64,
}

impl ConvexScale {
    fn new(weight: f64, candidates: &[Evidence]) -> Self {
        let best = |score: fn(&Evidence) -> Option<f64>| {
            candidates.iter().filter_map(score).filter(|score| score.is_finite()).fold(f64::NEG_INFINITY, f64::max)
        };
        ConvexScale {
            weight: effective_weight(weight, candidates),
            best_similarity: best(|candidate| candidate.similarity),
            best_bm25: best(|candidate| candidate.bm25),
        }
    }

    fn apply(&self, similarity: Option<f64>, bm25: Option<f64>) -> f64 {
        let share = |value: Option<f64>, minimum: f64, maximum: f64| match value {
            Some(value) if !value.is_finite() => f64::NAN,
            Some(value) if maximum > minimum => (value - minimum) / (maximum - minimum),
            _ => 0.0,
        };
        self.weight * share(similarity, -1.0, self.best_similarity)
            + (1.0 - self.weight) * share(bm25, 0.0, self.best_bm25)
    }
}

fn effective_weight(weight: f64, candidates: &[Evidence]) -> f64 {
    let semantic = candidates.iter().any(|candidate| candidate.similarity.is_some());
    let lexical = candidates.iter().any(|candidate| candidate.bm25.is_some());
    match (semantic, lexical) {
        (true, false) => 1.0,
        (false, true) => 0.0,
        _ => weight,
    }
}

fn weighted(weight: f64, similarity: Option<f64>, bm25: Option<f64>) -> f64 {
    weight * similarity.unwrap_or(0.0) + (1.0 - weight) * bm25.map_or(0.0, |r| r / (1.0 + r))
}

fn reciprocal_ranks(k: f64, scores: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let scores: Vec<f64> = scores.map(|score| score.unwrap_or(f64::NEG_INFINITY)).collect();
    let mut reciprocal = vec![0.0; scores.len()];
    for (rank, position) in order(&scores).into_iter().enumerate() {
        if scores[position].is_finite() {
            reciprocal[position] = 1.0 / (k + rank as f64 + 1.0);
        }
    }
    reciprocal
}

// Rankings of several phrasings of one query, merged into one.

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

/// The weight of the ranks of the query itself, and of a phrasing that says the same in other words.
pub const INTENT_WEIGHT: f64 = 1.0;

/// The weight of the ranks of a phrasing that names files and directories.
pub const PATHS_WEIGHT: f64 = 0.95;

/// The weight of the ranks of a phrasing in the shape of the wanted code.
pub const CODE_WEIGHT: f64 = 0.9;

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

    fn evidence(similarity: f64, bm25: f64) -> Evidence {
        Evidence { similarity: Some(similarity), bm25: Some(bm25) }
    }

    #[test]
    fn convex_by_hand() {
        // Best similarity 0.6: (0.6 + 1) / 1.6 = 1, (0.2 + 1) / 1.6 = 0.75. Best BM25 10: 1 and 0.4.
        let scores = Fusion::Convex { weight: 0.3 }.fuse(&[evidence(0.6, 4.0), evidence(0.2, 10.0)]);
        assert!((scores[0] - (0.3 + 0.7 * 0.4)).abs() < 1e-12);
        assert!((scores[1] - (0.3 * 0.75 + 0.7)).abs() < 1e-12);
    }

    #[test]
    fn convex_background_is_on_the_scale_of_the_scores() {
        let candidates = [evidence(0.6, 4.0), evidence(0.2, 10.0)];
        let fusion = Fusion::Convex { weight: 0.3 };
        let background = BackgroundEvidence { similarity: Some(0.2), bm25: Some(4.0) };
        let mean = fusion.background(&candidates, background).expect("both retrievers have a background");
        assert!((mean - (0.3 * 0.75 + 0.7 * 0.4)).abs() < 1e-12);
    }

    #[test]
    fn a_retriever_that_did_not_run_leaves_its_weight_to_the_other() {
        let lexical = [Evidence { similarity: None, bm25: Some(5.0) }, Evidence { similarity: None, bm25: Some(2.0) }];
        assert_eq!(Fusion::Convex { weight: 0.5 }.fuse(&lexical), [1.0, 0.4]);
        let background = BackgroundEvidence { similarity: None, bm25: Some(1.0) };
        assert_eq!(Fusion::Convex { weight: 0.5 }.background(&lexical, background), Some(0.2));
    }

    #[test]
    fn no_lexical_match_at_all_is_zero_not_nan() {
        let scores = Fusion::Convex { weight: 0.5 }.fuse(&[evidence(0.4, 0.0), evidence(0.1, 0.0)]);
        assert!(scores.iter().all(|score| score.is_finite()));
        assert!(scores[0] > scores[1]);
    }

    #[test]
    fn weighted_gives_a_perfect_keyword_hit_at_most_its_share() {
        let scores = Fusion::Weighted { weight: 0.7 }.fuse(&[evidence(0.0, 1e9), evidence(1.0, 0.0)]);
        assert!(scores[0] <= 0.3 && scores[0] > 0.299);
        assert!((scores[1] - 0.7).abs() < 1e-12);
    }

    #[test]
    fn rrf_by_hand() {
        let scores = Fusion::Rrf { k: 60.0 }.fuse(&[evidence(0.9, 0.0), evidence(0.8, 3.0)]);
        assert!((scores[0] - 1.0 / 61.0).abs() < 1e-12, "no match is no rank");
        assert!((scores[1] - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-12);
        assert_eq!(Fusion::Rrf { k: 60.0 }.background(&[evidence(0.9, 0.0)], BackgroundEvidence::default()), None);
    }

    #[test]
    fn what_is_written_reads_back_and_names_and_weights_are_checked() {
        for fusion in [Fusion::Convex { weight: 0.45 }, Fusion::Weighted { weight: 1.0 }, Fusion::Rrf { k: 60.0 }] {
            assert_eq!(fusion.to_string().parse(), Ok(fusion));
        }
        for other in ["", "convex", "convex 7", "other 0.5", "convex x", "rrf -1", "rrf inf"] {
            assert!(other.parse::<Fusion>().is_err(), "{other}");
        }
        assert_eq!(Fusion::from_name("borda", 0.5), Err(FusionError::Unknown("borda".into())));
        assert_eq!(Fusion::from_name("convex", 1.5), Err(FusionError::Weight(1.5)));
        assert!(Fusion::from_name("convex", f64::NAN).is_err());
    }

    #[test]
    fn ranks_by_hand_and_a_first_place_among_nothing_that_counts_little() {
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
        let phrasing = |all: &[(usize, f64)]| ScoredPhrasing { weight: 1.0, scores: all.to_vec(), background: None };
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
        fn more_evidence_never_lowers_a_score(pool in prop::collection::vec((-1.0..1.0f64, 0.0..30.0f64), 2..40), weight in 0.0..=1.0f64) {
            let candidates: Vec<Evidence> = pool.iter().map(|&(s, r)| evidence(s, r)).collect();
            for fusion in [Fusion::Convex { weight }, Fusion::Weighted { weight }] {
                let scores = fusion.fuse(&candidates);
                for (a, b) in candidates.iter().zip(&scores).zip(candidates.iter().zip(&scores).skip(1)) {
                    if a.0.similarity >= b.0.similarity && a.0.bm25 >= b.0.bm25 {
                        prop_assert!(*a.1 >= *b.1 - 1e-12);
                    }
                }
            }
        }

        #[test]
        fn convex_stays_in_unit_range_and_order_is_total(pool in prop::collection::vec((-1.0..=1.0f64, 0.0..30.0f64), 0..40)) {
            let candidates: Vec<Evidence> = pool.iter().map(|&(s, r)| evidence(s, r)).collect();
            let scores = Fusion::Convex { weight: 0.5 }.fuse(&candidates);
            prop_assert!(scores.iter().all(|score| (0.0..=1.0 + 1e-12).contains(score)));
            let ordered = order(&scores);
            prop_assert!(ordered.windows(2).all(|pair| scores[pair[0]] >= scores[pair[1]]));
        }

        #[test]
        fn one_phrasing_of_which_every_word_is_there_is_fused_as_a_query_alone(
            pool in prop::collection::vec((-1.0..1.0f64, 0.0..30.0f64), 1..20),
        ) {
            let evidence: Vec<Evidence> = pool.iter().map(|&(s, r)| evidence(s, r)).collect();
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
