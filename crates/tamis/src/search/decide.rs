//! The second half of a search: orders the retrieved candidates as a rule requires, and decides where they end.

use super::answer::CutReport;
use super::candidate::{Candidate, Scores};
use super::entries;
use super::plan::joined;
use super::query::SearchRequest;
use super::ranking::{Entry, Ranking};
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use super::thresholds::Thresholds;
use crate::Error;
use crate::config::Mode;
use crate::models;
use std::collections::HashSet;
use tamis_cut::{Background, Gate, Relevance, Rule, Scale};
use tamis_store::{PassageId, ScoringKey};

/// The pool in the order of a rule, and the place where the rule ends it.
pub(super) struct Decided {
    pub ranking: Ranking,
    pub cut: CutReport,
    /// Most tokens of text in the answer.
    pub token_budget: Option<usize>,
    /// The legs that decided. Thresholds can leave nothing of the semantic leg.
    pub mode: Mode,
    /// The scale of the values that the rule read. Values of two searches are comparable if their keys are equal.
    pub scoring: ScoringKey,
    /// The reason why a different rule, or fewer legs, decided.
    pub replaced: Option<String>,
}

impl Searcher<'_> {
    /// Orders the retrieved candidates as the rule requires, and decides where they end.
    pub(super) fn decide(
        &self,
        retrieved: &Retrieved,
        rule: &dyn Rule,
        clock: &mut Stopwatch,
    ) -> Result<Decided, Error> {
        let Retrieved { question, plan, text_kind, .. } = retrieved;
        let replacement = self.replacement(rule, plan.mode)?;
        let replaced = replacement
            .as_ref()
            .map(|other| format!("cut {} in place of {}, which reads similarities", other.name(), rule.name()));
        let rule = replacement.as_deref().unwrap_or(rule);

        let reads_thresholds = rule.reads_thresholds() || rule.heeds_measured_thresholds();
        let thresholds = reads_thresholds.then(|| self.thresholds(plan.model.as_ref())).transpose()?;
        let thresholds = thresholds.map(|thresholds| thresholds.with_default_of(rule));
        let mut ranking = self.rank(retrieved, rule, thresholds.as_ref())?;
        clock.lap("rank");
        // Similarities are on a scale of their own.
        let is_plain = rule.scale() == Scale::Score;
        if !rule.counts_passages() {
            entries::group(&mut ranking, is_plain, question)?;
        }
        clock.lap("entries");
        // The model of relevance weighs entries. A rule on a scale of its own orders by that.
        let weighs = is_plain && !rule.counts_passages();
        let reranker = question.reranker.as_deref().filter(|_| weighs);
        let scoring = self.scoring(retrieved, rule, &ranking, reranker)?;
        // Where the evidence is weighed, no rule reads where relevance ends in a list of scores.
        let relevance = match question.memory && !weighs {
            true => self.relevance(
                &question.scope.label(&self.index.namespace),
                plan.model.as_ref().map(|model| model.id.as_str()),
                plan.mode,
                &scoring,
            ),
            false => Relevance::of(*text_kind),
        };
        clock.lap("relevance");
        if weighs {
            self.weigh(retrieved, &mut ranking, reranker)?;
        }
        clock.lap("weigh");
        let mut cut = cut(rule, question.gate.as_ref(), relevance, retrieved, &mut ranking);
        clock.lap("cut");
        if let Some(gate) = &question.waived_gate {
            cut.explain_waived(&gate.verdict(&gate_evidence(retrieved, &ranking.short()), &ranking.pool));
        }
        if let Some(lean) = question.lean {
            cut.diagnostics.insert("lean".into(), lean.name().into());
        }
        for (name, relevant) in [("judged_relevant", true), ("judged_not_relevant", false)] {
            let judged = ranking.entries.iter().filter(|entry| entry.label == Some(relevant)).count();
            if judged > 0 {
                cut.diagnostics.insert(name.into(), judged.into());
            }
            if judged > 0 && cut.keep == 0 && !relevant {
                let them = if judged == 1 { "1 result was" } else { &format!("{judged} results were") };
                cut.reason = format!("{}; {them} judged not relevant", cut.reason.trim_end_matches('.'));
            }
        }
        entries::explain(&mut cut, &ranking);
        let warning = thresholds.as_ref().and_then(|thresholds| thresholds.warning.clone());
        ranking.warning = joined(warning, ranking.warning);
        let thresholds = thresholds.filter(|_| rule.reads_thresholds());
        let replaced = joined(replaced, rejected(&ranking, retrieved, thresholds.as_ref()));
        let admitted_by_words = ranking.pool.admitted().is_some_and(|admitted| admitted.by_similarity == 0);
        let mode = if admitted_by_words && thresholds.is_some() { Mode::Lexical } else { plan.mode };
        Ok(Decided { ranking, cut, token_budget: rule.token_budget(), mode, scoring, replaced })
    }

    /// Refuses a rule that reads similarities if the caller asked for words alone.
    pub(crate) fn check_rule(&self, rule: &dyn Rule, request: &SearchRequest) -> Result<(), Error> {
        if !request.mode.unwrap_or(self.index.config.search.mode).semantic() && rule.scale() == Scale::Similarity {
            let allowed = "one that does not read similarity, which lexical mode has none of (such as background)";
            return Err(Error::argument("cut", rule.name(), allowed));
        }
        Ok(())
    }

    /// Returns the rule that takes the place of `rule` if it reads similarities and the search has no vectors.
    pub(crate) fn replacement(&self, rule: &dyn Rule, mode: Mode) -> Result<Option<Box<dyn Rule>>, Error> {
        if mode.semantic() || rule.scale() != Scale::Similarity {
            return Ok(None);
        }
        let background = self.index.config.cut("background");
        background.map(Some).map_err(|error| Error::argument("cut", "background", error.to_string()))
    }
}

