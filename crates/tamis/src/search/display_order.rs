//! The order in which the kept passages are shown.
//!
//! Of memories that say the same, the newest comes first, and those that repeat another in nearly the same words come last. A search can
//! ask for decay by age, and for maximal marginal relevance, which puts new content before repetition. The order never changes which
//! passages are kept. The similarity of two passages is that of their vectors, or of their words if one has no vector. Passages of one
//! document that share lines, such as neighbours in a text split with an overlap, count as equal. Both are kept, since the answer may be
//! in the lines that only one has, and the second comes further down.

use std::cell::OnceCell;
use std::cmp::Reverse;

use tamis_embed::dot;
use tamis_rank::{Decay, Shingles, diversified, jaccard, near_copies, order};
use tamis_store::{PassageId, StoredPassage};

use super::adjustments::SearchDecay;
use super::candidate::{Candidate, namespaces_of};
use super::context::Context;
use super::ranking::{Entry, Kept};
use crate::Error;
use crate::collections::SESSIONS;
use crate::words::words_of;

/// The order in which kept candidates are shown.
pub(crate) struct DisplayOrder<'a> {
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
pub(crate) struct Placed<'r> {
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
        Placed { entry, candidate: &entry.best, further, score: entry.best.aged() }
    }

    /// Each passage of the entry by itself.
    pub fn each_passage(&self) -> impl Iterator<Item = Placed<'r>> {
        let entry = self.entry;
        let one = move |candidate| Placed { entry, candidate, further: Vec::new(), score: candidate.aged() };
        std::iter::once(self.candidate).chain(self.further.clone()).map(one)
    }

    /// Returns the entry that the passage stands for.
    pub fn stands_for(&self) -> Option<&'r Entry> {
        Some(self.entry).filter(|entry| std::ptr::eq(&entry.best, self.candidate))
    }
}

/// Returns those of the kept candidates that are shown, in display order.
pub(crate) fn arranged<'r>(
    context: &Context<'_>,
    mut placed: Vec<Placed<'r>>,
    by: &DisplayOrder<'_>,
) -> Result<Vec<Placed<'r>>, Error> {
    // The order given can be another than that of the scores, and only age may change it.
    if by.decay.is_on() {
        let value = |placed: &Placed| match placed.stands_for().and_then(|entry| entry.probability) {
            Some(probability) => Decay::apply(probability, placed.candidate.adjusted.decay),
            None => placed.score,
        };
        let values: Vec<f64> = placed.iter().map(value).collect();
        placed = order(&values).into_iter().map(|at| placed[at].clone()).collect();
    } else if by.decay.breaks_ties() {
        placed = newest_first(placed, &by.decay);
    }
    if let Some(lambda) = by.lambda {
        let places = diversified_places(context, &placed, lambda, by)?;
        placed = places.into_iter().map(|at| placed[at].clone()).collect();
    }
    placed.truncate(by.limit);
    Ok(placed)
}

/// Returns the places of `kept` in the order of maximal marginal relevance.
fn diversified_places(
    context: &Context<'_>,
    kept: &[Placed],
    lambda: f64,
    by: &DisplayOrder<'_>,
) -> Result<Vec<usize>, Error> {
    // The order cannot change.
    if kept.len() < 3 || by.limit < 2 || lambda >= 1.0 {
        return Ok((0..kept.len()).collect());
    }
    let ids: Vec<PassageId> = kept.iter().map(|placed| placed.candidate.id()).collect();
    let passages = kept.iter().map(|placed| &*placed.candidate.passage);
    let vectors = match by.model {
        Some(model) => context.index.store.vectors(model, &namespaces_of(passages), &ids)?,
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
    let shingles = placed.iter().map(|placed| Some(Shingles::from_text(&placed.candidate.passage.text)));
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
    for at in 1..said.len() {
        let new = &said[at];
        let is_corrected = |old: &Placed| {
            let [passage, before] = [new, old].map(|placed| &*placed.candidate.passage);
            let is_newer = decay.date(passage).zip(decay.date(before)).is_some_and(|(new, old)| new > old);
            is_newer && value(old) - value(new) <= SAME_SUBJECT && corrects(passage, before)
        };
        let corrected = said[..at].iter().position(is_corrected);
        if let Some(corrected) = corrected {
            said[corrected..=at].rotate_right(1);
        }
    }
    said.extend(repeated);
    said
}

/// Greatest difference of log odds between a note and what corrects it, which may answer in other words.
const SAME_SUBJECT: f64 = 3.5;

/// What notes say that correct another one, in lower case.
const CORRECTIONS: [&str; 3] = ["correction:", "corrected:", "supersedes"];

/// What notes say where something has changed, in lower case. They say it of anything, so the rest must be said again.
const CHANGED: [&str; 5] = ["anymore", "changed", "longer", "moved", "now"];

/// The least number of words that a correction has in common with what it corrects, and the least share of the words of both that a note of
/// a change has in common with the note before.
const FEWEST_IN_COMMON: usize = 2;
const SAID_AGAIN: f64 = 0.5;

/// Returns `true` if a note, written after another one, says that things are otherwise than the other one has it. Turns of a
/// conversation say "now" of anything.
fn corrects(new: &StoredPassage, old: &StoredPassage) -> bool {
    let is_content = |word: &String| word.chars().count() >= 4 || word.chars().all(|c| c.is_ascii_digit());
    let [words, said, known] = [body(new), body(new), body(old)].map(words_of);
    let [said, known] = [said, known].map(|words| words.into_iter().filter(is_content).collect::<Vec<_>>());
    let text = new.text.to_lowercase();
    let common = known.iter().filter(|word| said.binary_search(word).is_ok()).count();
    let corrects = common >= FEWEST_IN_COMMON && CORRECTIONS.iter().any(|word| text.contains(word));
    let changed = words.iter().any(|word| CHANGED.contains(&word.as_str()));
    new.collection != SESSIONS && (corrects || changed && jaccard(&said, &known) >= SAID_AGAIN)
}

/// The text of a note without the headings above it.
fn body(passage: &StoredPassage) -> &str {
    let mut text = passage.text.trim_start();
    while text.starts_with('#') {
        text = text.split_once('\n').map_or("", |(_, rest)| rest.trim_start());
    }
    text
}

/// Returns `true` if two passages have the same text or share lines of one document.
fn overlap(a: &Candidate, b: &Candidate) -> bool {
    let (a, b) = (&a.passage, &b.passage);
    let share_lines = a.document == b.document && a.start_line <= b.end_line && b.start_line <= a.end_line;
    share_lines || a.text_hash == b.text_hash
}
