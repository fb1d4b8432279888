//! The evidence on each entry of a list, as the model of relevance reads it.

use super::candidate::Ranked;
use super::listed::Listed;
use super::retrieve::Retrieved;
use crate::collections::CODE;
use crate::models;
use tamis_rank::{EntryFeatures, QueryFeatures};

/// Standard deviations above the mean of the background that replace the reference of a model that was not measured.
const REFERENCE_DEVIATIONS: f64 = 4.5;

/// Returns the evidence on the entries of a list, in their order.
pub(super) fn features(retrieved: &Retrieved, listed: &Listed) -> (QueryFeatures, Vec<EntryFeatures>) {
    let background = retrieved.gathered.semantic.as_ref();
    let reference = retrieved.model.as_deref().and_then(|model| models::reference(model.model())).or_else(|| {
        let spread = |b: &tamis_store::Background| f64::from(b.mean) + REFERENCE_DEVIATIONS * f64::from(b.deviation);
        background.map(spread)
    });
    let share = |ranked: &Ranked| {
        let known = ranked.candidate.similarity.zip(reference.filter(|&reference| reference > 0.0));
        known.map_or(0.0, |(similarity, reference)| similarity / reference)
    };
    let deviation = |ranked: &Ranked| {
        let known = ranked.candidate.similarity.zip(background.filter(|background| background.deviation > 0.0));
        known.map_or(0.0, |(similarity, b)| (similarity - f64::from(b.mean)) / f64::from(b.deviation))
    };
    let coverage = |ranked: &Ranked| ranked.candidate.coverage.unwrap_or(0.0);
    let counted = listed.entries.as_ref().map_or(listed.ranked.len(), Vec::len);
    let low = listed.background.unwrap_or(0.0);
    let span = listed.ranked[..counted].iter().map(|ranked| ranked.score - low).fold(0.0, f64::max);
    let scaled = |value: f64| if span > 0.0 && value.is_finite() { value / span } else { 0.0 };
    let paths = &retrieved.question.paths;
    let entry = |(rank, ranked): (usize, &Ranked)| {
        let further = listed.entries.as_ref().map_or(&[][..], |entries| &entries[rank].further);
        let all = || further.iter().map(|&at| &listed.ranked[at]).chain([ranked]);
        EntryFeatures {
            similarity: share(ranked),
            similarity_max: all().map(share).fold(f64::NEG_INFINITY, f64::max),
            deviation: deviation(ranked),
            coverage: coverage(ranked),
            coverage_max: all().map(coverage).fold(0.0, f64::max),
            rank,
            normalized_score: scaled(ranked.score - low),
            added: scaled(ranked.added),
            passages: 1 + further.len(),
            is_main: ranked.passage.role == "main",
            is_code: ranked.passage.collection == CODE,
            exact: all().any(|ranked| ranked.first.is_some()),
            name: paths.match_score(&ranked.passage.path),
            required: ranked.candidate.required,
            late: ranked.late,
            characters: ranked.passage.text.len(),
            lines: ranked.passage.text.lines().filter(|line| !line.trim().is_empty()).count(),
        }
    };
    let entries: Vec<EntryFeatures> = listed.ranked[..counted].iter().enumerate().map(entry).collect();
    let best = |of: fn(&EntryFeatures) -> f64| entries.iter().map(of).fold(0.0, f64::max);
    let query = QueryFeatures {
        words: retrieved.gathered.lexical.as_ref().map_or(0, |s| s.terms.iter().filter(|term| !term.compound).count()),
        passages: retrieved.coverage.passages,
        best_similarity: best(|entry| entry.similarity),
        best_coverage: best(|entry| entry.coverage),
    };
    (query, entries)
}
