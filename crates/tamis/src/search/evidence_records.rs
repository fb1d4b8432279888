//! Search among fragments or claims of the evidence graph: the results are records, ordered by similarity alone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tamis_cut::{Gate, Rule, Verdict};
use tamis_rank::Fusion;
use tamis_store::{DocumentId, Filter, ScoringKey, ScoringKind, StoredPassage};

use super::answer::CutReport;
use super::candidate::{Candidate, Retrieved, Statistics};
use super::context::{Context, Stopwatch};
use super::decide::{cut, gate_evidence};
use super::issues::{DocumentRetriever, retrieve_documents};
use super::ranking::{Decided, Entry, Ranking, pool};
use super::recording::{Served, recorded, write_record};
use super::request::SearchRequest;
use crate::Error;

/// Expected passages per record, for the depth of the first attempt. Few texts are longer than a passage.
const PASSAGES_OF_A_RECORD: usize = 1;

/// A query for records.
pub(crate) struct EvidenceQuery<'a> {
    /// The text, the retriever that proposes records (words, if both are on) and the namespaces.
    pub request: &'a SearchRequest,
    /// Conditions on the records.
    pub filter: Filter,
    /// Most records proposed.
    pub candidates: usize,
    /// The rule for where relevance ends.
    pub end: End<'a>,
    /// Most records returned.
    pub limit: usize,
    /// The entry point to record.
    pub entry_point: &'a str,
}

/// The end of relevance.
pub(crate) enum End<'a> {
    /// A minimum similarity.
    Similarity(f64),
    /// A rule, after the gate of every search.
    Rule(&'a dyn Rule),
    /// A rule, whatever the gate decides. The gate's verdict is still reported.
    RuleAlone(&'a dyn Rule),
}

/// The records found.
pub(crate) struct FoundEvidence {
    /// All proposed records with a vector, most similar first.
    pub records: Vec<FoundRecord>,
    /// The number of kept records, and the reason.
    pub cut: CutReport,
    /// The gate's verdict.
    pub verdict: Verdict,
    /// The number of passages that match the filter.
    pub searched: u64,
    /// How the search was made.
    pub search: SearchMetadata,
}

/// How a search for evidence was made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchMetadata {
    /// The model that made the comparison.
    pub model: String,
    /// The reason the best configured model was not used.
    pub fallback_reason: Option<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The identifier under which the search is recorded; null if it is not recorded.
    pub query_id: Option<String>,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
}

/// A proposed record.
pub(crate) struct FoundRecord {
    /// Its most similar passage.
    pub passage: Arc<StoredPassage>,
    pub similarity: f64,
    /// Its rank by the lexical retriever, from 1, and the BM25 score of the passage that gave it.
    pub proposed: Option<(usize, f64)>,
}

/// Finds the records that are similar to a text, most similar first, and the place where they end. In hybrid mode words
/// propose the records, but do not affect the order.
///
/// # Errors
/// An argument out of range, a missing model with vectors of the searched records, a damaged index, or a failing model.
pub(crate) fn similar_evidence(
    context: &Context<'_>,
    query: &EvidenceQuery<'_>,
    mut clock: Stopwatch,
) -> Result<FoundEvidence, Error> {
    query.request.check()?;
    let retrievers = |retrieved: &Retrieved| [proposals(retrieved)];
    let depth = (query.candidates, query.candidates * PASSAGES_OF_A_RECORD);
    let (mut retrieved, [proposed]) =
        retrieve_documents(context, query.request, &query.filter, depth, &mut clock, retrievers)?;
    let Some(model) = retrieved.plan.model.clone() else {
        let reason = retrieved.plan.fallback_reason.take();
        return Err(Error::NoVectors { reason: reason.unwrap_or_else(|| "search.mode is lexical".to_owned()) });
    };
    // This comes before unproposed records are left out, since the gate judges the whole collection.
    let verdict = Gate::default().judge(&gate_evidence(&retrieved, &HashSet::new()));
    let places = places(&retrieved.statistics, &proposed);
    let mut ranking = ranking(&mut retrieved, &places)?;
    clock.lap("rank");

    let mut cut = ended(&retrieved, &mut ranking, query);
    clock.lap("cut");
    cut.explain_words(&retrieved.query.words);
    let decided = Decided {
        ranking,
        cut,
        token_budget: None,
        mode: retrieved.plan.mode,
        scoring: ScoringKey::new(ScoringKind::Evidence, BY_SIMILARITY).with("proposed", query.candidates),
        replaced: None,
    };
    let returned = decided.cut.keep.min(query.limit);
    let served = Served {
        entry_point: Some(query.entry_point),
        collections: &query.filter.collections,
        kept: decided.cut.keep,
        returned,
        top_k: query.limit,
        fallback_reason: retrieved.plan.fallback_reason.clone(),
    };
    // A search is recorded even if it found nothing.
    let search = recorded(context, &retrieved, &decided);
    let query_id = write_record(context, search, &retrieved, &decided, served, &clock);
    clock.lap("record");
    let by_words = retrieved.statistics.lexical.is_some();
    let record = |Entry { best, .. }: Entry| FoundRecord {
        similarity: best.score,
        proposed: places.get(&best.passage.document).copied().filter(|_| by_words),
        passage: best.passage,
    };
    Ok(FoundEvidence {
        records: decided.ranking.entries.into_iter().map(record).collect(),
        cut: decided.cut,
        verdict,
        searched: retrieved.plan.coverage.passages,
        search: SearchMetadata {
            model: model.id,
            fallback_reason: retrieved.plan.fallback_reason,
            warnings: retrieved.warnings,
            query_id,
            timings_ms: if query.request.asker.allowed_namespaces.is_some() { BTreeMap::new() } else { clock.finish() },
        },
    })
}

