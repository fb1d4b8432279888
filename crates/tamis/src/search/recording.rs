//! The record of a search with its quality figures, for feedback, guarantees and telemetry, and its replay with another rule.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use tamis_cut::{Admission, Background, Gate, RawScores, Rule, Scale};
use tamis_rank::{BackgroundEvidence, Evidence, Fusion, order};
use tamis_store::{QueryQuality, RecordedCandidate, RecordedSearch, ScoringKind};
use tamis_text::{Language, Relation};

use super::answer::{CutReport, Hit};
use super::caller::SearchCaller;
use super::candidate::{Candidate, Retrieved};
use super::context::{Context, Stopwatch};
use super::judgements::question_hash;
use super::ranking::{Decided, pool};
use super::rule::Fusions;
use crate::Error;

/// The entry point of a search that does not name one.
const ENTRY_POINT: &str = "library";

/// The number of further passages of a result that every printer shows.
const FURTHER_SHOWN: usize = 2;

/// Returns the record of a search, without its identifier and time.
pub(crate) fn recorded(context: &Context<'_>, retrieved: &Retrieved, decided: &Decided) -> RecordedSearch {
    let text = &retrieved.query.text;
    let Decided { ranking, cut, mode, scoring, .. } = decided;
    let background = retrieved.statistics.background();
    let single = |value: Option<f64>| value.map(|value| value as f32);
    let candidate = |(at, (place, candidate)): (usize, (usize, &Candidate))| {
        let entry = ranking.entries.get(at);
        RecordedCandidate {
            passage: candidate.passage.id.clone(),
            similarity: single(candidate.scores.similarity),
            bm25: single(candidate.scores.bm25),
            coverage: single(candidate.scores.coverage),
            required: single(candidate.required),
            exact: candidate.exact.map(|_| true),
            // A value that is not finite was not read.
            score: single(match entry {
                Some(entry) => entry.value,
                None => Some(candidate.value).filter(|value| value.is_finite()),
            }),
            probability: single(entry.and_then(|entry| entry.probability_by_evidence().or(entry.probability))),
            entry: Some(place as u32),
        }
    };
    let semantic = retrieved.statistics.semantic.as_ref();
    RecordedSearch {
        id: String::new(),
        at_ms: 0,
        entry_point: ENTRY_POINT.to_owned(),
        namespace: retrieved.query.scope.label(&context.index.namespace),
        query_hash: question_hash(text),
        query_text: context.index.config.telemetry.queries.then(|| text.clone()),
        mode: mode.to_string(),
        model: retrieved.plan.model.as_ref().map(|model| model.id.clone()),
        method: cut.method.clone(),
        scoring: scoring.clone(),
        kept: cut.keep as u32,
        passages: retrieved.plan.coverage.passages,
        score_background: ranking.background(),
        similarity_mean: background.similarity,
        similarity_deviation: semantic.map(|semantic| f64::from(semantic.deviation)),
        bm25_mean: background.bm25,
        candidates: ranking.numbered().into_iter().enumerate().map(candidate).collect(),
        caller: None,
        shown: None,
    }
}

/// The search with what its answer showed to a caller: candidates by their position in the pool, in the order shown.
pub(crate) fn shown_to(
    context: &Context<'_>,
    caller: Option<SearchCaller>,
    results: &[Hit],
    search: RecordedSearch,
) -> RecordedSearch {
    let Some(caller) = caller.filter(|_| context.index.config.telemetry.opened()) else { return search };
    let places: HashMap<&str, u32> =
        search.candidates.iter().zip(0..).map(|(candidate, place)| (candidate.passage.as_str(), place)).collect();
    let ids = results.iter().flat_map(|hit| {
        let further = hit.passages.iter().take(FURTHER_SHOWN).map(|further| further.id.as_str());
        std::iter::once(hit.id.as_str()).chain(further)
    });
    let shown = ids.filter_map(|id| places.get(id).copied()).collect();
    RecordedSearch { caller: Some(caller.key), shown: Some(shown), ..search }
}

