//! Ranks a gathered pool: language and age adjust the raw scores, fusion combines them, and the rank factors lower the result.

use std::collections::{HashMap, HashSet};

use tamis_cut::{Admission, RawScores, Rule, SourceTable, TopScore};
use tamis_rank::{
    BackgroundEvidence, Evidence, ExactFind, Fusion, LEAN_FACTOR, Lean, Phrasing, QueryNames, ROLE_FACTORS,
    ScoredPhrasing, USAGE_FACTOR, best_scores, definition_factors, fuse_phrasings, lowered, merged_ranks, put_first,
    role_factor,
};
use tamis_store::{PassageId, ScoringKey, ScoringKind, StoredPassage};

use super::adjustments::{Adjustments, adjustments_under, search_decay};
use super::candidate::{Candidate, MAIN, Phrased, Retrieved, Scores, is_program, scoring_of};
use super::context::Context;
use super::judgements::RERANKER;
use super::ranking::{Ranking, pool};
use super::rule::{Fusions, Thresholds, fusions};
use crate::Error;
use crate::collections::{CODE, FILE_COLLECTIONS};
use crate::config::ConfigError;

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

/// Orders the candidates, best first, by the fused raw scores; ties are ordered by passage. `thresholds` are those of a rule
/// that reads some.
pub(crate) fn rank(
    context: &Context<'_>,
    retrieved: &Retrieved,
    rule: &dyn Rule,
    thresholds: Option<&Thresholds>,
) -> Result<Ranking, Error> {
    let Retrieved { query, statistics, phrased, .. } = retrieved;
    let Fusions { order: ordering, cut } = fusions(context, rule, retrieved.plan.model.as_ref())?;
    let adjusting = adjustments_under(context, query, rule)?;
    let decays = search_decay(context, query);
    let measured = thresholds.filter(|_| rule.heeds_measured_thresholds());
    let mut candidates = retrieved.candidates.clone();
    for candidate in &mut candidates {
        candidate.adjusted.adjustment = adjusting.adjustment(&candidate.passage);
        candidate.adjusted.decay = decays.factor(&candidate.passage);
        candidate.adjusted.short = falls_short(candidate, phrased, measured, &adjusting);
    }
    let factors = factors(&query.names, query.lean, &candidates);
    let weighed = |scores: Vec<f64>| scores.into_iter().zip(&factors).map(|(score, factor)| lowered(score, *factor));
    let unrelated = statistics.background();
    let Fused { values, background } = Fused::new(&candidates, phrased, unrelated, cut);
    // A candidate that falls short is as good as a passage that has nothing to do with the query. Its ranks count as none.
    for (candidate, value) in candidates.iter_mut().zip(weighed(values)) {
        candidate.value = if candidate.adjusted.short { value.min(background.unwrap_or(0.0)) } else { value };
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
        candidate.score = if candidate.adjusted.short && own_scores { score.min(0.0) } else { score };
    }
    note_first(&mut candidates);
    let source_tables = by_source(rule, &source_tables(context, rule)?, &candidates);
    let mut values: Vec<f64> = candidates.iter().map(|candidate| candidate.value).collect();
    values.sort_by(|a, b| b.total_cmp(a));

    let thresholds = thresholds.filter(|_| rule.reads_thresholds());
    let admission = |candidate: &Candidate| {
        let language = query.hint.or_else(|| adjusting.language_of(&candidate.passage));
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
fn source_tables(context: &Context<'_>, rule: &dyn Rule) -> Result<Vec<(&'static str, TopScore)>, Error> {
    let refused = |error: ConfigError| Error::argument("cut", rule.name(), error.to_string());
    context.index.config.source_tables(rule).map_err(refused)
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
            Some((position, scores.evidence(candidates[position].adjusted.adjustment)))
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

/// Returns the factor on each passage's value, in (0, 1].
pub(crate) fn factors(names: &QueryNames, lean: Option<Lean>, candidates: &[Candidate]) -> Vec<f64> {
    let symbols = candidates.iter().map(|candidate| candidate.passage.symbol.as_deref());
    let mut factors = definition_factors(names, symbols);
    for (factor, Candidate { passage, .. }) in factors.iter_mut().zip(candidates) {
        *factor *= role_factor(&passage.role);
        let other = match lean {
            Some(Lean::Code) => is_file(passage) && !is_program(passage),
            Some(Lean::Guide) => passage.collection == CODE,
            Some(Lean::Both) | None => false,
        };
        if other {
            *factor *= LEAN_FACTOR;
        }
    }
    factors
}

/// Returns the factors as settings of a scoring key, so that scores of a version with other factors are not mixed with these.
fn factor_settings() -> [(&'static str, String); 3] {
    let roles = ROLE_FACTORS.map(|(_, factor)| factor.to_string()).join(" ");
    [("roles", roles), ("usage", USAGE_FACTOR.to_string()), ("lean", LEAN_FACTOR.to_string())]
}

fn is_file(passage: &StoredPassage) -> bool {
    FILE_COLLECTIONS.contains(&passage.collection.as_str())
}

/// Returns the key of the scores: every setting that changes them or the depth of the pool.
pub(crate) fn scoring(
    context: &Context<'_>,
    retrieved: &Retrieved,
    rule: &dyn Rule,
    ranking: &Ranking,
    reranker: Option<&str>,
) -> Result<ScoringKey, Error> {
    let Retrieved { query, plan, candidates, phrased, .. } = retrieved;
    let kind = if query.memory { ScoringKind::Memories } else { ScoringKind::Search };
    let mut key = ScoringKey::new(kind, fusions(context, rule, plan.model.as_ref())?.cut);
    let adjusted = ranking.adjustments.iter().flat_map(Adjustments::scoring);
    let moved = factor_settings().into_iter().chain(adjusted);
    key.settings.extend(moved.map(|(name, value)| (name.to_owned(), value)));
    if !phrased.is_empty() {
        key = key.with("phrasings", phrased.len());
    }
    key = scoring_of(key.with("pool", context.index.config.search.pool), candidates);
    if let Some(reranker) = reranker {
        key = key.with(RERANKER, reranker);
    }
    Ok(if ranking.grouped { key.counting_entries() } else { key })
}
