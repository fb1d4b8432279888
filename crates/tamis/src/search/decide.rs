//! Decides how many entries are relevant: the gate and the cut, and what the answer says of them.

use std::collections::HashSet;

use tamis_cut::{Background, Gate, Rule, Scale};
use tamis_store::PassageId;

use super::answer::CutReport;
use super::candidate::{Candidate, Retrieved, Scores};
use super::context::Context;
use super::ranking::{Entry, Ranking};
use super::request::SearchRequest;
use super::rule::Thresholds;
use crate::config::Mode;
use crate::{Error, models};

/// Refuses a rule that reads similarities if the caller asked for words alone.
pub(crate) fn check_rule(context: &Context<'_>, rule: &dyn Rule, request: &SearchRequest) -> Result<(), Error> {
    if !request.mode.unwrap_or(context.index.config.search.mode).semantic() && rule.scale() == Scale::Similarity {
        let allowed = "a cut that does not read similarity, which lexical mode lacks (such as background)";
        return Err(Error::argument("cut", rule.name(), allowed));
    }
    Ok(())
}

/// Returns the rule that takes the place of `rule` if it reads similarities and the search has no vectors.
pub(crate) fn replacement(context: &Context<'_>, rule: &dyn Rule, mode: Mode) -> Result<Option<Box<dyn Rule>>, Error> {
    if mode.semantic() || rule.scale() != Scale::Similarity {
        return Ok(None);
    }
    let background = context.index.config.cut("background");
    background.map(Some).map_err(|error| Error::argument("cut", "background", error.to_string()))
}

/// Decides how many entries are relevant. The ranking's pool becomes the one that the rule read.
pub(crate) fn cut(rule: &dyn Rule, gate: Option<&Gate>, retrieved: &Retrieved, ranking: &mut Ranking) -> CutReport {
    let mut pool = ranking.pool.clone();
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
pub(crate) fn gate_evidence(retrieved: &Retrieved, short: &HashSet<PassageId>) -> tamis_cut::Evidence {
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

/// Returns the reason if the thresholds refused every candidate of the semantic retriever.
pub(crate) fn rejected(ranking: &Ranking, retrieved: &Retrieved, thresholds: Option<&Thresholds>) -> Option<String> {
    let refuses_all = ranking.pool.admitted().is_none_or(|admitted| admitted.by_similarity == 0);
    let thresholds = thresholds.filter(|_| refuses_all)?;
    retrieved.statistics.semantic.as_ref()?;
    let similarity = |candidate: &&Candidate| candidate.scores.similarity.unwrap_or(f64::NEG_INFINITY);
    let best = ranking.candidates().into_iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    let language = retrieved.query.hint.or(best.passage.language.as_deref());
    Some(format!(
        "every candidate is below the threshold of its language, the best with similarity {:.2} under {:.2} for {}",
        best.scores.similarity?,
        thresholds.threshold(language),
        language.unwrap_or("any language"),
    ))
}

/// Adds to the figures of a cut what it counted, and the number of passages behind it.
pub(crate) fn explain_counted(cut: &mut CutReport, ranking: &Ranking) {
    let counted = if ranking.grouped { "entries" } else { "passages" };
    cut.diagnostics.insert("counted".into(), counted.into());
    if ranking.grouped {
        let copies: usize = ranking.entries.iter().map(|entry| entry.copies.len()).sum();
        let others: usize = ranking.entries.iter().map(|entry| 1 + entry.others.len()).sum();
        cut.diagnostics.insert("passages".into(), (others + copies).into());
        cut.diagnostics.insert("copies".into(), copies.into());
    }
}

/// Adds to a cut how many entries people judged.
pub(crate) fn explain_labels(cut: &mut CutReport, ranking: &Ranking) {
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
}