/// Records a search with its quality figures, and returns its identifier; `None` if recording is off or fails.
pub(crate) fn write_record(
    context: &Context<'_>,
    search: RecordedSearch,
    retrieved: &Retrieved,
    decided: &Decided,
    served: Served<'_>,
    clock: &Stopwatch,
) -> Option<String> {
    if !context.index.config.telemetry.record {
        return None;
    }
    let CutReport { method, .. } = &decided.cut;
    let search = RecordedSearch {
        entry_point: served.entry_point.unwrap_or(ENTRY_POINT).to_owned(),
        method: method.clone(),
        kept: served.kept as u32,
        ..search
    };
    let quality = quality(&search, retrieved, decided, served, clock);
    context.index.usage.record(search, quality)
}

/// The recorded collection of a query that names none.
const ALL: &str = "all";

/// The way a search was answered, besides its candidates and its cut.
#[derive(Default)]
pub(crate) struct Served<'a> {
    /// The part of the program that asked; `None`: the library.
    pub entry_point: Option<&'a str>,
    /// The collections of the request; empty: all.
    pub collections: &'a [String],
    /// The number of relevant candidates; without a cut, of those that the answer shows.
    pub kept: usize,
    /// The number of returned results.
    pub returned: usize,
    /// The limit on them.
    pub top_k: usize,
    /// The reason why a different model, or fewer retrievers, answered.
    pub fallback_reason: Option<String>,
}

/// Returns the row of a query. Its time and the search's identifier are added when it is written.
pub(crate) fn quality(
    search: &RecordedSearch,
    retrieved: &Retrieved,
    decided: &Decided,
    served: Served<'_>,
    clock: &Stopwatch,
) -> QueryQuality {
    let Decided { cut, ranking, .. } = decided;
    let number = |name: &str| cut.diagnostics.get(name).and_then(serde_json::Value::as_f64);
    let method = cut.diagnostics.get("threshold_method").and_then(serde_json::Value::as_str);
    let similarities = |candidates: usize| {
        let similarities = search.candidates.iter().take(candidates).filter_map(|candidate| candidate.similarity);
        similarities.map(f64::from).filter(|similarity| similarity.is_finite())
    };
    // Reports and searches of evidence prefer no language.
    let is_search = matches!(decided.scoring.kind, ScoringKind::Search | ScoringKind::Memories);
    let hint = retrieved.query.hint.filter(|_| is_search);
    let kept = ranking.entries.iter().take(served.kept).map(|entry| entry.best.passage.language.as_deref());
    QueryQuality {
        at_ms: 0,
        entry_point: search.entry_point.clone(),
        namespace: search.namespace.clone(),
        corpus: if served.collections.is_empty() { ALL.to_owned() } else { served.collections.join(",") },
        query_hash: search.query_hash,
        query_text: search.query_text.clone(),
        search_id: None,
        model: search.model.clone(),
        mode: search.mode.clone(),
        lexical_candidates: retrieved.statistics.found.lexical.map(|found| found as u32),
        semantic_candidates: retrieved.statistics.found.semantic.map(|found| found as u32),
        candidates: cut.candidates as u32,
        kept: served.kept as u32,
        dropped: cut.candidates.saturating_sub(served.kept) as u32,
        returned: served.returned as u32,
        top_k: served.top_k as u32,
        threshold: cut.threshold,
        threshold_method: method.unwrap_or(&cut.method).to_owned(),
        gap_size: number("gap_size"),
        mean_kept_distance: mean(similarities(served.kept).map(|similarity| 1.0 - similarity)),
        language_match_ratio: hint.and_then(|hint| language_match_ratio(hint, kept)),
        best_similarity: similarities(usize::MAX).reduce(f64::max),
        similarity_mean: search.similarity_mean,
        milliseconds: clock.laps.clone(),
        total_ms: clock.elapsed_ms(),
        fallback_reason: served.fallback_reason,
    }
}

