//! Ranks a gathered pool: language and age adjust the raw scores, fusion combines them, and the rank factors lower the result.

use super::adjustments::Adjustments;
use super::candidate::{Candidate, Ranked};
use super::gather::{Gathered, Phrased};
use super::listed::Listed;
use super::rank_factors::factors;
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::thresholds::Thresholds;
use crate::Error;
use crate::collections::CODE;
use crate::config::ConfigError;
use std::collections::HashMap;
use std::sync::Arc;
use tamis_cut::{Admission, Background, Pool, PoolError, RawScores, Rule, Scale, SourceTable, TopScore};
use tamis_embed::ModelInfo;
use tamis_rank::{
    Adjustment, Evidence, ExactFind, Fusion, Phrasing, ScoredPhrasing, best_scores, fuse_phrasings, lowered,
    merged_ranks, order, put_first,
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
}

/// The role of ordinary text.
pub(super) const MAIN: &str = "main";

/// Which candidates have nothing to speak for them, under any phrasing, but a similarity below the one that was measured for code
/// in their language.
fn falls_short(gathered: &Gathered, measured: Option<&Thresholds>, adjustments: &Adjustments) -> Vec<bool> {
    let needed = |passage: &StoredPassage| {
        measured.filter(|_| passage.collection == CODE)?.measured(adjustments.language_of(passage))
    };
    let of_phrasings = |passage: PassageId| {
        let phrased = gathered.phrased.iter().flat_map(|phrased| &phrased.candidates);
        phrased.filter(move |candidate| candidate.passage == passage)
    };
    let falls_short = |(candidate, passage): (&Candidate, &Arc<StoredPassage>)| {
        let Some(needed) = needed(passage) else { return false };
        let speaks = |candidate: &Candidate| {
            candidate.coverage.is_some_and(|coverage| coverage > 0.0)
                || candidate.similarity.is_none_or(|similarity| similarity >= needed)
        };
        !speaks(candidate) && !of_phrasings(candidate.passage).any(speaks)
    };
    gathered.candidates.iter().zip(&gathered.passages).map(falls_short).collect()
}

