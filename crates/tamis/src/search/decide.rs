//! Orders a gathered pool and cuts it.

use super::answer::CutReport;
use super::candidate::{Candidate, Ranked};
use super::decay::SearchDecay;
use super::gather::Gathered;
use super::gather::Phrased;
use super::listed::Listed;
use super::rank_factors::factors;
use super::rerank::Rerank;
use super::thresholds::Thresholds;
use crate::Error;
use crate::collections::CODE;
use std::collections::{HashMap, HashSet};
use tamis_cut::{
    Admission, Admitted, Background, Gate, Pool, RawScores, Relevance, Rule, Scale, SourceTable, TopScore,
};
use tamis_rank::{
    Adjustment, Evidence, ExactFind, Fusion, Lean, Phrasing, QueryNames, ScoredPhrasing, best_scores, fuse_phrasings,
    lowered, merged_ranks, order, put_first,
};
use tamis_store::{PassageId, StoredPassage};

/// The fusion that orders the pool under a rule, and the one whose values the rule reads. They differ only for reciprocal ranks,
/// which carry no evidence of relevance: those order, and the rule reads the convex values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fusions {
    pub order: Fusion,
    pub cut: Fusion,
}

impl Fusions {
    /// Returns the search's own fusion, or the one that the rule's scale requires. `weight` is the semantic leg's share.
    pub fn new(rule: &dyn Rule, configured: Fusion, weight: f64) -> Self {
        let both = |fusion| Fusions { order: fusion, cut: fusion };
        match (rule.scale(), configured) {
            (Scale::Score, Fusion::Rrf { .. }) => Fusions { order: configured, cut: Fusion::Convex { weight } },
            (Scale::Score, _) => both(configured),
            (Scale::Similarity, _) => both(Fusion::Weighted { weight: 1.0 }),
            (Scale::Weighted, _) => both(Fusion::Weighted { weight: 0.7 }),
        }
    }

    /// Returns the weighted fusion of memories, or the one that the rule's scale requires.
    pub fn of_memories(rule: &dyn Rule) -> Self {
        let weight = if rule.scale() == Scale::Similarity { 1.0 } else { MEMORY_WEIGHT };
        let fusion = Fusion::Weighted { weight };
        Fusions { order: fusion, cut: fusion }
    }
}

/// The weight w of the semantic leg in a memory's score, w · similarity + (1 − w) · r/(1+r) with r the BM25 score.
const MEMORY_WEIGHT: f64 = 0.7;

/// The role of ordinary text.
const MAIN: &str = "main";

/// The inputs of a list besides the candidates.
pub(super) struct Steps<'a> {
    pub fusions: Fusions,
    /// The names that the query can mean.
    pub names: &'a QueryNames,
    /// What the search leans to.
    pub lean: Option<Lean>,
    pub rerank: &'a Rerank,
    pub decay: SearchDecay<'a>,
    /// The tables of collections with parameters of their own, for a rule that reads them.
    pub tables: &'a [(&'static str, TopScore)],
    /// The thresholds of languages, for a rule that heeds those that were measured.
    pub measured: Option<&'a Thresholds>,
}

impl Steps<'_> {
    /// The similarity that a code passage needs if nothing else speaks for it; `None` where nothing was measured.
    fn needed(&self, passage: &StoredPassage) -> Option<f64> {
        self.measured.filter(|_| passage.collection == CODE)?.measured(self.rerank.language_of(passage))
    }
}

/// Which candidates have nothing to speak for them, under any phrasing, but a similarity below the one that their language needs.
fn falls_short(gathered: &Gathered, passages: &[StoredPassage], steps: &Steps<'_>) -> Vec<bool> {
    let of_phrasings = |passage: PassageId| {
        let phrased = gathered.phrased.iter().flat_map(|phrased| &phrased.candidates);
        phrased.filter(move |candidate| candidate.passage == passage)
    };
    let falls_short = |(candidate, passage): (&Candidate, &StoredPassage)| {
        let Some(needed) = steps.needed(passage) else { return false };
        let speaks = |candidate: &Candidate| {
            candidate.coverage.is_some_and(|coverage| coverage > 0.0)
                || candidate.similarity.is_none_or(|similarity| similarity >= needed)
        };
        !speaks(candidate) && !of_phrasings(candidate.passage).any(speaks)
    };
    gathered.candidates.iter().zip(passages).map(falls_short).collect()
}