/// Returns the share of languages that are the hinted one; `None` if there are none.
fn language_match_ratio<'l>(hint: &str, languages: impl Iterator<Item = Option<&'l str>>) -> Option<f64> {
    let is_same = |language: &str| Language::relation(hint, language) == Relation::Same;
    mean(languages.map(|language| f64::from(u8::from(language.is_some_and(is_same)))))
}

/// Returns the mean; `None` for an empty iterator.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

/// The inputs of a decision besides the rule and the record.
pub(crate) struct ReplayGrounds<'a> {
    pub gate: Option<&'a Gate>,
    pub configured: Configured,
    /// The typical similarity of a passage on a query's subject under the model.
    pub reference: Option<f64>,
}

/// The fusions of the configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Configured {
    /// The fusion of ordinary searches.
    pub fusion: Fusion,
    /// The semantic retriever's share in it.
    pub weight: f64,
}

impl Configured {
    /// Returns the fusion that orders the candidates under a rule, and the one that the rule reads.
    fn fusions(&self, rule: &dyn Rule) -> Fusions {
        Fusions::new(rule, self.fusion, self.weight)
    }
}

/// A rule's decision on a recorded search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replayed {
    /// The places of the kept candidates in the record, in the order of the rule.
    pub kept: Vec<usize>,
    /// The name of the rule, or `gate`.
    pub method: String,
}

/// Decides again. If the rule reads the recorded values, they are taken as they are. Otherwise the raw scores are fused again,
/// and the effect of reranking on each candidate's value is carried over as a factor. A rule under which a search weighs the
/// evidence on entries has the recorded probabilities.
///
/// # Errors
/// The background is not finite.
pub(crate) fn replayed(
    search: &RecordedSearch,
    rule: &dyn Rule,
    grounds: &ReplayGrounds<'_>,
) -> Result<Replayed, Error> {
    let double = |value: Option<f32>| value.map(f64::from);
    let evidence: Vec<Evidence> = search
        .candidates
        .iter()
        .map(|candidate| Evidence { similarity: double(candidate.similarity), bm25: double(candidate.bm25) })
        .collect();
    let list = List::new(search, &evidence, &grounds.configured.fusions(rule), grounds.configured.fusion);
    let list = if counts_entries(search, rule) { list.grouped(search) } else { list };

    let mut order = list.order;
    let admission = |&place: &usize| {
        let candidate = &search.candidates[place];
        let (similarity, coverage) = (double(candidate.similarity), double(candidate.coverage));
        rule.admits(&RawScores { similarity, coverage, threshold: None })
    };
    let admissions: Option<Vec<Admission>> = (0..evidence.len()).map(|place| admission(&place)).collect();
    let mut values = list.values;
    values.sort_by(|a, b| b.total_cmp(a));
    let mut pool = pool(values, list.background, search.passages)?;
    if let Some(admissions) = admissions.filter(|admissions| !admissions.is_empty()) {
        order.sort_by_key(|&place| admissions[place] == Admission::Refused);
        pool = pool.with_admitted(admissions.into_iter().collect());
    }
    let weighs = rule.scale() == Scale::Score && !rule.counts_passages();
    if let Some(weighed) = weighs.then(|| weighed(search)).flatten() {
        order = weighed.iter().map(|&(place, _)| place).collect();
        pool = pool.with_probabilities(weighed.into_iter().map(|(_, probability)| probability).collect());
    }
    let cut = match grounds.gate {
        Some(gate) => gate.cut(&known(search, grounds), rule, &pool),
        None => rule.cut(&pool),
    };
    order.truncate(cut.keep);
    Ok(Replayed { kept: order, method: cut.method })
}

