//! Turns ranked passages into the results and the pool of an answer.

use super::answer::{Copy, EvidencePart, FurtherPassage, Hit, Nearest, PoolEntry};
use super::arrange::Placed;
use super::candidate::Ranked;
use super::decay::SearchDecay;
use super::decide::Decided;
use super::entries;
use super::listed::{Entry, Listed};
use super::metadata;
use super::question::Question;
use super::snippet::{self, Snippet};
use std::collections::HashSet;
use tamis_rank::WeighedEvidence;
use tamis_store::{Attribute, Highlighter, StoredPassage};

/// Makes results of passages.
pub(super) struct Shown<'a> {
    pub question: &'a Question,
    pub highlighter: Option<&'a Highlighter>,
    /// Lines of a snippet.
    pub lines: usize,
}

impl Shown<'_> {
    /// Returns the results at these places. `known` has the attributes of each one's document, and `further` the positions of the
    /// other relevant passages of each counted candidate.
    pub fn results(
        &self,
        decided: &Decided,
        placed: &[Placed],
        further: &[Vec<usize>],
        known: Vec<Vec<Attribute>>,
    ) -> Vec<Hit> {
        let Listed { ranked, entries, .. } = &decided.list;
        let entries = entries.as_deref().unwrap_or_default();
        let result = |((&Placed { position, score }, known), rank)| {
            let others = further.get(position).map(Vec::as_slice).unwrap_or_default();
            let shown: Vec<usize> = std::iter::once(position).chain(others.iter().copied()).collect();
            Hit {
                passages: others.iter().map(|&at| self.further(&ranked[at])).collect(),
                copies: copies(ranked, entries, &shown),
                probability: decided.list.probability(position),
                ..self.hit(rank, &ranked[position], score, known)
            }
        };
        placed.iter().zip(known).zip(1..).map(result).collect()
    }

    /// Creates one result.
    fn hit(&self, rank: usize, hit: &Ranked, score: f64, known: Vec<Attribute>) -> Hit {
        let passage = &hit.passage;
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
            bm25: hit.candidate.bm25,
            similarity: hit.candidate.similarity,
            score,
            judged: hit.judged,
            judged_relevant: hit.judged_relevant,
            probability: None,
            snippet: snippet.text,
            snippet_line: snippet.start_line,
            highlights: snippet.highlights,
            entry: entries::identity(passage),
            passages: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// Creates another passage of a result.
    fn further(&self, hit: &Ranked) -> FurtherPassage {
        let passage = &hit.passage;
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
            score: SearchDecay::aged(hit),
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
fn copies(ranked: &[Ranked], entries: &[Entry], shown: &[usize]) -> Vec<Copy> {
    let mut seen = HashSet::new();
    let all = || entries.iter().flat_map(|entry| &entry.copies);
    let of = |at: usize| all().filter(move |(original, _)| *original == at).map(|(_, copy)| *copy);
    let copies = shown.iter().flat_map(|&at| of(at)).map(|at| &ranked[at].passage);
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
    let Decided { list, cut, .. } = decided;
    let most = most_below(cut.keep);
    let counted = list.counted();
    let mut seen: HashSet<_> = counted.iter().take(cut.keep).map(|hit| entries::entry_key(&hit.passage)).collect();
    let below = counted.iter().enumerate().skip(cut.keep);
    let worth = |(place, hit): &(usize, &Ranked)| {
        cut.keep == 0 || hit.judged_relevant.is_some() || list.probability(*place).is_none_or(|of| of >= BELOW_LEAST)
    };
    let once = below.filter(worth).filter(|(_, hit)| seen.insert(entries::entry_key(&hit.passage)));
    let (refused, others): (Vec<_>, Vec<_>) = once.partition(|(_, hit)| hit.judged_relevant == Some(false));
    // Those that people refused come last. Each shows that it was found, and can be judged anew.
    let room = most - refused.len().min(BELOW_REFUSED);
    let others = others.into_iter().take(room);
    let taken = others.len();
    others
        .chain(refused.into_iter().take(most - taken))
        .map(|(place, Ranked { passage, judged_relevant, .. })| Nearest {
            id: passage.id.clone(),
            namespace: passage.namespace.clone(),
            path: passage.path.clone(),
            start_line: passage.start_line,
            end_line: passage.end_line,
            title: title(passage),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            probability: list.probability(place),
            judged_relevant: *judged_relevant,
        })
        .collect()
}

/// Returns every candidate that the cut counted, for an explanation. `known` has the attributes of each one's document.
pub(super) fn pool_entries(
    decided: &Decided,
    placed: &[Placed],
    known: Vec<Vec<Attribute>>,
    decay: &SearchDecay<'_>,
    now_ns: i64,
) -> Vec<PoolEntry> {
    let Listed { adjustments, entries, evidence, .. } = &decided.list;
    let days = |date: i64| ((now_ns as f64 - date as f64) / 86_400e9).max(0.0);
    let age = |passage: &StoredPassage| match adjustments.as_ref().filter(|adjustments| adjustments.by_age()) {
        Some(adjustments) => adjustments.age_days(passage),
        None => decay.date(passage).map(days),
    };
    let of = |at: usize| entries.as_ref().and_then(|entries| entries.get(at));
    let entry = |((at, hit), known): ((usize, &Ranked), Vec<Attribute>)| PoolEntry {
        kept: at < decided.cut.keep,
        rank: None,
        namespace: hit.passage.namespace.clone(),
        distance_factor: hit.adjustment.factor,
        age_days: age(&hit.passage),
        decay: hit.decay,
        path: hit.passage.path.clone(),
        start_line: hit.passage.start_line,
        title: title(&hit.passage),
        symbol: hit.passage.symbol.clone(),
        kind: hit.passage.kind.clone(),
        collection: hit.passage.collection.clone(),
        language: hit.passage.language.clone(),
        dated_at: dated_at(&hit.passage),
        attributes: metadata::by_name(known),
        passages: 1 + of(at).map_or(0, |entry| entry.further.len()),
        copies: of(at).map_or(0, |entry| entry.copies.len()),
        role: hit.passage.role.clone(),
        bm25: hit.candidate.bm25,
        similarity: hit.candidate.similarity,
        coverage: hit.candidate.coverage,
        score: hit.score,
        exact: hit.candidate.exact.filter(|_| hit.first.is_some()).map(|exact| exact.name().to_owned()),
        added: hit.added,
        judged: hit.judged,
        probability: decided.list.probability(at),
        evidence: evidence.get(at).map(evidence_parts).unwrap_or_default(),
    };
    let mut pool: Vec<PoolEntry> = decided.list.counted().iter().enumerate().zip(known).map(entry).collect();
    for (placed, rank) in placed.iter().zip(1..) {
        pool[placed.position].rank = Some(rank);
    }
    pool
}

fn evidence_parts(evidence: &WeighedEvidence) -> Vec<EvidencePart> {
    let part = |part: &tamis_rank::EvidencePart| EvidencePart {
        name: part.name.to_owned(),
        value: part.value,
        log_odds: part.log_odds,
    };
    evidence.parts.iter().map(part).collect()
}