impl Searcher<'_> {
    /// Orders the candidates, best first, by the fused raw scores; ties are ordered by passage. `thresholds` are those of a rule
    /// that reads some.
    pub(super) fn rank(
        &self,
        retrieved: &Retrieved,
        rule: &dyn Rule,
        thresholds: Option<&Thresholds>,
    ) -> Result<Listed, Error> {
        let Retrieved { question, gathered, .. } = retrieved;
        let Gathered { candidates, passages, .. } = gathered;
        let Fusions { order: ordering, cut } = self.fusions(rule, retrieved.plan.model.as_ref())?;
        let adjusting = self.adjustments(question, rule)?;
        let adjustments: Vec<Adjustment> = passages.iter().map(|passage| adjusting.adjustment(passage)).collect();
        let factors = factors(&question.names, question.lean, passages);
        let weighed = |scores: Vec<f64>| -> Vec<f64> {
            scores.into_iter().zip(&factors).map(|(score, factor)| lowered(score, *factor)).collect()
        };
        let fused = Fused::new(gathered, &adjustments, cut);
        let decays = self.decay(question);
        let decay: Vec<f64> = passages.iter().map(|passage| decays.factor(passage)).collect();
        let mut values = weighed(fused.values);
        // A candidate that falls short is as good as a passage that has nothing to do with the query. Its ranks count as none.
        let measured = thresholds.filter(|_| rule.heeds_measured_thresholds());
        let falls_short = falls_short(gathered, measured, &adjusting);
        let lower = |scores: &mut [f64], most: f64| {
            let short = scores.iter_mut().zip(&falls_short).filter(|(_, short)| **short);
            short.for_each(|(score, _)| *score = score.min(most));
        };
        lower(&mut values, fused.background.unwrap_or(0.0));
        let mut scores = match ordering {
            // Ranks carry no decay, so candidates that decay are ordered by values.
            _ if !gathered.phrased.is_empty() && !decays.is_on() => {
                weighed(Fused::ranks(gathered, &adjustments, ordering))
            }
            same if same == cut => values.clone(),
            other => weighed(Fused::new(gathered, &adjustments, other).values),
        };
        if ordering != cut || !gathered.phrased.is_empty() {
            lower(&mut scores, 0.0);
        }
        // An exact find is at least as good as the best of the rest, and comes first.
        let finds: Vec<Option<ExactFind>> = candidates.iter().map(|candidate| candidate.exact).collect();
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
        let source_tables = by_source(rule, &self.source_tables(rule)?, passages, &values, &mut order);

        let thresholds = thresholds.filter(|_| rule.reads_thresholds());
        let admission = |(candidate, passage): (&Candidate, &Arc<StoredPassage>)| {
            let language = question.hint.or_else(|| adjusting.language_of(passage));
            let threshold = thresholds.map(|thresholds| thresholds.threshold(language));
            let Candidate { similarity, coverage, .. } = *candidate;
            rule.admits(&RawScores { similarity, coverage, threshold })
        };
        // `None` at the first candidate means that the rule reads the list.
        let admissions: Option<Vec<Admission>> = candidates.iter().zip(passages).map(admission).collect();
        let admissions = admissions.filter(|admissions| !admissions.is_empty());
        if let Some(admissions) = &admissions {
            order.sort_by_key(|&position| admissions[position] == Admission::Refused);
        }
        let short = candidates.iter().zip(falls_short).filter(|(_, short)| *short);
        let short = short.map(|(candidate, _)| candidate.passage).collect();
        let ranked = order.into_iter().map(|position| Ranked {
            adjustment: adjustments[position],
            decay: decay[position],
            value: values[position],
            first: places[position],
            ..Ranked::new(candidates[position].clone(), passages[position].clone(), scores[position])
        });
        let ranked: Vec<Ranked> = ranked.collect();
        values.sort_by(|a, b| b.total_cmp(a));
        let count = gathered.semantic.as_ref().map_or(0, |background| background.count);
        let mut pool = pool(values, fused.background, count)?.with_source_tables(source_tables);
        if let Some(admissions) = admissions {
            pool = pool.with_admitted(admissions.into_iter().collect());
        }
        Ok(Listed { short, adjustments: Some(adjusting), ..Listed::new(ranked, pool) })
    }

    /// Returns the tables of collections with parameters of their own, if the rule reads them.
    fn source_tables(&self, rule: &dyn Rule) -> Result<Vec<(&'static str, TopScore)>, Error> {
        let refused = |error: ConfigError| Error::argument("cut", rule.name(), error.to_string());
        self.index.config.source_tables(rule).map_err(refused)
    }

    /// Returns the fusion that orders the candidates under a rule, and the one that the rule reads.
    pub(super) fn fusions(&self, rule: &dyn Rule, model: Option<&ModelInfo>) -> Result<Fusions, Error> {
        let own = model.map_or(0.5, |model| f64::from(model.fusion_weight));
        let weight = self.index.config.search.fusion_weight.unwrap_or(own);
        let configured = Fusion::named(&self.index.config.search.fusion, weight)
            .map_err(|error| Error::argument("search.fusion", &self.index.config.search.fusion, error.to_string()))?;
        Ok(Fusions::new(rule, configured, weight))
    }
}

/// Returns the pool that a rule reads: descending values, and the value of a passage that has nothing to do with the query, from
/// `count` passages.
pub(super) fn pool(values: Vec<f64>, background: Option<f64>, count: u64) -> Result<Pool, Error> {
    let with_background = |pool: Pool| match background {
        Some(mean) => pool.with_background(Background { mean, deviation: 0.0, count: count as usize }),
        None => Ok(pool),
    };
    let unusable = |error: PoolError| Error::argument("pool", error.to_string(), "sorted and finite");
    Pool::scores(values).and_then(with_background).map_err(unusable)
}

/// Returns the values of the collections with a table of their own. Candidates above their collection's threshold, given the best
/// value of all, move to the front of `order`. Without such collections nothing changes.
fn by_source(
    rule: &dyn Rule,
    tables: &[(&'static str, TopScore)],
    passages: &[Arc<StoredPassage>],
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
    fn new(gathered: &Gathered, adjustments: &[Adjustment], fusion: Fusion) -> Self {
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