/// Returns the entries of a search with their probabilities by the evidence alone, most probable first. As in the search, an exact
/// find, and what holds all that a name asks for, is at least as probable as what follows it. `None` if no evidence was weighed.
fn weighed(search: &RecordedSearch) -> Option<Vec<(usize, f64)>> {
    if !matches!(search.scoring.kind, ScoringKind::Search | ScoringKind::Memories) {
        return None;
    }
    let counted = search.counted();
    let own = counted.iter().map(|candidate| candidate.probability.map(f64::from));
    let mut weighed: Vec<(usize, f64)> = own.collect::<Option<Vec<f64>>>()?.into_iter().enumerate().collect();
    let is_exact = |candidate: &RecordedCandidate| candidate.exact == Some(true);
    let rises = |(at, candidate): (usize, &RecordedCandidate)| {
        let entry = if at < counted.len() { at } else { candidate.entry? as usize };
        (is_exact(candidate) || candidate.required >= Some(1.0)).then_some(entry)
    };
    let rising: HashSet<usize> = search.candidates.iter().enumerate().filter_map(rises).collect();
    let mut least = 0.0_f64;
    for (place, probability) in weighed.iter_mut().rev() {
        least = least.max(*probability);
        if rising.contains(place) {
            *probability = least;
        }
    }
    if let Some((_, first)) = weighed.first_mut().filter(|_| search.candidates.iter().any(is_exact)) {
        *first = first.max(Gate::default().level);
    }
    // What people had judged stood first or last.
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(weighed)
}

/// Returns `true` if a search of these candidates under `rule` counts entries: if the rule does, the record names them, and the
/// candidates are not all of one document.
fn counts_entries(search: &RecordedSearch, rule: &dyn Rule) -> bool {
    let entries = || search.candidates.iter().map(|candidate| candidate.entry);
    let named = || entries().len() > 0 && entries().all(|entry| entry.is_some());
    let alone = || entries().len() > 1 && entries().all(|entry| Some(entry) == entries().next());
    !rule.counts_passages() && (search.scoring.counts_entries() || named() && !alone())
}

/// The candidates as a rule reads them.
struct List {
    /// The value of each candidate, in any order.
    values: Vec<f64>,
    /// The candidates' places, best first.
    order: Vec<usize>,
    background: Option<f64>,
    /// True if order and values are the recorded ones.
    recorded: bool,
}

impl List {
    fn new(search: &RecordedSearch, evidence: &[Evidence], fusions: &Fusions, configured: Fusion) -> Self {
        let recorded: Option<Vec<f64>> =
            search.candidates.iter().map(|candidate| candidate.score.map(f64::from)).collect();
        let recorded_by: Option<Fusion> = search.scoring.fusion.parse().ok();
        match (recorded, recorded_by) {
            (Some(values), Some(by)) if by == fusions.cut => {
                // A record of entries begins with their best passages, so it is not in the order of values.
                let in_order = || (0..evidence.len()).collect();
                let order = if search.scoring.counts_entries() { order(&values) } else { in_order() };
                List { values, order, background: search.score_background, recorded: true }
            }
            (recorded, by) => {
                let memories = search.scoring.kind == ScoringKind::Memories;
                // Reciprocal ranks do not order by the recorded values.
                let aligned = recorded.zip(by).filter(|_| memories || !matches!(configured, Fusion::Rrf { .. }));
                // Age can leave any share of a memory's value.
                let plausible = if memories { &ANY } else { &PLAUSIBLE };
                let factors = aligned.and_then(|(values, by)| factors(&values, &by.fuse(evidence), plausible));
                let moved = |fusion: Fusion| -> Vec<f64> {
                    let fused = fusion.fuse(evidence).into_iter().enumerate();
                    let factor = |place: usize| factors.as_ref().map_or(1.0, |factors| factors[place]);
                    fused.map(|(place, value)| if value > 0.0 { value * factor(place) } else { value }).collect()
                };
                let means = BackgroundEvidence { similarity: search.similarity_mean, bm25: search.bm25_mean };
                let values = moved(fusions.cut);
                let order = order(&if fusions.order == fusions.cut { values.clone() } else { moved(fusions.order) });
                List { order, background: fusions.cut.background(evidence, means), values, recorded: false }
            }
        }
    }

