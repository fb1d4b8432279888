//! Turns ranked passages into the results and the pool of an answer.

use super::answer::{Copy, EvidencePart, FurtherPassage, Hit, Nearest, PoolEntry};
use super::arrange::Placed;
use super::candidate::Candidate;
use super::decay::SearchDecay;
use super::decide::Decided;
use super::metadata;
use super::question::Question;
use super::ranking::{Entry, entry_key, identity};
use super::snippet::{self, Snippet};
use std::collections::{HashMap, HashSet};
use tamis_rank::WeighedEvidence;
use tamis_store::{Attribute, Highlighter, PassageId, StoredPassage};

/// Makes results of passages.
pub(super) struct Shown<'a> {
    pub question: &'a Question,
    pub highlighter: Option<&'a Highlighter>,
    /// Lines of a snippet.
    pub lines: usize,
}

impl Shown<'_> {
    /// Returns the results at these places. `known` has the attributes of each one's document.
    pub fn results(&self, placed: &[Placed<'_>], known: Vec<Vec<Attribute>>) -> Vec<Hit> {
        placed.iter().zip(known).zip(1..).map(|((placed, known), rank)| self.hit(rank, placed, known)).collect()
    }

    /// Creates one result.
    fn hit(&self, rank: usize, placed: &Placed<'_>, known: Vec<Attribute>) -> Hit {
        let Placed { candidate, further, score, .. } = placed;
        let (passage, entry) = (&candidate.passage, placed.stands_for());
        let snippet = self.snippet(passage, self.lines);
        Hit {
            rank,
            id: passage.id.clone(),
            collection: passage.collection.clone(),
            namespace: passage.namespace.clone(),
            shared: self.question.scope.shared.contains(&passage.namespace),
            path: passage.path.clone(),
            start_line: passage.start_line,
            end_line: passage.end_line,
            title: title(passage),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            url: None,
            language: passage.language.clone(),
            author: passage.author.clone(),
            dated_at: dated_at(passage),
            attributes: metadata::by_name(known),
            bm25: candidate.scores.bm25,
            similarity: candidate.scores.similarity,
            score: *score,
            judged: entry.and_then(|entry| entry.judged),
            judged_relevant: entry.map_or(candidate.label, |entry| entry.label),
            probability: entry.and_then(|entry| entry.probability),
            snippet: snippet.text,
            snippet_line: snippet.start_line,
            highlights: snippet.highlights,
            entry: identity(passage),
            passages: further.iter().map(|candidate| self.further(candidate)).collect(),
            copies: copies(placed),
        }
    }

    /// Creates another passage of a result.
    fn further(&self, candidate: &Candidate) -> FurtherPassage {
        let passage = &candidate.passage;
        let snippet = self.snippet(passage, 1);
        FurtherPassage {
            id: passage.id.clone(),
            start_line: passage.start_line,
            end_line: passage.end_line,
            title: title(passage),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            author: passage.author.clone(),
            dated_at: dated_at(passage),
            score: SearchDecay::aged(candidate),
            snippet: snippet.text,
            highlights: snippet.highlights,
        }
    }

    fn snippet(&self, passage: &StoredPassage, lines: usize) -> Snippet {
        snippet::best(&passage.text, passage.start_line, passage.form, self.highlighter, lines)
    }
}

/// Returns the heading of a passage, or the title of its document.
fn title(passage: &StoredPassage) -> Option<String> {
    passage.heading.clone().or_else(|| passage.title.clone())
}

fn dated_at(passage: &StoredPassage) -> Option<String> {
    passage.dated_ns.map(|ns| metadata::moment(ns).to_string())
}

/// Returns the near-copies of the passages of one result, in their order, each document once.
fn copies(placed: &Placed<'_>) -> Vec<Copy> {
    let mut seen = HashSet::new();
    let shown = std::iter::once(&placed.candidate).chain(&placed.further);
    let copies = shown.flat_map(|candidate| placed.entry.copies_of(candidate.id()));
    let once = copies.filter(|passage| seen.insert(passage.document));
    once.map(|passage| Copy {
        id: passage.id.clone(),
        namespace: passage.namespace.clone(),
        path: passage.path.clone(),
        start_line: passage.start_line,
        end_line: passage.end_line,
    })
    .collect()
}

/// Most entries below the line, with results above it and without.
const BELOW: usize = 5;
const BELOW_NOTHING: usize = 8;

