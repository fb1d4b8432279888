//! Orders the kept memories. Of those that say the same, the newest comes first, and those that repeat another in nearly the same
//! words come last. A search can ask for decay by age, and for maximal marginal relevance, which puts new content before repetition.
//!
//! The order never changes which passages are kept. The similarity of two passages is that of their vectors, or of their words if
//! one has no vector. Passages of one document that share lines, such as neighbours in a text split with an overlap, count as
//! equal. Both are kept, since the answer may be in the lines that only one has, and the second comes further down.

use super::candidate::Ranked;
use super::decay::SearchDecay;
use super::listed::Listed;
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    /// Its position among the candidates.
    pub position: usize,
    /// The value that ranked it, with decay.
    pub score: f64,
}

impl Searcher<'_> {
    /// Returns those of the `kept` candidates, given by position, that are shown, in display order.
    pub(super) fn arranged(
        &self,
        list: &Listed,
        kept: Vec<usize>,
        by: &DisplayOrder<'_>,
    ) -> Result<Vec<Placed>, Error> {
        let ranked = &list.ranked;
        let place = |position: usize| Placed { position, score: SearchDecay::aged(&ranked[position]) };
        let mut placed: Vec<Placed> = kept.into_iter().map(place).collect();
        // The order given can be another than that of the scores, and only age may change it.
        if by.decay.is_on() {
            let value = |placed: &Placed| match list.probabilities.as_ref().and_then(|all| all.get(placed.position)) {
                Some(&probability) => Decay::apply(probability, ranked[placed.position].decay),
                None => placed.score,
            };
            let values: Vec<f64> = placed.iter().map(value).collect();
            placed = order(&values).into_iter().map(|at| placed[at]).collect();
        } else if by.decay.breaks_ties() {
            placed = newest_first(list, placed, &by.decay);
        }
        if let Some(lambda) = by.lambda {
            let kept: Vec<&Ranked> = placed.iter().map(|placed| &ranked[placed.position]).collect();
            let relevance: Vec<f64> = placed.iter().map(|placed| placed.score).collect();
            let places = self.diversified(&kept, &relevance, lambda, by)?;
            placed = places.into_iter().map(|at| placed[at]).collect();
        }
        placed.truncate(by.limit);
        Ok(placed)
    }

    /// Returns the places of `kept` in the order of maximal marginal relevance.
    fn diversified(
        &self,
        kept: &[&Ranked],
        relevance: &[f64],
        lambda: f64,
        by: &DisplayOrder<'_>,
    ) -> Result<Vec<usize>, Error> {
        // The order cannot change.
        if kept.len() < 3 || by.limit < 2 || lambda >= 1.0 {
            return Ok((0..kept.len()).collect());
        }
        let ids: Vec<PassageId> = kept.iter().map(|ranked| ranked.passage.passage).collect();
        let vectors = match by.model {
            Some(model) => {
                self.index.store.vectors(model, &namespaces_of(kept.iter().map(|ranked| &*ranked.passage)), &ids)?
            }
            None => vec![None; ids.len()],
        };
        let words: Vec<OnceCell<Vec<String>>> = kept.iter().map(|_| OnceCell::new()).collect();
        let words = |at: usize| words[at].get_or_init(|| words_of(&kept[at].passage.text));
        let alike = |a: usize, b: usize| match (&vectors[a], &vectors[b]) {
            _ if overlap(kept[a], kept[b]) => 1.0,
            (Some(a), Some(b)) => f64::from(dot(a, b)),
            _ => jaccard(words(a), words(b)),
        };
        Ok(diversified(relevance, lambda, by.limit, alike))
    }
}

/// Greatest difference of log odds, or of the logarithms of scores, at which two memories are equally good.
const SAME_VALUE: f64 = 0.03;

/// Orders memories that say the same by their dates: one takes the best place of all that repeat it in nearly the same words, which
/// move behind everything else, and neighbours of the same value change places. Those whose age does not count are as new as can be.
fn newest_first(list: &Listed, placed: Vec<Placed>, decay: &SearchDecay<'_>) -> Vec<Placed> {
    let passage = |placed: &Placed| &*list.ranked[placed.position].passage;
    // Passages without evidence beside some with it are those of one entry, which nothing but their order compares.
    let value = |placed: &Placed| match list.evidence.is_empty() {
        true => placed.score.ln(),
        false => list.evidence.get(placed.position).map_or(f64::NAN, |evidence| evidence.log_odds),
    };
    let date = |placed: &Placed| decay.date(passage(placed)).unwrap_or(i64::MAX);
    let shingles: Vec<Option<Shingles>> =
        placed.iter().map(|placed| Some(Shingles::of(&passage(placed).text))).collect();
    let copied = near_copies(&shingles, |_, _| true);
    let mut said: Vec<Placed> = Vec::new();
    let mut repeated: Vec<Placed> = Vec::new();
    for at in (0..placed.len()).filter(|&at| copied[at].is_none()) {
        let mut same: Vec<Placed> = vec![placed[at]];
        same.extend((0..placed.len()).filter(|&other| copied[other] == Some(at)).map(|other| placed[other]));
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
fn overlap(a: &Ranked, b: &Ranked) -> bool {
    let (a, b) = (&a.passage, &b.passage);
    let share_lines = a.document == b.document && a.start_line <= b.end_line && b.start_line <= a.end_line;
    share_lines || a.text_hash == b.text_hash
}