/// Orders the pool, best first, by the fused raw scores. Language and age adjust the scores and the rank factors lower them; ties
/// are ordered by passage. `passages` are those of the candidates, in their order. `threshold` gives the similarity that each
/// needs under a rule with thresholds.
pub(super) fn list(
    gathered: &Gathered,
    passages: Vec<StoredPassage>,
    rule: &dyn Rule,
    steps: &Steps<'_>,
    threshold: impl Fn(&StoredPassage) -> Option<f64>,
) -> Listed {
    let adjustments: Vec<Adjustment> = passages.iter().map(|passage| steps.rerank.of(passage)).collect();
    let factors = factors(steps.names, steps.lean, &passages);
    let weighed = |scores: Vec<f64>| -> Vec<f64> {
        scores.into_iter().zip(&factors).map(|(score, factor)| lowered(score, *factor)).collect()
    };
    let Fusions { order: ordering, cut } = steps.fusions;
    let fused = Fused::of(gathered, &adjustments, cut);
    let decay: Vec<f64> = passages.iter().map(|passage| steps.decay.factor(passage)).collect();
    let mut values = weighed(fused.values);
    // A candidate that falls short is as good as a passage that has nothing to do with the query. Its ranks count as none.
    let falls_short = falls_short(gathered, &passages, steps);
    let lower = |scores: &mut [f64], most: f64| {
        let short = scores.iter_mut().zip(&falls_short).filter(|(_, short)| **short);
        short.for_each(|(score, _)| *score = score.min(most));
    };
    lower(&mut values, fused.background.unwrap_or(0.0));
    let mut scores = match ordering {
        // Ranks carry no decay, so candidates that decay are ordered by values.
        _ if !gathered.phrased.is_empty() && !steps.decay.is_on() => {
            weighed(Fused::ranks(gathered, &adjustments, ordering))
        }
        same if same == cut => values.clone(),
        other => weighed(Fused::of(gathered, &adjustments, other).values),
    };
    if ordering != cut || !gathered.phrased.is_empty() {
        lower(&mut scores, 0.0);
    }
    // An exact find is at least as good as the best of the rest, and comes first.
    let finds: Vec<Option<ExactFind>> = gathered.candidates.iter().map(|candidate| candidate.exact).collect();
    let main: Vec<bool> = passages.iter().map(|passage| passage.role == MAIN).collect();
    let first = put_first(&finds, &main, &values);
    let mut places: Vec<Option<usize>> = vec![None; values.len()];
    first.iter().enumerate().for_each(|(place, &position)| places[position] = Some(place));
    for list in [&mut values, &mut scores] {
        let best = list.iter().copied().filter(|value| value.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        first.iter().for_each(|&position| list[position] = best);
    }
    let mut order = order(&values);
    // Candidates with equal or missing reciprocal ranks are ordered by their values.
    let rank = |position: usize| if scores[position].is_finite() { scores[position] } else { f64::NEG_INFINITY };
    order.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)));
    order.sort_by_key(|&position| places[position].unwrap_or(usize::MAX));
    let source_tables = by_source(rule, steps.tables, &passages, &values, &mut order);

    let admission = |(candidate, passage): (&Candidate, &StoredPassage)| {
        let Candidate { similarity, coverage, .. } = *candidate;
        rule.admits(&RawScores { similarity, coverage, threshold: threshold(passage) })
    };
    // `None` at the first candidate means that the rule reads the list.
    let admissions: Option<Vec<Admission>> = gathered.candidates.iter().zip(&passages).map(admission).collect();
    let admissions = admissions.filter(|admissions| !admissions.is_empty());
    let admitted = admissions.as_ref().map(|admissions| admissions.iter().copied().collect());

    if let Some(admissions) = admissions {
        order.sort_by_key(|&position| admissions[position] == Admission::Refused);
    }
    let short = gathered.candidates.iter().zip(falls_short).filter(|(_, short)| *short);
    let short = short.map(|(candidate, _)| candidate.passage).collect();
    let mut passages: Vec<Option<StoredPassage>> = passages.into_iter().map(Some).collect();
    let ranked = order.into_iter().filter_map(|position| {
        Some(Ranked {
            candidate: gathered.candidates[position].clone(),
            passage: passages[position].take()?,
            adjustment: adjustments[position],
            decay: decay[position],
            score: scores[position],
            value: values[position],
            added: 0.0,
            first: places[position],
            late: None,
            judged: None,
            judged_relevant: None,
        })
    });
    let ranked: Vec<Ranked> = ranked.collect();
    values.sort_by(|a, b| b.total_cmp(a));
    Listed { ranked, entries: None, values, background: fused.background, admitted, source_tables, short }
}