    /// Returns the list of entries: the position and the value of each one's best passage.
    fn grouped(self, search: &RecordedSearch) -> Self {
        let counted = search.counted().len();
        if self.recorded && search.scoring.counts_entries() {
            return List { values: self.values[..counted].to_vec(), order: (0..counted).collect(), ..self };
        }
        let keys: Vec<Option<u32>> = self.order.iter().map(|&place| search.candidates[place].entry).collect();
        let values: Vec<f64> = self.order.iter().map(|&place| self.values[place]).collect();
        let entries = tamis_rank::entries(&keys, &values);
        List {
            values: entries.iter().map(|entry| entry.value).collect(),
            order: entries.iter().map(|entry| self.order[entry.passages[0]]).collect(),
            ..self
        }
    }
}

/// The plausible factors of reranking. Beyond them, the recorded values are not those of the candidates.
const PLAUSIBLE: RangeInclusive<f64> = 0.02..=4.0;
const ANY: RangeInclusive<f64> = 0.0..=f64::MAX;

/// Returns the factor of reranking on each value.
fn factors(recorded: &[f64], fused: &[f64], plausible: &RangeInclusive<f64>) -> Option<Vec<f64>> {
    let factor = |(recorded, fused): (&f64, &f64)| if *fused > 0.0 { recorded / fused } else { 1.0 };
    let factors: Vec<f64> = recorded.iter().zip(fused).map(factor).collect();
    factors.iter().all(|factor| plausible.contains(factor)).then_some(factors)
}

/// Returns the absolute evidence of the best candidates.
fn known(search: &RecordedSearch, grounds: &ReplayGrounds<'_>) -> tamis_cut::Evidence {
    let candidates = &search.candidates;
    let best = |values: &mut dyn Iterator<Item = Option<f32>>| {
        values.flatten().map(f64::from).filter(|value| value.is_finite()).reduce(f64::max)
    };
    let coverage = best(&mut candidates.iter().map(|candidate| candidate.coverage));
    let background = search.similarity_mean.zip(search.similarity_deviation);
    tamis_cut::Evidence {
        coverage: coverage.or((search.mode != "semantic").then_some(0.0)),
        best_similarity: best(&mut candidates.iter().map(|candidate| candidate.similarity)),
        background: background.map(|(mean, deviation)| Background { mean, deviation, count: search.passages as usize }),
        reference: grounds.reference,
        required: best(&mut candidates.iter().map(|candidate| candidate.required)),
        exact: candidates.iter().any(|candidate| candidate.exact == Some(true)),
    }
}

#[cfg(test)]
mod quality_row_tests {
    use super::*;
    use crate::config::Mode;
    use crate::search::answer::CutReport;
    use crate::search::candidate::{Found, Statistics};
    use crate::search::ranking::Ranking;
    use tamis_cut::Pool;
    use tamis_store::{RecordedCandidate, ScoringKey};

    fn search(similarities: &[Option<f32>]) -> RecordedSearch {
        let candidate = |&similarity: &Option<f32>| RecordedCandidate { similarity, ..RecordedCandidate::default() };
        RecordedSearch {
            entry_point: "cli".into(),
            namespace: "here".into(),
            mode: "hybrid".into(),
            model: Some("m".into()),
            method: "max_gap".into(),
            passages: 9,
            similarity_mean: Some(0.125),
            candidates: similarities.iter().map(candidate).collect(),
            ..RecordedSearch::default()
        }
    }

    fn decided(method: &str, keep: usize, candidates: usize) -> Decided {
        Decided {
            ranking: Ranking::new(Vec::new(), Pool::scores(vec![0.5; candidates]).expect("sorted")),
            cut: CutReport {
                method: method.into(),
                keep,
                threshold: Some(0.5),
                candidates,
                dropped: candidates - keep,
                ..CutReport::default()
            },
            token_budget: None,
            mode: Mode::Hybrid,
            scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5"),
            replaced: None,
        }
    }

    fn row(similarities: &[Option<f32>], decided: &Decided) -> QueryQuality {
        let statistics = Statistics { found: Found { lexical: Some(2), semantic: None }, ..Statistics::default() };
        let retrieved = Retrieved { statistics, ..Retrieved::default() };
        let served = Served { kept: decided.cut.keep, returned: 1, top_k: 1, ..Served::default() };
        quality(&search(similarities), &retrieved, decided, served, &Stopwatch::start())
    }