/// The order by plain similarity, in which BM25 has no part.
const BY_SIMILARITY: Fusion = Fusion::Weighted { weight: 1.0 };

/// Decides where the records end.
fn ended(retrieved: &Retrieved, ranking: &mut Ranking, query: &EvidenceQuery<'_>) -> CutReport {
    let (rule, gate) = match query.end {
        End::Rule(rule) => (rule, retrieved.query.gate.as_ref()),
        End::RuleAlone(rule) => (rule, None),
        End::Similarity(least) => {
            let values = ranking.pool.values();
            return least_similarity(values, least, retrieved.plan.coverage.passages > values.len() as u64);
        }
    };
    cut(rule, gate, retrieved, ranking)
}

/// Returns the score of a passage by the retriever that proposes records: words, if they take part.
fn proposing(statistics: &Statistics, candidate: &Candidate) -> Option<f64> {
    match statistics.lexical {
        Some(_) => candidate.scores.bm25.filter(|&bm25| bm25 > 0.0),
        None => candidate.scores.similarity,
    }
}

fn proposals(Retrieved { statistics, candidates, plan, .. }: &Retrieved) -> DocumentRetriever {
    let found = if plan.mode.lexical() { statistics.found.lexical } else { statistics.found.semantic };
    DocumentRetriever::new(candidates, found, |candidate| proposing(statistics, candidate))
}

/// Returns the rank of each proposed record, from 1, and the score that gave it.
fn places(statistics: &Statistics, proposed: &[Candidate]) -> HashMap<DocumentId, (usize, f64)> {
    let place = |(candidate, rank): (&Candidate, usize)| {
        Some((candidate.passage.document, (rank, proposing(statistics, candidate)?)))
    };
    proposed.iter().zip(1..).filter_map(place).collect()
}

/// Orders the proposed records by their most similar passages. Records without a similarity are left out, and the candidates that were
/// retrieved become those of the ranking.
fn ranking(retrieved: &mut Retrieved, proposed: &HashMap<DocumentId, (usize, f64)>) -> Result<Ranking, Error> {
    let ranked = std::mem::take(&mut retrieved.candidates).into_iter().filter_map(|candidate| {
        let score = candidate.scores.similarity.filter(|similarity| similarity.is_finite())?;
        proposed.contains_key(&candidate.passage.document).then(|| candidate.ranked_by(score))
    });
    let mut ranked: Vec<Candidate> = ranked.collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen = HashSet::new();
    ranked.retain(|candidate| seen.insert(candidate.passage.document));
    retrieved.candidates.clone_from(&ranked);
    let values = ranked.iter().map(|candidate| candidate.score).collect();
    let statistics = &retrieved.statistics;
    let count = statistics.semantic.as_ref().map_or(0, |background| background.count);
    Ok(Ranking::new(ranked, pool(values, statistics.background().similarity, count)?))
}

/// Returns a minimum similarity as a cut. `beyond`: more candidates exist than these.
fn least_similarity(similarities: &[f64], least: f64, beyond: bool) -> CutReport {
    let keep = similarities.iter().take_while(|&&similarity| similarity >= least).count();
    let reason = match (keep, similarities.first()) {
        (0, None) => "there is nothing to compare".to_owned(),
        (0, Some(best)) => format!("the most similar one has {best:.4}, below {least}"),
        (keep, _) => {
            let more = if beyond && keep == similarities.len() { "; beyond them there may be more" } else { "" };
            format!("{keep} of {} have similarity {least} or more{more}", similarities.len())
        }
    };
    CutReport {
        method: "similarity".to_owned(),
        keep,
        threshold: Some(least),
        reason,
        candidates: similarities.len(),
        dropped: similarities.len() - keep,
        diagnostics: [("threshold_on".to_owned(), "similarity".into())].into(),
        ..CutReport::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_least_similarity_keeps_the_bound_itself_and_says_why_nothing_is_left() {
        let cut = least_similarity(&[0.9, 0.5, 0.4999], 0.5, true);
        assert_eq!((cut.keep, cut.dropped, cut.reason.as_str()), (2, 1, "2 of 3 have similarity 0.5 or more"));
        assert_eq!(least_similarity(&[0.4999], 0.5, true).reason, "the most similar one has 0.4999, below 0.5");
        let all = least_similarity(&[0.9, 0.5], 0.5, true).reason;
        let more = "2 of 2 have similarity 0.5 or more; beyond them there may be more";
        assert_eq!(all, more, "a list that the cut did not end");
        assert_eq!(least_similarity(&[], 0.5, false).reason, "there is nothing to compare");
        assert_eq!(least_similarity(&[0.1, -0.2], 0.0, true).keep, 1);
    }
}