/// A kept entry with its other relevant passages.
pub(super) struct Kept<'r> {
    pub entry: &'r Entry,
    /// Best first.
    pub further: Vec<&'r Candidate>,
}

impl Decided {
    /// Returns the kept entries. Their other relevant passages are those whose own value is at least that of the last kept entry,
    /// without comments that say nothing. The best passages take their share of a token budget first; a further passage that does not
    /// fit into the rest is skipped.
    pub fn kept(&self) -> Vec<Kept<'_>> {
        let Decided { ranking, cut, .. } = self;
        // A cut that leaves nothing out leaves no passage out either.
        let line = match cut.dropped {
            0 => Some(f64::NEG_INFINITY),
            _ => cut.keep.checked_sub(1).and_then(|last| ranking.pool.values().get(last)).copied(),
        };
        let entries = ranking.entries.iter().take(cut.keep);
        let mut kept: Vec<Kept> = entries.map(|entry| Kept { entry, further: Vec::new() }).collect();
        let tokens = |candidate: &Candidate| tamis_text::estimate_tokens(&candidate.passage.text);
        let best = || -> usize { kept.iter().map(|kept| tokens(&kept.entry.best)).sum() };
        let mut left = self.token_budget.map(|budget| budget.saturating_sub(best()));
        let reaches =
            |one: &&Candidate| !one.hidden && one.value.is_finite() && line.is_some_and(|line| one.value >= line);
        let mut found: Vec<(usize, &Candidate)> = Vec::new();
        for (at, entry) in ranking.entries.iter().enumerate().take(kept.len()) {
            found.extend(entry.others.iter().filter(reaches).map(|other| (at, other)));
        }
        found.sort_by(|(_, a), (_, b)| b.value.total_cmp(&a.value).then(a.place.cmp(&b.place)));
        for (at, candidate) in found {
            if left.is_none_or(|left| tokens(candidate) <= left) {
                left = left.map(|left| left - tokens(candidate));
                kept[at].further.push(candidate);
            }
        }
        kept
    }
}