/// Most entries below the line of an answer with so many results.
pub(crate) fn most_below(results: usize) -> usize {
    if results == 0 { BELOW_NOTHING } else { BELOW }
}

/// The least probability of an entry below results. What would read <1% is hardly ever what they lack.
const BELOW_LEAST: f64 = 0.005;

/// Most of them that people judged not relevant, and that others would crowd out.
const BELOW_REFUSED: usize = 2;

/// Returns the entries below the line, best first. An entry with a passage above the line is not among them.
pub(super) fn nearest(decided: &Decided) -> Vec<Nearest> {
    let Decided { ranking, cut, .. } = decided;
    let most = most_below(cut.keep);
    let (above, below) = ranking.entries.split_at(cut.keep.min(ranking.entries.len()));
    let mut seen: HashSet<_> = above.iter().map(|entry| entry_key(&entry.best.passage)).collect();
    let worth =
        |entry: &&Entry| cut.keep == 0 || entry.label.is_some() || entry.probability.is_none_or(|of| of >= BELOW_LEAST);
    let once = below.iter().filter(worth).filter(|entry| seen.insert(entry_key(&entry.best.passage)));
    let (refused, others): (Vec<&Entry>, Vec<&Entry>) = once.partition(|entry| entry.label == Some(false));
    // Those that people refused come last. Each shows that it was found, and can be judged anew.
    let room = most - refused.len().min(BELOW_REFUSED);
    let others = others.into_iter().take(room);
    let taken = others.len();
    let nearest = |entry: &Entry| {
        let passage = &entry.best.passage;
        Nearest {
            id: passage.id.clone(),
            namespace: passage.namespace.clone(),
            path: passage.path.clone(),
            start_line: passage.start_line,
            end_line: passage.end_line,
            title: title(passage),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            probability: entry.probability,
            judged_relevant: entry.label,
        }
    };
    others.chain(refused.into_iter().take(most - taken)).map(nearest).collect()
}

/// Returns every entry that the cut counted, for an explanation. `known` has the attributes of each one's document.
pub(super) fn pool_entries(
    decided: &Decided,
    placed: &[Placed<'_>],
    known: Vec<Vec<Attribute>>,
    decay: &SearchDecay<'_>,
    now_ns: i64,
) -> Vec<PoolEntry> {
    let days = |date: i64| ((now_ns as f64 - date as f64) / 86_400e9).max(0.0);
    let by_age = decided.ranking.adjustments.as_ref().filter(|adjustments| adjustments.by_age());
    let age = |passage: &StoredPassage| match by_age {
        Some(adjustments) => adjustments.age_days(passage),
        None => decay.date(passage).map(days),
    };
    let ranks: HashMap<PassageId, usize> = placed.iter().map(|placed| placed.candidate.id()).zip(1..).collect();
    let pool_entry = |((at, entry), known): ((usize, &Entry), Vec<Attribute>)| {
        let Candidate { passage, scores, .. } = &entry.best;
        PoolEntry {
            kept: at < decided.cut.keep,
            rank: ranks.get(&entry.best.id()).copied(),
            namespace: passage.namespace.clone(),
            distance_factor: entry.best.adjustment.factor,
            age_days: age(passage),
            decay: entry.best.decay,
            path: passage.path.clone(),
            start_line: passage.start_line,
            title: title(passage),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            collection: passage.collection.clone(),
            language: passage.language.clone(),
            dated_at: dated_at(passage),
            attributes: metadata::by_name(known),
            passages: 1 + entry.others.len(),
            copies: entry.copies.len(),
            role: passage.role.clone(),
            bm25: scores.bm25,
            similarity: scores.similarity,
            coverage: scores.coverage,
            score: entry.best.score,
            exact: entry.best.exact.filter(|_| entry.best.first.is_some()).map(|exact| exact.name().to_owned()),
            added: entry.added,
            judged: entry.judged,
            probability: entry.probability,
            evidence: entry.evidence.as_ref().map(evidence_parts).unwrap_or_default(),
        }
    };
    decided.ranking.entries.iter().enumerate().zip(known).map(pool_entry).collect()
}

fn evidence_parts(evidence: &WeighedEvidence) -> Vec<EvidencePart> {
    let part = |part: &tamis_rank::EvidencePart| EvidencePart {
        name: part.name.to_owned(),
        value: part.value,
        log_odds: part.log_odds,
    };
    evidence.parts.iter().map(part).collect()
}
