//! Search among fragments or claims of the evidence graph: the results are records, ordered by similarity alone.

use super::answer::CutReport;
use super::candidate::Ranked;
use super::decide::{self, Decision, Grounds};
use super::depth::Depth;
use super::listed::Listed;
use super::quality_row::Served;
use super::query::SearchRequest;
use super::rerank::Rerank;
use super::retrieve::{Decided, Retrieved};
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use crate::Error;
use crate::models;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::take;
use tamis_cut::{Gate, Rule, Verdict};
use tamis_embed::Embedder;
use tamis_rank::{Adjustment, Fusion};
use tamis_store::{DocumentId, Filter, ScoringKey, ScoringKind, StoredPassage};

/// Expected passages per record, for the depth of the first attempt. Few texts are longer than a passage.
const PASSAGES_OF_A_RECORD: usize = 1;

/// A query for records.
pub(crate) struct EvidenceQuery<'a> {
    /// The text, the leg that proposes records (words, if both are on) and the namespaces.
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
    /// The model that compared.
    pub model: String,
    /// The reason why that is not the best model configured.
    pub fallback_reason: Option<String>,
    pub warnings: Vec<String>,
    /// The identifier of the recorded search.
    pub query_id: Option<String>,
    pub timings_ms: BTreeMap<String, f64>,
}

/// A proposed record.
pub(crate) struct FoundRecord {
    /// Its most similar passage.
    pub passage: StoredPassage,
    pub similarity: f64,
    /// Its rank in the lexical leg, from 1, and the BM25 score of the passage that gave it.
    pub proposed: Option<(usize, f64)>,
}

impl Searcher<'_> {
    /// Finds the records that are similar to a text, most similar first, and the place where they end. In hybrid mode words
    /// propose the records, but do not affect the order.
    ///
    /// # Errors
    /// An argument out of range, a missing model with vectors of the searched records, a damaged index, or a failing model.
    pub(crate) fn similar_evidence(
        &self,
        query: &EvidenceQuery<'_>,
        mut clock: Stopwatch,
    ) -> Result<FoundEvidence, Error> {
        query.request.check()?;
        let (mut retrieved, passages) = self.proposals(query, &mut clock)?;
        let Some(model) = retrieved.model.as_deref().map(Embedder::model).cloned() else {
            let reason = retrieved.fallback_reason.take();
            return Err(Error::NoVectors { reason: reason.unwrap_or_else(|| "search.mode is lexical".to_owned()) });
        };
        // This comes before unproposed records are left out, since the gate judges the whole collection.
        let known = decide::known(&retrieved.gathered, &HashSet::new(), models::reference(&model));
        let verdict = Gate::default().judge(&known);
        let (mut listed, proposed) = listed(&mut retrieved, passages, query);
        clock.lap("rank");

        let decision = self.ended(&retrieved, &mut listed, query)?;
        clock.lap("cut");
        let Decision { report: mut cut, probabilities, pool, .. } = decision;
        cut.explain_words(&retrieved.question.words);
        let fusion = BY_SIMILARITY;
        let decided = Decided {
            mode: retrieved.mode,
            scoring: ScoringKey::new(ScoringKind::Evidence, fusion).with("proposed", query.candidates),
            rerank: Rerank::none(&self.index.config.rank),
            probabilities,
            evidence: Vec::new(),
            pool,
            order: None,
            replaced: None,
            warning: None,
            cut,
            ranked: take(&mut listed.ranked),
            entries: None,
            token_budget: None,
        };
        let returned = decided.cut.keep.min(query.limit);
        let query_id = self.recorded_evidence(query, &retrieved, &decided, returned, &clock);
        clock.lap("record");
        let record = |ranked: Ranked| FoundRecord {
            similarity: ranked.score,
            proposed: proposed.get(&ranked.passage.document).copied(),
            passage: ranked.passage,
        };
        Ok(FoundEvidence {
            records: decided.ranked.into_iter().map(record).collect(),
            cut: decided.cut,
            verdict,
            searched: retrieved.coverage.passages,
            model: model.id,
            fallback_reason: retrieved.fallback_reason,
            warnings: retrieved.warnings,
            query_id,
            timings_ms: if query.request.allowed_namespaces.is_some() { BTreeMap::new() } else { clock.finish() },
        })
    }

    /// Returns the candidates of the legs, as deep as it takes for this many different records.
    fn proposals(
        &self,
        query: &EvidenceQuery<'_>,
        clock: &mut Stopwatch,
    ) -> Result<(Retrieved, Vec<StoredPassage>), Error> {
        let mut depth = query.candidates * PASSAGES_OF_A_RECORD;
        loop {
            let (retrieved, passages) = self.retrieve(query.request, &query.filter, Depth::exactly(depth), clock)?;
            let found = if retrieved.mode.lexical() {
                retrieved.gathered.found.lexical
            } else {
                retrieved.gathered.found.semantic
            };
            let proposed = proposed(&retrieved, &passages).len();
            if proposed >= query.candidates || found.is_none_or(|found| found < depth) {
                return Ok((retrieved, passages));
            }
            depth *= 4;
        }
    }

    /// Decides where the records end.
    fn ended(&self, retrieved: &Retrieved, listed: &mut Listed, query: &EvidenceQuery<'_>) -> Result<Decision, Error> {
        let gate = retrieved.question.gate.as_ref();
        let reference = retrieved.model.as_deref().and_then(|model| models::reference(model.model()));
        let (rule, gate) = match query.end {
            End::Rule(rule) => (rule, gate),
            End::RuleAlone(rule) => (rule, None),
            End::Similarity(least) => {
                let beyond = retrieved.coverage.passages > listed.values.len() as u64;
                let cut = least_similarity(&listed.values, least, beyond);
                let pool = decide::pool(take(&mut listed.values), None, 0, None, Default::default())?;
                return Ok(Decision { report: cut, probabilities: None, pool });
            }
        };
        let grounds = Grounds { gate, reference, relevance: Default::default(), probabilities: None };
        decide::decide(rule, &grounds, &retrieved.gathered, listed)
    }

    /// Records the search, even if it found nothing.
    fn recorded_evidence(
        &self,
        query: &EvidenceQuery<'_>,
        retrieved: &Retrieved,
        decided: &Decided,
        returned: usize,
        clock: &Stopwatch,
    ) -> Option<String> {
        if !self.index.config.telemetry.record {
            return None;
        }
        let served = Served {
            collections: &query.filter.collections,
            returned,
            top_k: query.limit,
            ..Served::without_passages(retrieved, &decided.cut, clock)
        };
        let search = self.recorded(&retrieved.question.text, retrieved, decided);
        self.record(search, served, Some(query.entry_point))
    }
}