/// Decides how many entries are relevant. The ranking's pool becomes the one that the rule read.
pub(super) fn cut(
    rule: &dyn Rule,
    gate: Option<&Gate>,
    relevance: Relevance,
    retrieved: &Retrieved,
    ranking: &mut Ranking,
) -> CutReport {
    let mut pool = ranking.pool.clone().with_relevance(relevance);
    if rule.reads_sizes() {
        let tokens = |entry: &Entry| tamis_text::estimate_tokens(&entry.best.passage.text);
        pool = pool.with_sizes(ranking.entries.iter().map(tokens).collect());
    }
    if ranking.weighed {
        pool = pool.with_probabilities(ranking.probabilities());
    }
    let short = ranking.short();
    let cut = match gate {
        Some(gate) => gate.cut(&gate_evidence(retrieved, &short), rule, &pool),
        None => rule.cut(&pool),
    };
    ranking.pool = pool;
    let mut report = CutReport::from(cut);
    if !report.probabilities.is_empty() {
        let mut probabilities = report.probabilities.iter().copied();
        ranking.entries.iter_mut().for_each(|entry| entry.probability = probabilities.next());
    }
    report.explain_short(short.len());
    report.diagnostics.append(&mut ranking.diagnostics);
    report
}

/// Returns the absolute evidence of the best candidates, over all phrasings. Those that fall short of the threshold of their
/// language give none.
pub(super) fn gate_evidence(retrieved: &Retrieved, short: &HashSet<PassageId>) -> tamis_cut::Evidence {
    let Retrieved { candidates, statistics, phrased, .. } = retrieved;
    let counts = |passage: PassageId| !short.contains(&passage);
    let candidates = || candidates.iter().filter(|candidate| counts(candidate.id()));
    let phrased = phrased.iter().flat_map(|phrased| &phrased.found).filter(|(passage, _)| counts(*passage));
    let scores: Vec<&Scores> =
        candidates().map(|candidate| &candidate.scores).chain(phrased.map(|(_, scores)| scores)).collect();
    let best = |values: &mut dyn Iterator<Item = f64>| values.filter(|value| value.is_finite()).reduce(f64::max);
    let coverage = best(&mut scores.iter().filter_map(|scores| scores.coverage));
    let background = statistics.semantic.as_ref().map(|background| Background {
        mean: f64::from(background.mean),
        deviation: f64::from(background.deviation),
        count: background.count as usize,
    });
    tamis_cut::Evidence {
        coverage: statistics.lexical.as_ref().map(|_| coverage.unwrap_or(0.0)),
        best_similarity: best(&mut scores.iter().filter_map(|scores| scores.similarity)),
        background,
        reference: retrieved.plan.model.as_ref().and_then(models::reference),
        required: best(&mut candidates().filter_map(|candidate| candidate.required)),
        exact: candidates().any(|candidate| candidate.exact.is_some()),
    }
}

/// Returns the reason if the thresholds refused every candidate of the semantic leg.
fn rejected(ranking: &Ranking, retrieved: &Retrieved, thresholds: Option<&Thresholds>) -> Option<String> {
    let refuses_all = ranking.pool.admitted().is_none_or(|admitted| admitted.by_similarity == 0);
    let thresholds = thresholds.filter(|_| refuses_all)?;
    retrieved.statistics.semantic.as_ref()?;
    let similarity = |candidate: &&Candidate| candidate.scores.similarity.unwrap_or(f64::NEG_INFINITY);
    let best = ranking.candidates().into_iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    let language = retrieved.question.hint.or(best.passage.language.as_deref());
    Some(format!(
        "every candidate is below the threshold of its language, the best with similarity {:.2} under {:.2} for {}",
        best.scores.similarity?,
        thresholds.threshold(language),
        language.unwrap_or("any language"),
    ))
}
