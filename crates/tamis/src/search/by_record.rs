//! Search among fragments or claims of the evidence graph: the results are records, ordered by similarity alone.

use super::answer::CutReport;
use super::candidate::Ranked;
use super::decide::{self, Decision, Grounds, Listed};
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
use tamis_cut::{Rule, Verdict};
use tamis_embed::Embedder;
use tamis_rank::{Adjustment, Fusion};
use tamis_store::{DocumentId, Filter, ScoringKey, ScoringKind, StoredPassage};

/// Passages that a record is expected to have, for the first look. Few texts are longer than a passage.
const PASSAGES_OF_A_RECORD: usize = 1;

/// What is looked for among the records.
pub(crate) struct EvidenceQuery<'a> {
    /// The text, the leg that proposes (both: words do) and whose records are read.
    pub request: &'a SearchRequest,
    /// Which records are looked at.
    pub filter: Filter,
    /// Most records proposed.
    pub candidates: usize,
    /// Where relevance ends.
    pub end: End<'a>,
    /// Most records given.
    pub limit: usize,
    /// Where the call comes from, as it is recorded.
    pub entry_point: &'a str,
}

/// Where relevance ends.
pub(crate) enum End<'a> {
    /// At a similarity.
    Similarity(f64),
    /// Where a rule says, after the gate of every search.
    Rule(&'a dyn Rule),
    /// Where a rule says, whatever the gate does; its verdict comes along.
    RuleAlone(&'a dyn Rule),
}

/// The result.
pub(crate) struct FoundEvidence {
    /// All that was proposed and has a vector, most similar first.
    pub records: Vec<FoundRecord>,
    /// How many of the first are kept, and why.
    pub cut: CutReport,
    /// What the gate says.
    pub verdict: Verdict,
    /// Passages that the filter leaves.
    pub searched: u64,
    /// The model that compared.
    pub model: String,
    /// The reason why that is not the best one configured.
    pub fallback_reason: Option<String>,
    pub warnings: Vec<String>,
    /// The identifier under which it is recorded.
    pub query_id: Option<String>,
    pub timings_ms: BTreeMap<String, f64>,
}

/// A record that was proposed.
pub(crate) struct FoundRecord {
    /// Its passage that is most similar.
    pub passage: StoredPassage,
    pub similarity: f64,
    /// Its place among what words propose, from 1, and the BM25 of the passage that gave it.
    pub proposed: Option<(usize, f64)>,
}

impl Searcher<'_> {
    /// The records that a text brings in, most similar first, and where they end. Words propose where the mode is hybrid, and
    /// have no part in the order.
    ///
    /// # Errors
    /// An argument out of range, no model with vectors of what is searched, a damaged index, or a model that fails.
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
        // Before what is not proposed is left out: that nothing stands out is said of all that there is.
        let known = decide::known(&retrieved.gathered, &HashSet::new(), models::reference(&model), None);
        let verdict = self.index.config.gate.judge(&known);
        let (mut listed, proposed) = listed(&mut retrieved, passages, query);
        clock.lap("rank");

        let decision = self.ended(&retrieved, &mut listed, query)?;
        clock.lap("cut");
        let Decision { report: cut, probabilities, pool, .. } = decision;
        let fusion = BY_SIMILARITY;
        let decided = Decided {
            mode: retrieved.mode,
            scoring: ScoringKey::new(ScoringKind::Evidence, fusion).with("proposed", query.candidates),
            rerank: Rerank::none(&self.index.config.rank),
            probabilities,
            pool,
            // What is asked of evidence says nothing of what is asked of everything else.
            coverage_drop: None,
            evidence: None,
            replaced: None,
            warning: None,
            cut,
            ranked: take(&mut listed.ranked),
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

    /// What the legs find, as deep as it takes for so many different records.
    fn proposals(
        &self,
        query: &EvidenceQuery<'_>,
        clock: &mut Stopwatch,
    ) -> Result<(Retrieved, Vec<StoredPassage>), Error> {
        let mut depth = query.candidates * PASSAGES_OF_A_RECORD;
        loop {
            let (retrieved, passages) = self.retrieve(query.request, &query.filter, depth, clock)?;
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

    /// Where the records end.
    fn ended(&self, retrieved: &Retrieved, listed: &mut Listed, query: &EvidenceQuery<'_>) -> Result<Decision, Error> {
        let gate = retrieved.question.gate.as_ref();
        let reference = retrieved.model.as_deref().and_then(|model| models::reference(model.model()));
        let (rule, gate) = match query.end {
            End::Rule(rule) => (rule, gate),
            End::RuleAlone(rule) => (rule, None),
            End::Similarity(least) => {
                let beyond = retrieved.coverage.passages > listed.values.len() as u64;
                let cut = least_similarity(&listed.values, least, beyond);
                let pool = decide::pool(take(&mut listed.values), None, 0, None, &Default::default())?;
                return Ok(Decision { report: cut, probabilities: None, pool, coverage_drop: None, evidence: None });
            }
        };
        let grounds = Grounds { gate, reference, prior: Default::default() };
        decide::decide(rule, &grounds, &retrieved.gathered, listed)
    }

    /// Takes the search down, one that found nothing too.
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

/// The order: the similarity as it is, so that no value of BM25 can have a part in it.
const BY_SIMILARITY: Fusion = Fusion::Weighted { weight: 1.0 };

/// The records that the leg which proposes has found, each by its best passage there: its position and its score.
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

/// The proposed records by their most similar passages, most similar first, and the place of each among what words propose.
/// What has no similarity has no place in the order; the gathered candidates are then those of the list.
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
        let ranked = Ranked { candidate, passage, adjustment: Adjustment::of(1.0, 1.0), decay: 1.0, score };
        places.contains_key(&ranked.passage.document).then_some(ranked)
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.candidate.passage.cmp(&b.candidate.passage)));
    let mut seen = HashSet::new();
    ranked.retain(|ranked| seen.insert(ranked.passage.document));
    retrieved.gathered.candidates = ranked.iter().map(|ranked| ranked.candidate.clone()).collect();
    let values = ranked.iter().map(|ranked| ranked.score).collect();
    let listed =
        Listed { ranked, values, background, admitted: None, source_tables: Vec::new(), short: HashSet::new() };
    (listed, if by_words { places } else { HashMap::new() })
}

/// A least similarity as a cut. `beyond`: the candidates are not all that there is.
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
