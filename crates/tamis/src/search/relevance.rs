//! Weighs the evidence on each entry: the models of relevance order the list, and give each entry the probability that a cut reads.

use super::candidate::Candidate;
use super::plan::joined;
use super::rank::MAIN;
use super::rank_factors::is_program;
use super::ranking::{Entry, Ranking};
use super::reranker::{Reranker, rerank};
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::shift::{JUDGEMENTS, shift_all};
use crate::Error;
use crate::config::Mode;
use crate::models;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use tamis_cut::Gate;
use tamis_embed::Provider;
use tamis_rank::{Basis, EntryFeatures, QueryFeatures, Relevance, probability, relevance};
use tamis_store::PassageId;
use tamis_text::Role;

/// The diagnostic with the evidence on the whole list, which only an explanation has.
pub(super) const ANSWER_EVIDENCE: &str = "answer_evidence";

/// The log odds of an entry that falls short of the threshold of its language: it is never kept.
const IMPOSSIBLE: f64 = -40.0;

/// First entries whose texts are searched for the names in the query.
const NAMED_ENTRIES: usize = 80;

/// The probabilities of an answer below and above which the better model would change nothing. Above, words must cover the query, too.
const HOPELESS: f64 = 0.02;
const CERTAIN: f64 = 0.9;

impl Searcher<'_> {
    /// Weighs the evidence on the entries of a list, and puts them in its order, which gives each its probability. `reranker`
    /// reads the first ones, if there is one.
    pub(super) fn weigh(
        &self,
        retrieved: &Retrieved,
        ranking: &mut Ranking,
        reranker: Option<&dyn Reranker>,
    ) -> Result<(), Error> {
        let mut features = Features::of(retrieved, ranking);
        let mut basis = self.basis(retrieved);
        let mut weighed = relevance(&features.query, &features.entries, basis);
        let mut unread = None;
        let question = &retrieved.question;
        if basis == Basis::Scores && !question.fast && (question.thorough || is_unsure(&weighed)) {
            unread = self.embed_on_demand(retrieved, ranking)?;
            if features.add_on_demand(&ranking.entries) {
                basis = Basis::OnDemand;
                weighed = relevance(&features.query, &features.entries, basis);
            }
        }
        note(&mut ranking.diagnostics, &weighed, basis);
        for (entry, evidence) in ranking.entries.iter_mut().zip(weighed.entries) {
            entry.evidence = Some(evidence);
            if entry.best.short {
                entry.add_evidence("below_language_threshold", 1.0, IMPOSSIBLE);
            }
        }
        let reranked = reranker.map(|reranker| rerank(reranker, &question.text, ranking));
        let shift = self.shift(retrieved);
        shift_all(&mut ranking.entries, &shift, weighed.answer_weight, Gate::default().level);
        question.judged.weigh(&mut ranking.entries);
        put_in_order(&mut ranking.entries, question.is_name());
        ranking.weighed = true;
        if shift.labels() > 0 {
            ranking.diagnostics.insert(JUDGEMENTS.to_owned(), shift.labels().into());
        }
        ranking.warning = joined(unread, reranked.and_then(Result::err));
        Ok(())
    }

    /// Returns the evidence that a search has before anything is embedded on demand.
    fn basis(&self, retrieved: &Retrieved) -> Basis {
        match (retrieved.plan.mode, &retrieved.plan.model) {
            (Mode::Lexical, _) => Basis::Words,
            (Mode::Semantic, _) => Basis::Meaning,
            (Mode::Hybrid, Some(model)) if model.provider != Provider::Static => Basis::Embedded,
            (Mode::Hybrid, _) => Basis::Scores,
        }
    }
}

