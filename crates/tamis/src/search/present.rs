//! Turns ranked passages into the results and the pool of an answer.

use super::answer::{Hit, Nearest, PoolEntry};
use super::arrange::Placed;
use super::candidate::Ranked;
use super::decay::SearchDecay;
use super::question::Question;
use super::rerank::Rerank;
use super::{metadata, snippet};
use tamis_store::{Attribute, Highlighter, StoredPassage};

/// Creates one result.
pub(super) fn present(
    rank: usize,
    hit: &Ranked,
    score: f64,
    known: Vec<Attribute>,
    question: &Question,
    highlighter: Option<&Highlighter>,
    lines: usize,
) -> Hit {
    let passage = &hit.passage;
    let snippet = snippet::best(&passage.text, passage.start_line, passage.form, highlighter, lines);
    Hit {
        rank,
        id: passage.id.clone(),
        collection: passage.collection.clone(),
        namespace: passage.namespace.clone(),
        shared: question.scope.shared.contains(&passage.namespace),
        path: passage.path.clone(),
        start_line: passage.start_line,
        end_line: passage.end_line,
        title: passage.heading.clone().or_else(|| passage.title.clone()),
        symbol: passage.symbol.clone(),
        kind: passage.kind.clone(),
        language: passage.language.clone(),
        author: passage.author.clone(),
        dated_at: passage.dated_ns.map(|ns| metadata::moment(ns).to_string()),
        attributes: metadata::by_name(known),
        bm25: hit.candidate.bm25,
        similarity: hit.candidate.similarity,
        score,
        snippet: snippet.text,
        snippet_line: snippet.start_line,
        highlights: snippet.highlights,
    }
}

/// Returns the best candidate of an answer without results.
pub(super) fn nearest(hit: &Ranked) -> Nearest {
    let passage = &hit.passage;
    Nearest {
        id: passage.id.clone(),
        namespace: passage.namespace.clone(),
        path: passage.path.clone(),
        start_line: passage.start_line,
        title: passage.heading.clone().or_else(|| passage.title.clone()),
        symbol: passage.symbol.clone(),
    }
}

/// Returns every candidate, for an explanation.
pub(super) fn entries(
    ranked: &[Ranked],
    keep: usize,
    placed: &[Placed],
    rerank: &Rerank,
    decay: &SearchDecay<'_>,
    now_ns: i64,
) -> Vec<PoolEntry> {
    let days = |date: i64| ((now_ns as f64 - date as f64) / 86_400e9).max(0.0);
    let date = |passage: &StoredPassage| match rerank.by_age() {
        true => Rerank::date(passage),
        false => decay.date(passage),
    };
    let entry = |(at, hit): (usize, &Ranked)| PoolEntry {
        kept: at < keep,
        rank: None,
        namespace: hit.passage.namespace.clone(),
        distance_factor: hit.adjustment.factor,
        age_days: date(&hit.passage).map(days),
        decay: hit.decay,
        path: hit.passage.path.clone(),
        start_line: hit.passage.start_line,
        symbol: hit.passage.symbol.clone(),
        role: hit.passage.role.clone(),
        bm25: hit.candidate.bm25,
        similarity: hit.candidate.similarity,
        coverage: hit.candidate.coverage,
        score: hit.score,
    };
    let mut entries: Vec<PoolEntry> = ranked.iter().enumerate().map(entry).collect();
    for (placed, rank) in placed.iter().zip(1..) {
        entries[placed.position].rank = Some(rank);
    }
    entries
}
