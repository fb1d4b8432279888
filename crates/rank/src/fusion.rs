//! Fusion of the lexical and the semantic score into one value to order by.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The raw scores of one candidate. A leg that did not run has no score; a leg that ran and found no match gives the lowest
/// one (BM25 0).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Cosine similarity to the query, in [-1, 1]. `None`: the semantic leg did not run.
    pub similarity: Option<f64>,
    /// BM25 of the query in this passage, 0 or more. `None`: the lexical leg did not run.
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
        /// Share of the semantic leg, in [0, 1].
        weight: f64,
    },
    /// Reciprocal rank fusion, Σ 1 / (k + rank): Cormack, Clarke and Büttcher, SIGIR 2009.
    Rrf {
        /// The constant that softens the head, 60 in the paper; 0 or more.
        k: f64,
    },
    /// `weight` · similarity + (1 − `weight`) · r / (1 + r) with r the raw BM25: the fusion of memory search.
    Weighted {
        /// Share of the semantic leg, in [0, 1]; 0.7 in the systems that use it.
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
    /// The fusion called `name` (`convex`, `rrf` or `weighted`) with `weight` as the share of the semantic leg.
    /// `rrf` has no weight and uses k = 60.
    ///
    /// # Errors
    /// An unknown name, or a weight outside [0, 1].
    pub fn named(name: &str, weight: f64) -> Result<Self, FusionError> {
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

    /// One score per candidate, in the order given. A leg without any score leaves the whole weight to the other, so BM25 alone
    /// orders a lexical search. Non-finite raw scores give a non-finite result, which a cut then drops and counts. O(n log n)
    /// for `Rrf`, O(n) otherwise.
    pub fn fuse(&self, candidates: &[Evidence]) -> Vec<f64> {
        match *self {
            Fusion::Convex { weight } => {
                let scale = ConvexScale::of(weight, candidates);
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
    /// `None` for `Rrf`, whose values have no background, and where a leg that ran has none.
    pub fn background(&self, candidates: &[Evidence], background: BackgroundEvidence) -> Option<f64> {
        let needs = |ran: bool, value: Option<f64>| if ran { value.map(Some) } else { Some(None) };
        let similarity = needs(candidates.iter().any(|c| c.similarity.is_some()), background.similarity)?;
        let bm25 = needs(candidates.iter().any(|c| c.bm25.is_some()), background.bm25)?;
        match *self {
            Fusion::Convex { weight } => Some(ConvexScale::of(weight, candidates).apply(similarity, bm25)),
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
            name => Fusion::named(name, number),
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
    fn of(weight: f64, candidates: &[Evidence]) -> Self {
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
        let mean = fusion.background(&candidates, background).expect("both legs have a background");
        assert!((mean - (0.3 * 0.75 + 0.7 * 0.4)).abs() < 1e-12);
    }

    #[test]
    fn a_leg_that_did_not_run_leaves_its_weight_to_the_other() {
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
    fn what_is_written_reads_back() {
        for fusion in [Fusion::Convex { weight: 0.45 }, Fusion::Weighted { weight: 1.0 }, Fusion::Rrf { k: 60.0 }] {
            assert_eq!(fusion.to_string().parse(), Ok(fusion));
        }
        for other in ["", "convex", "convex 7", "other 0.5", "convex x", "rrf -1", "rrf inf"] {
            assert!(other.parse::<Fusion>().is_err(), "{other}");
        }
    }

    #[test]
    fn names_and_weights_are_checked() {
        assert_eq!(Fusion::named("borda", 0.5), Err(FusionError::Unknown("borda".into())));
        assert_eq!(Fusion::named("convex", 1.5), Err(FusionError::Weight(1.5)));
        assert!(Fusion::named("convex", f64::NAN).is_err());
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
    }
}