/// Orders entries by the evidence on them, and gives each its probability. `is_name`: the query is a name and nothing else.
///
/// What people judged relevant comes first, and what they refused comes last. Between them, exact finds come first whatever else is
/// found, in their order. Where a query is a name, what lacks the name stands below all that holds it. Each of these is at least as
/// probable as what follows it.
fn put_in_order(entries: &mut [Entry], is_name: bool) {
    let group = |entry: &Entry| entry.label.map_or(1, |relevant| if relevant { 0 } else { 2 });
    let find = |entry: &Entry| entry.first_find().filter(|_| entry.label != Some(false)).unwrap_or(usize::MAX);
    let holds = |entry: &Entry| entry.passages().filter_map(|one| one.required).fold(0.0, f64::max) >= 1.0;
    let lacks = |entry: &Entry| is_name && entry.label.is_none() && !holds(entry);
    entries.sort_by(|a, b| b.log_odds().total_cmp(&a.log_odds()));
    entries.sort_by_cached_key(|entry| (group(entry), find(entry), lacks(entry)));
    let any_lacks = entries.iter().any(lacks);
    let mut least = 0.0_f64;
    for entry in entries.iter_mut().rev() {
        let own = probability(entry.log_odds());
        least = least.max(own);
        let is_above = find(entry) < usize::MAX || entry.label.is_some() || any_lacks && !lacks(entry);
        entry.probability = Some(if is_above { least } else { own });
    }
    // Next to no text of another project holds exactly what a query asks for, so the first exact find is always shown.
    if let Some(first) = entries.first_mut().filter(|first| find(first) < usize::MAX) {
        first.probability = first.probability.map(|probability| probability.max(Gate::default().level));
    }
}

/// Returns `true` where the better model may change the answer: neither do words answer, nor does nothing speak for an answer.
fn is_unsure(weighed: &Relevance) -> bool {
    let probability = weighed.answer.probability();
    probability >= HOPELESS && !(probability >= CERTAIN && weighed.covered >= 1.0)
}

/// Notes what decided whether there is an answer.
fn note(diagnostics: &mut std::collections::BTreeMap<String, Value>, weighed: &Relevance, basis: Basis) {
    let parts: Map<String, Value> =
        weighed.answer.parts.iter().map(|part| (part.name.to_owned(), json!(part.value))).collect();
    diagnostics.insert("answer".into(), json!(weighed.answer.probability()));
    diagnostics.insert(ANSWER_EVIDENCE.into(), Value::Object(parts));
    diagnostics.insert("covered".into(), json!(weighed.covered));
    diagnostics.insert("basis".into(), basis.name().into());
}

/// What the models of relevance read of a list.
struct Features {
    query: QueryFeatures,
    entries: Vec<EntryFeatures>,
}