    #[test]
    fn a_row_by_hand_in_which_what_is_not_known_is_not_zero() {
        let mut decided = decided("max_gap", 3, 4);
        decided.cut.diagnostics.insert("threshold_method".into(), "adaptive".into());
        decided.cut.diagnostics.insert("gap_size".into(), 0.25.into());
        let row = row(&[Some(0.5), None, Some(0.75), Some(0.875)], &decided);
        assert_eq!((row.candidates, row.kept, row.dropped, row.returned, row.top_k), (4, 3, 1, 1, 1));
        assert_eq!((row.lexical_candidates, row.semantic_candidates), (Some(2), None));
        assert_eq!((row.threshold_method.as_str(), row.gap_size), ("adaptive", Some(0.25)));
        assert_eq!(row.mean_kept_distance, Some(0.375), "of the two kept ones whose similarity is known");
        assert_eq!((row.best_similarity, row.similarity_mean), (Some(0.875), Some(0.125)));
        assert_eq!(row.corpus, "all");
        let gated = self::row(&[None, None], &self::decided("gate", 0, 2));
        assert_eq!((gated.threshold_method.as_str(), gated.kept), ("gate", 0));
        assert_eq!((gated.mean_kept_distance, gated.best_similarity), (None, None));
        assert_eq!(gated.language_match_ratio, None, "nothing was hinted at");
        let ratio = |languages: &[Option<&str>]| language_match_ratio("rust", languages.iter().copied());
        assert_eq!([ratio(&[Some("rust"), Some("python"), None]), ratio(&[])], [Some(1.0 / 3.0), None]);
    }
}

#[cfg(test)]
mod record_tests {
    use super::*;
    use tamis_store::ScoringKey;

    fn search(fusion: &str, candidates: &[(f32, f32, f32)]) -> RecordedSearch {
        let candidate = |(place, &(similarity, bm25, score)): (usize, &(f32, f32, f32))| RecordedCandidate {
            passage: format!("p{place}"),
            similarity: Some(similarity),
            bm25: Some(bm25),
            coverage: Some(if bm25 > 0.0 { 1.0 } else { 0.0 }),
            score: Some(score),
            ..RecordedCandidate::default()
        };
        RecordedSearch {
            mode: "hybrid".into(),
            model: Some("m".into()),
            scoring: ScoringKey::new(ScoringKind::Search, fusion).with("roles", "1 1 1").with("pool", 100),
            passages: 9,
            score_background: Some(0.25),
            similarity_mean: Some(0.0),
            similarity_deviation: Some(0.1),
            bm25_mean: Some(0.0),
            candidates: candidates.iter().enumerate().map(candidate).collect(),
            ..RecordedSearch::default()
        }
    }

    const CONFIGURED: Configured = Configured { fusion: Fusion::Convex { weight: 0.5 }, weight: 0.5 };

    fn kept(search: &RecordedSearch, rule: &str) -> Vec<usize> {
        let grounds = ReplayGrounds { gate: None, configured: CONFIGURED, reference: Some(0.5) };
        replayed(search, tamis_cut::parse(rule).expect("a rule").as_ref(), &grounds).expect("decided").kept
    }

    // The fused scores are convex, half and half. By hand: (1 + 1) / 2 for the first, (0.75 + 0.5) / 2 and (0.5 + 0) / 2 for the
    // last two.
    const POOL: [(f32, f32, f32); 3] = [(1.0, 8.0, 1.0), (0.5, 4.0, 0.625), (0.0, 0.0, 0.25)];

