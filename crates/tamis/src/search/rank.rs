//! Ranks a gathered pool: language and age adjust the raw scores, fusion combines them, and the rank factors lower the result.

use super::adjustments::Adjustments;
use super::candidate::{Candidate, Scores};
use super::gather::Phrased;
use super::rank_factors::factors;
use super::ranking::Ranking;
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::thresholds::Thresholds;
use crate::Error;
use crate::collections::CODE;
use crate::config::ConfigError;
use std::collections::{HashMap, HashSet};
use tamis_cut::{Admission, Background, Pool, PoolError, RawScores, Rule, Scale, SourceTable, TopScore};
use tamis_embed::ModelInfo;
use tamis_rank::{
    BackgroundEvidence, Evidence, ExactFind, Fusion, Phrasing, ScoredPhrasing, best_scores, fuse_phrasings, lowered,
    merged_ranks, put_first,
};
use tamis_store::PassageId;

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

/// Returns `true` if nothing speaks for a candidate, under any phrasing, but a similarity below the one that was measured for code in
/// its language.
fn falls_short(
    candidate: &Candidate,
    phrased: &[Phrased],
    measured: Option<&Thresholds>,
    adjustments: &Adjustments,
) -> bool {
    let passage = &candidate.passage;
    let Some(thresholds) = measured.filter(|_| passage.collection == CODE) else { return false };
    let Some(needed) = thresholds.measured(adjustments.language_of(passage)) else { return false };
    let speaks = |scores: &Scores| {
        scores.coverage.is_some_and(|coverage| coverage > 0.0)
            || scores.similarity.is_none_or(|similarity| similarity >= needed)
    };
    let mut found = phrased.iter().flat_map(|phrased| &phrased.found).filter(|(found, _)| *found == candidate.id());
    !speaks(&candidate.scores) && !found.any(|(_, scores)| speaks(scores))
}

/// A value to order by, with those that are not finite last.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NEG_INFINITY }
}

