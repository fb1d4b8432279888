//! From a gathered pool to its order and its end.

use super::answer::CutReport;
use super::beliefs::Beliefs;
use super::candidate::{Candidate, Ranked};
use super::gather::Gathered;
use crate::Error;
use tamis_cut::{Background, Gate, Pool, Rule, Scale, focus};
use tamis_rank::{Evidence, Fusion, RolePrior, order};
use tamis_store::StoredPassage;

/// What orders the pool under a rule, and what gives the values that the rule reads. They differ for reciprocal ranks
/// alone, which carry no evidence of relevance: those order, and the rule reads the convex values.
pub(super) struct Fusions {
    pub order: Fusion,
    pub cut: Fusion,
}

impl Fusions {
    /// The search's own fusion, or the one that the rule's scale is defined by. `weight` is the semantic leg's share.
    pub fn new(rule: &dyn Rule, configured: Fusion, weight: f64) -> Self {
        let both = |fusion| Fusions { order: fusion, cut: fusion };
        match (rule.scale(), configured) {
            (Scale::Score, Fusion::Rrf { .. }) => Fusions { order: configured, cut: Fusion::Convex { weight } },
            (Scale::Score, _) => both(configured),
            (Scale::Similarity, _) => both(Fusion::Weighted { weight: 1.0 }),
            (Scale::Weighted, _) => both(Fusion::Weighted { weight: 0.7 }),
        }
    }
}

/// Orders the pool by `fusion` and the prior of each passage's role, best first; equals by passage. `passages` are
/// those of the candidates, in their order.
pub(super) fn rank(
    gathered: &Gathered,
    passages: Vec<StoredPassage>,
    fusion: Fusion,
    roles: &RolePrior,
) -> Vec<Ranked> {
    let evidence: Vec<Evidence> = gathered.candidates.iter().map(|candidate| candidate.evidence()).collect();
    let scores = fusion.fuse(&evidence);
    let mut ranked: Vec<Option<Ranked>> = gathered
        .candidates
        .iter()
        .zip(passages)
        .zip(scores)
        .map(|((candidate, passage), score)| {
            let score = roles.apply(&passage.role, score);
            Some(Ranked { candidate: candidate.clone(), passage, score })
        })
        .collect();
    let adjusted: Vec<f64> = ranked.iter().flatten().map(|candidate| candidate.score).collect();
    order(&adjusted).into_iter().filter_map(|position| ranked[position].take()).collect()
}

/// What was decided, and what of the query is worth remembering.
pub(super) struct Decision {
    pub report: CutReport,
    /// The probability of relevance of each ranked candidate, where the rule gives one.
    pub probabilities: Option<Vec<f64>>,
    /// The values that the rule read, with their background.
    pub pool: Pool,
    /// How far the first candidate stands out of the next ones.
    pub focus: Option<f64>,
    /// The gate's evidence, where both legs took part.
    pub evidence: Option<f64>,
}

/// What a decision goes by besides the rule and the candidates.
pub(super) struct Grounds<'a> {
    pub gate: Option<&'a Gate>,
    /// What gives the values that the rule reads.
    pub fusion: Fusion,
    pub roles: &'a RolePrior,
    /// The similarity of a passage on a query's subject under the model.
    pub reference: Option<f64>,
    pub beliefs: Beliefs,
}

/// Decides how many of the ranked candidates are relevant.
pub(super) fn decide(
    rule: &dyn Rule,
    grounds: &Grounds<'_>,
    gathered: &Gathered,
    ranked: &[Ranked],
) -> Result<Decision, Error> {
    let &Grounds { gate, fusion, roles, reference, beliefs } = grounds;
    let evidence: Vec<Evidence> = ranked.iter().map(|candidate| candidate.candidate.evidence()).collect();
    let scores = fusion.fuse(&evidence).into_iter().zip(ranked);
    let mut scores: Vec<f64> = scores.map(|(score, ranked)| roles.apply(&ranked.passage.role, score)).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    let mut pool = Pool::scores(scores).map_err(|error| Error::argument("pool", error.to_string(), "sorted"))?;
    if let Some(mean) = fusion.background(&evidence, gathered.background()) {
        let count = gathered.semantic.as_ref().map_or(0, |background| background.count as usize);
        let background = Background { mean, deviation: 0.0, count };
        pool = pool
            .with_background(background)
            .map_err(|error| Error::argument("background", error.to_string(), "finite"))?;
    }
    pool = pool.with_relevance(beliefs.relevance);
    if rule.reads_sizes() {
        let tokens = |ranked: &Ranked| tamis_text::estimate_tokens(&ranked.passage.text);
        pool = pool.with_sizes(ranked.iter().map(tokens).collect());
    }
    let known = known(gathered, reference, beliefs.usual_evidence);
    let cut = match gate {
        Some(gate) => gate.cut(&known, rule, &pool),
        None => rule.cut(&pool),
    };
    let probabilities = (!cut.probabilities.is_empty()).then(|| cut.probabilities.clone());
    let report = CutReport::from(cut);
    let coverages: Vec<Option<f64>> = ranked.iter().take(6).map(|ranked| ranked.candidate.coverage).collect();
    Ok(Decision { report, probabilities, pool, focus: focus(&coverages), evidence: known.sum() })
}

/// What is known of the best candidates in absolute terms.
fn known(gathered: &Gathered, reference: Option<f64>, usual: Option<f64>) -> tamis_cut::Evidence {
    let best = |score: fn(&Candidate) -> Option<f64>| {
        gathered.candidates.iter().filter_map(score).filter(|value| value.is_finite()).reduce(f64::max)
    };
    let background = gathered.semantic.as_ref().map(|background| Background {
        mean: f64::from(background.mean),
        deviation: f64::from(background.deviation),
        count: background.count as usize,
    });
    tamis_cut::Evidence {
        coverage: gathered.lexical.as_ref().map(|_| best(|candidate| candidate.coverage).unwrap_or(0.0)),
        best_similarity: best(|candidate| candidate.similarity),
        background,
        reference,
        usual,
    }
}
