//! Orders the kept memories. Of those that say the same, the newest comes first, and those that repeat another in nearly the same
//! words come last. A search can ask for decay by age, and for maximal marginal relevance, which puts new content before repetition.
//!
//! The order never changes which passages are kept. The similarity of two passages is that of their vectors, or of their words if
//! one has no vector. Passages of one document that share lines, such as neighbours in a text split with an overlap, count as
//! equal. Both are kept, since the answer may be in the lines that only one has, and the second comes further down.

use super::candidate::Candidate;
use super::decay::SearchDecay;
use super::decide::Kept;
use super::ranking::Entry;
use super::retrieve::namespaces_of;
use super::searcher::Searcher;
use crate::Error;
use crate::words::words_of;
use std::cell::OnceCell;
use std::cmp::Reverse;
use tamis_embed::dot;
use tamis_rank::{Decay, Shingles, diversified, jaccard, near_copies, order};
use tamis_store::PassageId;

/// The order in which kept candidates are shown.
pub(super) struct DisplayOrder<'a> {
    pub decay: SearchDecay<'a>,
    /// The weight of relevance against diversity, 0 to 1; `None`: relevance alone.
    pub lambda: Option<f64>,
    /// The number of results shown.
    pub limit: usize,
    /// The model whose vectors give the similarities.
    pub model: Option<&'a str>,
}

/// A candidate at its place in the results.
#[derive(Clone)]
pub(super) struct Placed<'r> {
    pub entry: &'r Entry,
    /// The passage that is shown, mostly the one that stands for its entry.
    pub candidate: &'r Candidate,
    /// The other passages of the entry that are shown below it.
    pub further: Vec<&'r Candidate>,
    /// The value that ranked it, with decay.
    pub score: f64,
}

impl<'r> Placed<'r> {
    /// A kept entry with its passages.
    pub fn entry(Kept { entry, further }: Kept<'r>) -> Self {
        Placed { entry, candidate: &entry.best, further, score: SearchDecay::aged(&entry.best) }
    }

    /// Each passage of the entry by itself.
    pub fn each_passage(&self) -> impl Iterator<Item = Placed<'r>> {
        let entry = self.entry;
        let one =
            move |candidate| Placed { entry, candidate, further: Vec::new(), score: SearchDecay::aged(candidate) };
        std::iter::once(self.candidate).chain(self.further.clone()).map(one)
    }

    /// Returns the entry that the passage stands for.
    pub fn stands_for(&self) -> Option<&'r Entry> {
        Some(self.entry).filter(|entry| std::ptr::eq(&entry.best, self.candidate))
    }
}

impl Searcher<'_> {
    /// Returns those of the kept candidates that are shown, in display order.
    pub(super) fn arranged<'r>(
        &self,
        mut placed: Vec<Placed<'r>>,
        by: &DisplayOrder<'_>,
    ) -> Result<Vec<Placed<'r>>, Error> {
        // The order given can be another than that of the scores, and only age may change it.
        if by.decay.is_on() {
            let value = |placed: &Placed| match placed.stands_for().and_then(|entry| entry.probability) {
                Some(probability) => Decay::apply(probability, placed.candidate.decay),
                None => placed.score,
            };
            let values: Vec<f64> = placed.iter().map(value).collect();
            placed = order(&values).into_iter().map(|at| placed[at].clone()).collect();
        } else if by.decay.breaks_ties() {
            placed = newest_first(placed, &by.decay);
        }
        if let Some(lambda) = by.lambda {
            let places = self.diversified(&placed, lambda, by)?;
            placed = places.into_iter().map(|at| placed[at].clone()).collect();
        }
        placed.truncate(by.limit);
        Ok(placed)
    }

    /// Returns the places of `kept` in the order of maximal marginal relevance.
    fn diversified(&self, kept: &[Placed], lambda: f64, by: &DisplayOrder<'_>) -> Result<Vec<usize>, Error> {
        // The order cannot change.
        if kept.len() < 3 || by.limit < 2 || lambda >= 1.0 {
            return Ok((0..kept.len()).collect());
        }
        let ids: Vec<PassageId> = kept.iter().map(|placed| placed.candidate.id()).collect();
        let passages = kept.iter().map(|placed| &*placed.candidate.passage);
        let vectors = match by.model {
            Some(model) => self.index.store.vectors(model, &namespaces_of(passages), &ids)?,
            None => vec![None; ids.len()],
        };
        let words: Vec<OnceCell<Vec<String>>> = kept.iter().map(|_| OnceCell::new()).collect();
        let words = |at: usize| words[at].get_or_init(|| words_of(&kept[at].candidate.passage.text));
        let alike = |a: usize, b: usize| match (&vectors[a], &vectors[b]) {
            _ if overlap(kept[a].candidate, kept[b].candidate) => 1.0,
            (Some(a), Some(b)) => f64::from(dot(a, b)),
            _ => jaccard(words(a), words(b)),
        };
        let relevance: Vec<f64> = kept.iter().map(|placed| placed.score).collect();
        Ok(diversified(&relevance, lambda, by.limit, alike))
    }
}

/// Greatest difference of log odds, or of the logarithms of scores, at which two memories are equally good.
const SAME_VALUE: f64 = 0.03;

/// Orders memories that say the same by their dates: one takes the best place of all that repeat it in nearly the same words, which
/// move behind everything else, and neighbours of the same value change places. Those whose age does not count are as new as can be.
fn newest_first<'r>(placed: Vec<Placed<'r>>, decay: &SearchDecay<'_>) -> Vec<Placed<'r>> {
    // Passages without evidence beside some with it are those of one entry, which nothing but their order compares.
    let value = |placed: &Placed| match (&placed.entry.evidence, placed.stands_for()) {
        (None, _) => placed.score.ln(),
        (Some(evidence), Some(_)) => evidence.log_odds,
        (Some(_), None) => f64::NAN,
    };
    let date = |placed: &Placed| decay.date(&placed.candidate.passage).unwrap_or(i64::MAX);
    let shingles = placed.iter().map(|placed| Some(Shingles::of(&placed.candidate.passage.text)));
    let copied = near_copies(&shingles.collect::<Vec<_>>(), |_, _| true);
    let mut said: Vec<Placed> = Vec::new();
    let mut repeated: Vec<Placed> = Vec::new();
    for at in (0..placed.len()).filter(|&at| copied[at].is_none()) {
        let mut same: Vec<Placed> = vec![placed[at].clone()];
        same.extend((0..placed.len()).filter(|&other| copied[other] == Some(at)).map(|other| placed[other].clone()));
        same.sort_by_key(|placed| Reverse(date(placed)));
        said.push(same.remove(0));
        repeated.extend(same);
    }
    said.chunk_by_mut(|a, b| (value(a) - value(b)).abs() <= SAME_VALUE)
        .for_each(|same| same.sort_by_key(|placed| Reverse(date(placed))));
    said.extend(repeated);
    said
}

/// Returns `true` if two passages have the same text or share lines of one document.
fn overlap(a: &Candidate, b: &Candidate) -> bool {
    let (a, b) = (&a.passage, &b.passage);
    let share_lines = a.document == b.document && a.start_line <= b.end_line && b.start_line <= a.end_line;
    share_lines || a.text_hash == b.text_hash
}