    #[test]
    fn a_rule_reads_the_recorded_values_or_on_another_scale_those_of_the_pool_in_its_own_order() {
        let search = search("convex 0.5", &POOL);
        // The point halfway between 0.25 and 1 is 0.625.
        assert_eq!(kept(&search, "background:lambda=0.5"), [0, 1]);
        assert_eq!(kept(&search, "background:lambda=0.6"), [0]);
        assert_eq!(kept(&search, "fixed:k=2"), [0, 1]);
        let search = self::search("convex 0.5", &[(0.5, 8.0, 0.875), (1.0, 0.0, 0.5), (0.9, 0.0, 0.475)]);
        // By similarity the second and third lie before the gap.
        assert_eq!(kept(&search, "max_gap:min_candidates_for_gap=2"), [1, 2]);
        // The second was ranked down to half of its fused 1, for example as a test. At similarity 0.8 it is then read as 0.4.
        let search = self::search("convex 0.5", &[(0.6, 8.0, 0.9444444), (0.8, 8.0, 0.5)]);
        assert_eq!(kept(&search, "max_gap:ceiling=0.45"), [0]);
    }

    #[test]
    fn values_that_cannot_be_those_of_the_candidates_give_no_factors() {
        assert_eq!(factors(&[1.0, 0.5], &[1.0, 1.0], &PLAUSIBLE), Some(vec![1.0, 0.5]));
        assert_eq!(factors(&[1.0, 0.5], &[0.1, 1.0], &PLAUSIBLE), None);
        assert_eq!(factors(&[1.0, 0.5], &[0.1, 1.0], &ANY), Some(vec![10.0, 0.5]));
        assert_eq!(factors(&[0.5], &[0.0], &PLAUSIBLE), Some(vec![1.0]));
    }

    #[test]
    fn a_weighing_rule_has_the_recorded_probabilities_as_a_search_orders_them() {
        let weighed = |probabilities: [f32; 3], change: fn(&mut RecordedSearch), rule: &str| {
            let mut search = search("convex 0.5", &POOL);
            for (candidate, probability) in search.candidates.iter_mut().zip(probabilities) {
                candidate.probability = Some(probability);
            }
            change(&mut search);
            let gate = Gate::default();
            let grounds = ReplayGrounds { gate: Some(&gate), configured: CONFIGURED, reference: Some(0.5) };
            let rule = tamis_cut::parse(rule).expect("a rule");
            let Replayed { kept, method } = replayed(&search, rule.as_ref(), &grounds).expect("decided");
            (kept, method)
        };
        let auto = |probabilities: [f32; 3], change: fn(&mut RecordedSearch)| weighed(probabilities, change, "auto").0;
        assert_eq!(auto([0.5, 0.08, 0.02], |_| ()), [0, 1]);
        assert_eq!(weighed([0.06, 0.05, 0.02], |_| (), "background"), (vec![], "gate".to_owned()));
        // Judgements had put the last one there, and the first one first.
        assert_eq!(auto([0.02, 0.08, 0.5], |_| ()), [2, 1]);
        // An exact find is as probable as what follows it, and stands above the line alone.
        assert_eq!(auto([0.02, 0.5, 0.01], |search| search.candidates[0].exact = Some(true)), [0, 1]);
        assert_eq!(auto([0.02, 0.01, 0.01], |search| search.candidates[0].exact = Some(true)), [0]);
        assert_eq!(auto([0.02, 0.5, 0.01], |search| search.candidates[0].required = Some(1.0)), [0, 1]);
        // A rule on similarities weighs no evidence, and neither does a search of issues.
        assert_eq!(weighed([0.0; 3], |_| (), "max_gap:min_candidates_for_gap=2").1, "max_gap");
        let of_issues = |search: &mut RecordedSearch| search.scoring.kind = ScoringKind::Issues;
        assert_eq!(weighed([0.0; 3], of_issues, "fixed:k=2"), (vec![0, 1], "fixed".to_owned()));
    }

    #[test]
    fn what_is_not_there_is_no_trouble() {
        let empty = search("convex 0.5", &[]);
        let mut unknown = search("", &POOL);
        unknown.candidates.iter_mut().for_each(|candidate| *candidate = RecordedCandidate::default());
        for method in tamis_cut::METHODS {
            assert_eq!(kept(&empty, method.name), [0; 0], "{}", method.name);
            assert!(kept(&unknown, method.name).len() <= 3, "{}", method.name);
        }
    }
}
