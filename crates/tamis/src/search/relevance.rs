//! Weighs the evidence on each entry: the model of relevance orders the list, and gives each entry the probability that a cut reads.

use super::candidate::Ranked;
use super::listed::Listed;
use super::plan::joined;
use super::rank::MAIN;
use super::reranker::{Reranker, rerank};
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::shift::{JUDGEMENTS, shift_all};
use crate::Error;
use crate::config::Mode;
use crate::models;
use std::collections::HashMap;
use tamis_cut::Gate;
use tamis_rank::{EntryFeatures, Legs, QueryFeatures, WeighedEvidence, late_weight, relevance};
use tamis_store::PassageId;

/// The log odds of an entry that falls short of the threshold of its language: it is never kept.
const IMPOSSIBLE: f64 = -40.0;

impl Searcher<'_> {
    /// Weighs the evidence on the entries of a list, and puts them in its order, which gives each its probability. `reranker`
    /// reads the first ones, if there is one.
    pub(super) fn weigh(
        &self,
        retrieved: &Retrieved,
        listed: &mut Listed,
        reranker: Option<&dyn Reranker>,
    ) -> Result<(), Error> {
        let first: Vec<f64> = listed.ranked.iter().take(3).filter_map(|ranked| ranked.candidate.coverage).collect();
        let reads = retrieved.plan.mode == Mode::Hybrid && !retrieved.question.fast;
        let late_weight = if reads { late_weight(&first) } else { 0.0 };
        let unread = if late_weight > 0.0 { self.read_late(retrieved, listed)? } else { None };
        let (query, entries) = features(retrieved, listed);
        let is_read = entries.iter().any(|entry| entry.late.is_some());
        let late_weight = if is_read { late_weight } else { 0.0 };
        let mut evidence = relevance(&query, &entries, legs(retrieved.plan.mode), late_weight);
        for (weighed, ranked) in evidence.iter_mut().zip(&listed.ranked) {
            if listed.short.contains(&ranked.candidate.passage) {
                *weighed = std::mem::take(weighed).with("below_language_threshold", 1.0, IMPOSSIBLE);
            }
        }
        let reranked = reranker.map(|reranker| rerank(reranker, &retrieved.question.text, listed, &mut evidence));
        let best = evidence.iter().map(|weighed| weighed.log_odds).fold(f64::NEG_INFINITY, f64::max);
        let gate = Gate::default();
        let shift = self.shift(retrieved).for_list(best, gate.min_probability, gate.min_each);
        shift_all(&mut evidence, &shift);
        retrieved.question.judged.weigh(listed, &mut evidence);
        let judged: Vec<Option<bool>> =
            listed.ranked.iter().take(evidence.len()).map(|ranked| ranked.judged_relevant).collect();
        // What people judged relevant comes first, and what they refused comes last. Between them, exact finds come first whatever
        // else is found, in their order, and are at least as probable as what follows.
        let find = |at: usize| {
            if judged[at] == Some(false) {
                return usize::MAX;
            }
            let all = listed.further(at).iter().copied().chain([at]).filter_map(|at| listed.ranked[at].first);
            all.min().unwrap_or(usize::MAX)
        };
        let finds: Vec<usize> = (0..evidence.len()).map(find).collect();
        let mut order: Vec<usize> = (0..evidence.len()).collect();
        let group = |at: usize| judged[at].map_or(1, |relevant| if relevant { 0 } else { 2 });
        order.sort_by(|&a, &b| {
            let by_odds = || evidence[b].log_odds.total_cmp(&evidence[a].log_odds);
            group(a).cmp(&group(b)).then(finds[a].cmp(&finds[b])).then_with(by_odds).then(a.cmp(&b))
        });
        let mut least = 0.0_f64;
        let mut probabilities: Vec<f64> = order
            .iter()
            .rev()
            .map(|&at| {
                let own = evidence[at].probability();
                least = least.max(own);
                if finds[at] < usize::MAX || judged[at].is_some() { least } else { own }
            })
            .collect();
        probabilities.reverse();
        listed.reorder(&order);
        let mut taken: Vec<Option<WeighedEvidence>> = evidence.into_iter().map(Some).collect();
        listed.evidence = order.iter().filter_map(|&at| taken[at].take()).collect();
        (listed.probabilities, listed.order) = (Some(probabilities), order);
        let mut note = |name: &str, figure: serde_json::Value| listed.diagnostics.insert(name.to_owned(), figure);
        if shift.labels() > 0 {
            note(JUDGEMENTS, shift.labels().into());
        }
        if late_weight > 0.0 {
            note("late_weight", late_weight.into());
        }
        listed.warning = joined(unread, reranked.and_then(Result::err));
        Ok(())
    }
}