/// The order by plain similarity, in which BM25 has no part.
const BY_SIMILARITY: Fusion = Fusion::Weighted { weight: 1.0 };

/// Returns the records of the proposing leg, each by its best passage there: its position and its score.
fn proposed(retrieved: &Retrieved, passages: &[StoredPassage]) -> Vec<(DocumentId, f64)> {
    let by_words = retrieved.gathered.lexical.is_some();
    let scored = retrieved.gathered.candidates.iter().zip(passages).filter_map(|(candidate, passage)| {
        let score = if by_words { candidate.bm25.filter(|&bm25| bm25 > 0.0) } else { candidate.similarity };
        Some((passage.document, score.filter(|score| score.is_finite())?, candidate.passage))
    });
    let mut scored: Vec<_> = scored.collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
    let mut seen = HashSet::new();
    scored
        .into_iter()
        .filter(|(document, ..)| seen.insert(*document))
        .map(|(document, score, _)| (document, score))
        .collect()
}

/// Orders the proposed records by their most similar passages and keeps each one's rank in the proposing leg. Records without a
/// similarity are left out, and the gathered candidates become those of the list.
fn listed(
    retrieved: &mut Retrieved,
    passages: Vec<StoredPassage>,
    query: &EvidenceQuery<'_>,
) -> (Listed, HashMap<DocumentId, (usize, f64)>) {
    let by_words = retrieved.gathered.lexical.is_some();
    let background = retrieved.gathered.background().similarity;
    let places: HashMap<DocumentId, (usize, f64)> = proposed(retrieved, &passages)
        .into_iter()
        .take(query.candidates)
        .zip(1..)
        .map(|((document, score), rank)| (document, (rank, score)))
        .collect();
    let candidates = take(&mut retrieved.gathered.candidates);
    let ranked = candidates.into_iter().zip(passages).filter_map(|(candidate, passage)| {
        let score = candidate.similarity.filter(|similarity| similarity.is_finite())?;
        let ranked = Ranked {
            candidate,
            passage,
            adjustment: Adjustment::of(1.0, 1.0),
            decay: 1.0,
            score,
            value: score,
            added: 0.0,
            first: None,
            late: None,
            judged: None,
            judged_relevant: None,
        };
        places.contains_key(&ranked.passage.document).then_some(ranked)
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen = HashSet::new();
    ranked.retain(|ranked| seen.insert(ranked.passage.document));
    retrieved.gathered.candidates = ranked.iter().map(|ranked| ranked.candidate.clone()).collect();
    let values = ranked.iter().map(|ranked| ranked.score).collect();
    let listed = Listed {
        ranked,
        entries: None,
        values,
        background,
        admitted: None,
        source_tables: Vec::new(),
        short: HashSet::new(),
    };
    (listed, if by_words { places } else { HashMap::new() })
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
        dropped_non_finite: 0,
        diagnostics: [("threshold_on".to_owned(), "similarity".into())].into(),
        probabilities: Vec::new(),
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
        assert_eq!(
            all, "2 of 2 have similarity 0.5 or more; beyond them there may be more",
            "a list that the cut did not end"
        );
        assert_eq!(least_similarity(&[], 0.5, false).reason, "there is nothing to compare");
        assert_eq!(least_similarity(&[0.1, -0.2], 0.0, true).keep, 1);
    }
}