impl Searcher<'_> {
    /// Orders the candidates, best first, by the fused raw scores; ties are ordered by passage. `thresholds` are those of a rule
    /// that reads some.
    pub(super) fn rank(
        &self,
        retrieved: &Retrieved,
        rule: &dyn Rule,
        thresholds: Option<&Thresholds>,
    ) -> Result<Ranking, Error> {
        let Retrieved { question, statistics, phrased, .. } = retrieved;
        let Fusions { order: ordering, cut } = self.fusions(rule, retrieved.plan.model.as_ref())?;
        let adjusting = self.adjustments(question, rule)?;
        let decays = self.decay(question);
        let measured = thresholds.filter(|_| rule.heeds_measured_thresholds());
        let mut candidates = retrieved.candidates.clone();
        for candidate in &mut candidates {
            candidate.adjustment = adjusting.adjustment(&candidate.passage);
            candidate.decay = decays.factor(&candidate.passage);
            candidate.short = falls_short(candidate, phrased, measured, &adjusting);
        }
        let factors = factors(&question.names, question.lean, &candidates);
        let weighed =
            |scores: Vec<f64>| scores.into_iter().zip(&factors).map(|(score, factor)| lowered(score, *factor));
        let unrelated = statistics.background();
        let Fused { values, background } = Fused::new(&candidates, phrased, unrelated, cut);
        // A candidate that falls short is as good as a passage that has nothing to do with the query. Its ranks count as none.
        for (candidate, value) in candidates.iter_mut().zip(weighed(values)) {
            candidate.value = if candidate.short { value.min(background.unwrap_or(0.0)) } else { value };
        }
        let scores: Option<Vec<f64>> = match ordering {
            // Ranks carry no decay, so candidates that decay are ordered by values.
            _ if !phrased.is_empty() && !decays.is_on() => {
                Some(weighed(Fused::ranks(&candidates, phrased, ordering)).collect())
            }
            same if same == cut => None,
            other => Some(weighed(Fused::new(&candidates, phrased, unrelated, other).values).collect()),
        };
        let own_scores = ordering != cut || !phrased.is_empty();
        for (at, candidate) in candidates.iter_mut().enumerate() {
            let score = scores.as_ref().map_or(candidate.value, |scores| scores[at]);
            candidate.score = if candidate.short && own_scores { score.min(0.0) } else { score };
        }
        note_first(&mut candidates);
        let source_tables = by_source(rule, &self.source_tables(rule)?, &candidates);
        let mut values: Vec<f64> = candidates.iter().map(|candidate| candidate.value).collect();
        values.sort_by(|a, b| b.total_cmp(a));

        let thresholds = thresholds.filter(|_| rule.reads_thresholds());
        let admission = |candidate: &Candidate| {
            let language = question.hint.or_else(|| adjusting.language_of(&candidate.passage));
            let threshold = thresholds.map(|thresholds| thresholds.threshold(language));
            let Scores { similarity, coverage, .. } = candidate.scores;
            rule.admits(&RawScores { similarity, coverage, threshold })
        };
        // `None` at the first candidate means that the rule reads the list.
        let admissions: Option<Vec<Admission>> = candidates.iter().map(admission).collect();
        let admissions = admissions.filter(|admissions| !admissions.is_empty());

        candidates.sort_by(|a, b| finite(b.value).total_cmp(&finite(a.value)));
        // Candidates with equal or missing reciprocal ranks are ordered by their values.
        candidates.sort_by(|a, b| finite(b.score).total_cmp(&finite(a.score)));
        candidates.sort_by_key(|candidate| candidate.first.unwrap_or(usize::MAX));
        if let Some(SourceTables { reaches, .. }) = &source_tables {
            candidates.sort_by_key(|candidate| !reaches.contains(&candidate.id()));
        }
        if admissions.is_some() {
            candidates.sort_by_cached_key(|candidate| admission(candidate) == Some(Admission::Refused));
        }
        let count = statistics.semantic.as_ref().map_or(0, |background| background.count);
        let tables = source_tables.map(|sources| sources.tables).unwrap_or_default();
        let mut pool = pool(values, background, count)?.with_source_tables(tables);
        if let Some(admissions) = admissions {
            pool = pool.with_admitted(admissions.into_iter().collect());
        }
        Ok(Ranking { adjustments: Some(adjusting), ..Ranking::new(candidates, pool) })
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

/// Puts the exact finds first. Each is at least as good as the best of the rest.
fn note_first(candidates: &mut [Candidate]) {
    let finds: Vec<Option<ExactFind>> = candidates.iter().map(|candidate| candidate.exact).collect();
    let main: Vec<bool> = candidates.iter().map(|candidate| candidate.passage.role == MAIN).collect();
    let values: Vec<f64> = candidates.iter().map(|candidate| candidate.value).collect();
    let best = |value: fn(&Candidate) -> f64| {
        candidates.iter().map(value).filter(|value| value.is_finite()).fold(f64::NEG_INFINITY, f64::max)
    };
    let (value, score) = (best(|candidate| candidate.value), best(|candidate| candidate.score));
    for (place, position) in put_first(&finds, &main, &values).into_iter().enumerate() {
        let candidate = &mut candidates[position];
        (candidate.first, candidate.value, candidate.score) = (Some(place), value, score);
    }
}

/// The values of the collections with a table of their own, and the candidates above their collection's threshold.
struct SourceTables {
    tables: Vec<SourceTable>,
    reaches: HashSet<PassageId>,
}

/// Returns the values of the collections with a table of their own. Without such collections there is nothing to return.
fn by_source(rule: &dyn Rule, tables: &[(&'static str, TopScore)], candidates: &[Candidate]) -> Option<SourceTables> {
    let own = TopScore::with_settings(&rule.settings()).ok().filter(|_| !tables.is_empty())?;
    let table = |(source, table): &(&str, TopScore)| SourceTable {
        source: (*source).to_owned(),
        table: table.clone(),
        values: Vec::new(),
    };
    let mut tables: Vec<SourceTable> = tables.iter().map(table).collect();
    let mut reaches = HashSet::new();
    let values = candidates.iter().map(|candidate| candidate.value).filter(|value| value.is_finite());
    let Some(best) = values.reduce(f64::max) else { return Some(SourceTables { tables, reaches }) };
    for candidate in candidates {
        let source = tables.iter_mut().find(|source| source.source == candidate.passage.collection);
        if candidate.value >= source.as_ref().map_or(&own, |source| &source.table).line(best) {
            reaches.insert(candidate.id());
        }
        if let Some(source) = source {
            source.values.push(candidate.value);
        }
    }
    Some(SourceTables { tables, reaches })
}

/// The value of each candidate, in the candidates' order, and that of a passage that has nothing to do with the query.
struct Fused {
    values: Vec<f64>,
    background: Option<f64>,
}

impl Fused {
    /// Returns the values that a cut reads: the fused raw scores, where an `unrelated` passage has these. With several phrasings it
    /// takes the best score, each times its phrasing's weight.
    fn new(candidates: &[Candidate], phrased: &[Phrased], unrelated: BackgroundEvidence, fusion: Fusion) -> Self {
        if phrased.is_empty() {
            let evidence: Vec<Evidence> = candidates.iter().map(Candidate::evidence).collect();
            return Fused { values: fusion.fuse(&evidence), background: fusion.background(&evidence, unrelated) };
        }
        let phrasings = fuse_phrasings(&phrasings(candidates, phrased), fusion);
        let background = |phrasing: &ScoredPhrasing| phrasing.background.map(|value| phrasing.weight * value);
        Fused {
            values: best_scores(&phrasings, candidates.len()),
            background: phrasings.iter().filter_map(background).reduce(f64::max),
        }
    }

    /// Returns the merged ranks of several phrasings.
    fn ranks(candidates: &[Candidate], phrased: &[Phrased], fusion: Fusion) -> Vec<f64> {
        merged_ranks(&fuse_phrasings(&phrasings(candidates, phrased), fusion), candidates.len())
    }
}

/// Returns each phrasing with its candidates by their position among all.
fn phrasings(candidates: &[Candidate], phrased: &[Phrased]) -> Vec<Phrasing> {
    let positions: HashMap<PassageId, usize> =
        candidates.iter().enumerate().map(|(position, candidate)| (candidate.id(), position)).collect();
    let phrasing = |phrased: &Phrased| {
        // A passage that is gone has no position.
        let found = phrased.found.iter().filter_map(|(passage, scores)| {
            let position = *positions.get(passage)?;
            Some((position, scores.evidence(candidates[position].adjustment)))
        });
        Phrasing {
            weight: phrased.weight,
            coverage: phrased.found.iter().filter_map(|(_, scores)| scores.coverage).reduce(f64::max),
            found: found.collect(),
            background: phrased.background,
        }
    };
    phrased.iter().map(phrasing).collect()
}