fn legs(mode: Mode) -> Legs {
    match mode {
        Mode::Hybrid => Legs::Both,
        Mode::Lexical => Legs::Words,
        Mode::Semantic => Legs::Meaning,
    }
}

/// Returns the evidence on the entries of a list, in its order.
fn features(retrieved: &Retrieved, listed: &Listed) -> (QueryFeatures, Vec<EntryFeatures>) {
    let background = retrieved.gathered.semantic.as_ref();
    let typical = |model| models::typical_similarity(model, background);
    let reference = retrieved.plan.model.as_ref().and_then(typical).filter(|&reference| reference > 0.0);
    // Of several phrasings, the one that fits a passage best speaks for it.
    let mut phrased: HashMap<PassageId, (f64, f64)> = HashMap::new();
    for (weight, candidate) in
        retrieved.gathered.phrased.iter().flat_map(|p| p.candidates.iter().map(|c| (p.weight, c)))
    {
        let (similarity, coverage) = phrased.entry(candidate.passage).or_default();
        *similarity = similarity.max(weight * candidate.similarity.unwrap_or(0.0));
        *coverage = coverage.max(weight * candidate.coverage.unwrap_or(0.0));
    }
    let best_phrased = |ranked: &Ranked| phrased.get(&ranked.candidate.passage).copied().unwrap_or_default();
    let similarity = |ranked: &Ranked| {
        let similarity = ranked.candidate.similarity.map(|own| own.max(best_phrased(ranked).0));
        similarity.zip(reference).map_or(0.0, |(similarity, reference)| similarity / reference)
    };
    let coverage = |ranked: &Ranked| ranked.candidate.coverage.unwrap_or(0.0).max(best_phrased(ranked).1);
    let entries = listed.counted();
    let best = entries.iter().map(|ranked| ranked.score).filter(|score| score.is_finite()).fold(0.0, f64::max);
    // Reciprocal ranks have no background.
    let low = listed.background().filter(|&background| background < best).unwrap_or(0.0);
    let scaled = |score: f64| if best > low && score.is_finite() { (score - low) / (best - low) } else { 0.0 };
    let title = |ranked: &Ranked| {
        let heading = || ranked.passage.heading.as_deref()?.rsplit(" > ").next();
        let symbol = || ranked.passage.symbol.as_deref()?.rsplit([':', '.', '#', '/']).next();
        symbol().or_else(heading).map_or(0.0, |title| retrieved.question.paths.share_in(title))
    };
    let entry = |(rank, ranked): (usize, &Ranked)| {
        let all = || listed.further(rank).iter().map(|&at| &listed.ranked[at]).chain([ranked]);
        EntryFeatures {
            similarity: similarity(ranked),
            similarity_max: all().map(similarity).fold(f64::NEG_INFINITY, f64::max),
            coverage: coverage(ranked),
            coverage_max: all().map(coverage).fold(0.0, f64::max),
            rank,
            normalized_score: scaled(ranked.score),
            is_main: ranked.passage.role == MAIN,
            exact: all().any(|ranked| ranked.first.is_some()),
            name: retrieved.question.paths.match_score(&ranked.passage.path),
            title: all().map(title).fold(0.0, f64::max),
            required: ranked.candidate.required.unwrap_or(0.0),
            characters: ranked.passage.text.len(),
            late: ranked.late,
        }
    };
    let terms = retrieved.gathered.lexical.iter().flat_map(|statistics| &statistics.terms);
    let query = QueryFeatures {
        words: terms.filter(|term| !term.compound).count(),
        passages: retrieved.plan.coverage.passages,
        reads_required: entries.iter().any(|ranked| ranked.candidate.required.is_some()),
    };
    (query, entries.iter().enumerate().map(entry).collect())
}