impl Features {
    /// Reads a ranking, in its order.
    fn of(retrieved: &Retrieved, ranking: &Ranking) -> Features {
        let Retrieved { question, statistics, phrased, .. } = retrieved;
        let background = statistics.semantic.as_ref();
        let typical = |model| models::typical_similarity(model, background);
        let reference = retrieved.plan.model.as_ref().and_then(typical).filter(|&reference| reference > 0.0);
        // Of several phrasings, the one that fits a passage best speaks for it.
        let mut by_phrasings: HashMap<PassageId, (f64, f64)> = HashMap::new();
        for (weight, (passage, scores)) in phrased.iter().flat_map(|p| p.found.iter().map(|found| (p.weight, found))) {
            let (similarity, coverage) = by_phrasings.entry(*passage).or_default();
            *similarity = similarity.max(weight * scores.similarity.unwrap_or(0.0));
            *coverage = coverage.max(weight * scores.coverage.unwrap_or(0.0));
        }
        let best_phrased = |candidate: &Candidate| by_phrasings.get(&candidate.id()).copied().unwrap_or_default();
        let similarity = |candidate: &Candidate| {
            let similarity = candidate.scores.similarity.map(|own| own.max(best_phrased(candidate).0));
            similarity.zip(reference).map_or(0.0, |(similarity, reference)| similarity / reference)
        };
        let coverage = |candidate: &Candidate| candidate.scores.coverage.unwrap_or(0.0).max(best_phrased(candidate).1);
        let scores = ranking.entries.iter().map(|entry| entry.best.score);
        let best = scores.filter(|score| score.is_finite()).fold(0.0, f64::max);
        // Reciprocal ranks have no background.
        let low = ranking.background().filter(|&background| background < best).unwrap_or(0.0);
        let scaled = |score: f64| if best > low && score.is_finite() { (score - low) / (best - low) } else { 0.0 };
        let title = |Candidate { passage, .. }: &Candidate| {
            let heading = || passage.heading.as_deref()?.rsplit(" > ").next();
            let symbol = || passage.symbol.as_deref()?.rsplit([':', '.', '#', '/']).next();
            // Generated code has the names of what people wrote elsewhere.
            let written = passage.role != Role::Generated.as_str();
            symbol().or_else(heading).filter(|_| written).map_or(0.0, |title| question.paths.share_in(title))
        };
        let held = |entry: &Entry| {
            let texts: Vec<&str> = entry.passages().flat_map(named_texts).collect();
            question.proper_names.held(&texts)
        };
        let held: Vec<Vec<bool>> = ranking.entries.iter().take(NAMED_ENTRIES).map(held).collect();
        let names = question.proper_names.len();
        let share = |held: usize| if names == 0 { 0.0 } else { held as f64 / names as f64 };
        let held_by = |rank: usize| held.get(rank).map_or(0, |held| held.iter().filter(|held| **held).count());
        let features = |(rank, entry): (usize, &Entry)| EntryFeatures {
            similarity: similarity(&entry.best),
            similarity_max: entry.passages().map(similarity).fold(f64::NEG_INFINITY, f64::max),
            coverage: coverage(&entry.best),
            coverage_max: entry.passages().map(coverage).fold(0.0, f64::max),
            passages: 1 + entry.others.len(),
            rank,
            normalized_score: scaled(entry.best.score),
            is_main: entry.best.passage.role == MAIN,
            is_program: is_program(&entry.best.passage),
            exact: entry.first_find().is_some(),
            name: question.paths.match_score(&entry.best.passage.path),
            title: entry.passages().map(title).fold(0.0, f64::max),
            required: entry.best.required.unwrap_or(0.0),
            names: share(held_by(rank)),
            characters: entry.best.passage.text.len(),
            on_demand: None,
        };
        let terms = statistics.lexical.iter().flat_map(|statistics| &statistics.terms);
        let words: Vec<u64> = terms.filter(|term| !term.compound).map(|term| term.document_frequency).collect();
        let missing = words.iter().filter(|&&documents| documents == 0).count();
        let missing_names = (0..names).filter(|&name| held.iter().all(|held| !held[name])).count();
        let best_phrasing = by_phrasings.values().map(|&(_, coverage)| coverage).fold(0.0, f64::max);
        let query = QueryFeatures {
            words: words.len(),
            // What no passage has of one phrasing, another one can say.
            missing_words: (missing as f64 / words.len().max(1) as f64).min(1.0 - best_phrasing),
            names,
            missing_names: share(missing_names),
            passages: retrieved.plan.coverage.passages,
            reads_required: ranking.entries.iter().any(|entry| entry.best.required.is_some()),
            // That of the query itself says nothing of its other phrasings.
            background: background.filter(|_| by_phrasings.is_empty()).zip(reference).map(|(background, reference)| {
                (f64::from(background.mean) / reference, f64::from(background.deviation) / reference)
            }),
        };
        Features { query, entries: ranking.entries.iter().enumerate().map(features).collect() }
    }

    /// Adds the similarities under the better model. Returns `true` if there is one.
    fn add_on_demand(&mut self, entries: &[Entry]) -> bool {
        for (features, entry) in self.entries.iter_mut().zip(entries) {
            features.on_demand = entry.passages().filter_map(|candidate| candidate.late).reduce(f64::max);
        }
        self.entries.iter().any(|features| features.on_demand.is_some())
    }
}

/// The texts of a passage that can hold a name.
fn named_texts(candidate: &Candidate) -> impl Iterator<Item = &str> {
    let passage = &candidate.passage;
    let titles = [&passage.symbol, &passage.heading, &passage.title].into_iter().flatten().map(String::as_str);
    [passage.text.as_str(), passage.path.as_str()].into_iter().chain(titles)
}