/// Returns the values of the collections with a table of their own. Candidates above their collection's threshold, given the best
/// value of all, move to the front of `order`. Without such collections nothing changes.
fn by_source(
    rule: &dyn Rule,
    tables: &[(&'static str, TopScore)],
    passages: &[StoredPassage],
    values: &[f64],
    order: &mut [usize],
) -> Vec<SourceTable> {
    if tables.is_empty() {
        return Vec::new();
    }
    let Ok(own) = TopScore::with_settings(&rule.settings()) else { return Vec::new() };
    let mut held: Vec<SourceTable> = tables
        .iter()
        .map(|(source, table)| SourceTable { source: (*source).to_owned(), table: table.clone(), values: Vec::new() })
        .collect();
    let best = values.iter().copied().filter(|value| value.is_finite()).reduce(f64::max);
    let Some(best) = best else { return held };
    let mut reaches = vec![false; values.len()];
    for ((passage, &value), reaches) in passages.iter().zip(values).zip(&mut reaches) {
        let source = held.iter_mut().find(|source| source.source == passage.collection);
        let line = source.as_ref().map_or(&own, |source| &source.table).line(best);
        *reaches = value >= line;
        if let Some(source) = source {
            source.values.push(value);
        }
    }
    order.sort_by_key(|&position| !reaches[position]);
    held
}

/// The value of each candidate, in the candidates' order, and that of a passage that has nothing to do with the query.
struct Fused {
    values: Vec<f64>,
    background: Option<f64>,
}

impl Fused {
    /// Returns the values that a cut reads: the fused raw scores. With several phrasings it takes the best score, each times its
    /// phrasing's weight.
    fn of(gathered: &Gathered, adjustments: &[Adjustment], fusion: Fusion) -> Self {
        if gathered.phrased.is_empty() {
            let evidence =
                gathered.candidates.iter().zip(adjustments).map(|(candidate, moved)| candidate.evidence(*moved));
            let evidence: Vec<Evidence> = evidence.collect();
            let background = fusion.background(&evidence, gathered.background());
            return Fused { values: fusion.fuse(&evidence), background };
        }
        let phrasings = fuse_phrasings(&phrasings(gathered, adjustments), fusion);
        let background = |phrasing: &ScoredPhrasing| phrasing.background.map(|value| phrasing.weight * value);
        Fused {
            values: best_scores(&phrasings, gathered.candidates.len()),
            background: phrasings.iter().filter_map(background).reduce(f64::max),
        }
    }

    /// Returns the merged ranks of several phrasings.
    fn ranks(gathered: &Gathered, adjustments: &[Adjustment], fusion: Fusion) -> Vec<f64> {
        merged_ranks(&fuse_phrasings(&phrasings(gathered, adjustments), fusion), gathered.candidates.len())
    }
}

/// Returns each phrasing with its candidates by their position among all.
fn phrasings(gathered: &Gathered, adjustments: &[Adjustment]) -> Vec<Phrasing> {
    let positions: HashMap<PassageId, usize> =
        gathered.candidates.iter().enumerate().map(|(position, candidate)| (candidate.passage, position)).collect();
    let phrasing = |phrased: &Phrased| {
        // A passage that is gone has no position.
        let found = phrased.candidates.iter().filter_map(|candidate| {
            let position = *positions.get(&candidate.passage)?;
            Some((position, candidate.evidence(adjustments[position])))
        });
        let coverages = phrased.candidates.iter().filter_map(|candidate| candidate.coverage);
        Phrasing {
            weight: phrased.weight,
            coverage: coverages.reduce(f64::max),
            found: found.collect(),
            background: phrased.background,
        }
    };
    gathered.phrased.iter().map(phrasing).collect()
}

/// A decision, with the values of the query that are worth recording.
pub(super) struct Decision {
    pub report: CutReport,
    /// The probability of relevance of each ranked candidate, if the rule gives one.
    pub probabilities: Option<Vec<f64>>,
    /// The values that the rule read, with their background.
    pub pool: Pool,
}

/// The inputs of a decision besides the rule and the candidates.
pub(super) struct Grounds<'a> {
    pub gate: Option<&'a Gate>,
    /// The typical similarity of a passage on a query's subject under the model.
    pub reference: Option<f64>,
    /// The model of where relevance ends.
    pub relevance: Relevance,
    /// The probability of each counted candidate, in the order of the list.
    pub probabilities: Option<Vec<f64>>,
}

/// Returns the pool that a rule reads: descending values, the value of a passage that has nothing to do with the query (from
/// `count` passages), the admitted candidates, and the model of where relevance ends.
pub(super) fn pool(
    values: Vec<f64>,
    background: Option<f64>,
    count: u64,
    admitted: Option<Admitted>,
    relevance: Relevance,
) -> Result<Pool, Error> {
    let mut pool = Pool::scores(values).map_err(|error| Error::argument("pool", error.to_string(), "sorted"))?;
    if let Some(mean) = background {
        let background = Background { mean, deviation: 0.0, count: count as usize };
        pool = pool
            .with_background(background)
            .map_err(|error| Error::argument("background", error.to_string(), "finite"))?;
    }
    if let Some(admitted) = admitted {
        pool = pool.with_admitted(admitted);
    }
    Ok(pool.with_relevance(relevance))
}

/// Decides how many of the listed candidates are relevant.
pub(super) fn decide(
    rule: &dyn Rule,
    grounds: &Grounds<'_>,
    gathered: &Gathered,
    listed: &mut Listed,
) -> Result<Decision, Error> {
    let &mut Listed { ref ranked, ref mut values, ref mut source_tables, background, admitted, ref short, .. } = listed;
    let &Grounds { gate, reference, relevance, ref probabilities } = grounds;
    let values = std::mem::take(values);
    let count = gathered.semantic.as_ref().map_or(0, |background| background.count);
    let mut pool =
        pool(values, background, count, admitted, relevance)?.with_source_tables(std::mem::take(source_tables));
    if rule.reads_sizes() {
        let tokens = |ranked: &Ranked| tamis_text::estimate_tokens(&ranked.passage.text);
        pool = pool.with_sizes(ranked.iter().map(tokens).collect());
    }
    if let Some(probabilities) = probabilities {
        pool = pool.with_probabilities(probabilities.clone());
    }
    let known = known(gathered, short, reference);
    let cut = match gate {
        Some(gate) => gate.cut(&known, rule, &pool),
        None => rule.cut(&pool),
    };
    let probabilities = (!cut.probabilities.is_empty()).then(|| cut.probabilities.clone());
    let mut report = CutReport::from(cut);
    report.explain_short(short.len());
    Ok(Decision { report, probabilities, pool })
}

/// Returns the absolute evidence of the best candidates, over all phrasings. Those that fall short of the threshold of their
/// language give none.
pub(super) fn known(gathered: &Gathered, short: &HashSet<PassageId>, reference: Option<f64>) -> tamis_cut::Evidence {
    let phrased = gathered.phrased.iter().flat_map(|phrased| &phrased.candidates);
    let all = gathered.candidates.iter().chain(phrased);
    let candidates: Vec<&Candidate> = all.filter(|candidate| !short.contains(&candidate.passage)).collect();
    let best = |score: fn(&Candidate) -> Option<f64>| {
        candidates.iter().filter_map(|candidate| score(candidate)).filter(|value| value.is_finite()).reduce(f64::max)
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
        required: best(|candidate| candidate.required),
        exact: candidates.iter().any(|candidate| candidate.exact.is_some()),
    }
}
