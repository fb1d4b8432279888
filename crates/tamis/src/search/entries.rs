//! Groups passages into entries: before the cut, passages become what a person counts as one result.

use super::answer::CutReport;
use super::candidate::Candidate;
use super::question::Question;
use super::ranking::{Entry, EntryKey, NearCopy, Ranking, copied, entry_key};
use super::representative::{chosen, is_mute};
use crate::Error;
use std::collections::HashMap;
use std::sync::Arc;
use tamis_rank::{entry_scores, entry_value};
use tamis_store::StoredPassage;

/// Groups the passages of a ranking into entries, and the values become those of the entries. If it `adds`, the entries are ordered by
/// what their other passages say too, and by the name of the file, if the question has its words; the values stay those of the best
/// passages. A list from a single document stays as it is, since the question then is where in it.
pub(super) fn group(ranking: &mut Ranking, adds: bool, question: &Question) -> Result<(), Error> {
    let candidates: Vec<&Candidate> = ranking.entries.iter().map(|entry| &entry.best).collect();
    let is_one = |pair: &[&Candidate]| entry_key(&pair[0].passage) == entry_key(&pair[1].passage);
    if candidates.len() > 1 && candidates.windows(2).all(is_one) {
        return Ok(());
    }
    // What was said twice was said at two times, whatever files hold it.
    let copied = if question.memory { vec![None; candidates.len()] } else { copied(&candidates) };
    let passages: Vec<Arc<StoredPassage>> = candidates.iter().map(|candidate| candidate.passage.clone()).collect();
    let candidates = std::mem::take(&mut ranking.entries).into_iter().map(|entry| entry.best);
    let (mut originals, mut copies) = (Vec::new(), Vec::new());
    for (candidate, original) in candidates.zip(&copied) {
        match original {
            Some(original) => copies.push(NearCopy { of: passages[*original].passage, candidate }),
            None => originals.push(candidate),
        }
    }

    let background = ranking.background().unwrap_or(0.0);
    let by_values = originals.is_sorted_by(|a, b| a.value >= b.value);
    let by_scores = originals.is_sorted_by(|a, b| a.score >= b.score);
    let mut entries = by_key(originals);
    if adds && by_values {
        entries = raised(entries, question, background, |candidate| candidate.value);
    } else if adds && by_scores {
        // Reciprocal ranks order a list by scores of their own. A passage that is in no ranking has 0.
        entries = raised(entries, question, 0.0, |candidate| candidate.score);
    }
    let mut values: Vec<f64> = entries.iter().map(|entry| best_value(entry, |candidate| candidate.value)).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    for entry in entries.iter_mut().filter(|entry| !entry.others.is_empty()) {
        let chosen = chosen(&entry.passages().collect::<Vec<_>>(), question, background);
        entry.put_forward(chosen);
        let is_shown = !is_mute(&entry.best.passage, question);
        entry.others.iter_mut().for_each(|other| other.hidden = is_shown && is_mute(&other.passage, question));
    }
    let places = entries.iter().enumerate().flat_map(|(at, entry)| entry.passages().map(move |one| (one.id(), at)));
    let places: HashMap<_, usize> = places.collect();
    copies.into_iter().for_each(|copy| entries[places[&copy.of]].copies.push(copy));

    let unsorted = |error: tamis_cut::PoolError| Error::argument("pool", error.to_string(), "sorted");
    ranking.pool = ranking.pool.clone().with_scores(values).map_err(unsorted)?;
    (ranking.entries, ranking.grouped) = (entries, true);
    ranking.note_values();
    Ok(())
}

/// Puts passages that belong together into one entry each, in the order of the first ones.
fn by_key(candidates: Vec<Candidate>) -> Vec<Entry> {
    let passages: Vec<Arc<StoredPassage>> = candidates.iter().map(|candidate| candidate.passage.clone()).collect();
    let mut places: HashMap<EntryKey, usize> = HashMap::new();
    let mut entries: Vec<Entry> = Vec::new();
    for (candidate, passage) in candidates.into_iter().zip(&passages) {
        let place = *places.entry(entry_key(passage)).or_insert(entries.len());
        match entries.get_mut(place) {
            Some(entry) => entry.others.push(candidate),
            None => entries.push(Entry::new(candidate)),
        }
    }
    entries
}

/// Returns the value of the best passage of an entry.
fn best_value(entry: &Entry, value: fn(&Candidate) -> f64) -> f64 {
    entry_value(&entry.passages().map(value).collect::<Vec<_>>())
}

/// Orders entries by the values of their passages and what the names of their files add. Exact finds come first whatever else is
/// found, and none is scored below what follows it.
fn raised(entries: Vec<Entry>, question: &Question, background: f64, value: fn(&Candidate) -> f64) -> Vec<Entry> {
    let mut matches: HashMap<&str, f64> = HashMap::new();
    let names: Vec<f64> = entries
        .iter()
        .map(|entry| {
            let path = entry.best.passage.path.as_str();
            *matches.entry(path).or_insert_with(|| question.paths.match_score(path))
        })
        .collect();
    let passages: Vec<Vec<f64>> = entries.iter().map(|entry| entry.passages().map(value).collect()).collect();
    let scores = entry_scores(&passages, &names, background);
    let finite = |score: f64| if score.is_finite() { score } else { f64::NEG_INFINITY };
    let best = scores.iter().map(|&score| finite(score)).fold(f64::NEG_INFINITY, f64::max);
    let mut scored: Vec<(f64, Entry)> = scores.into_iter().zip(entries).collect();
    scored.sort_by(|(a, _), (b, _)| finite(*b).total_cmp(&finite(*a)));
    scored.sort_by_key(|(_, entry)| entry.first_find().unwrap_or(usize::MAX));
    let added = |(score, mut entry): (f64, Entry)| {
        let score = if entry.first_find().is_some() { best } else { score };
        let added = score - best_value(&entry, value);
        if added.is_finite() {
            entry.added = added;
            entry.best.score += added;
            entry.others.iter_mut().for_each(|other| other.score += added);
        }
        entry
    };
    scored.into_iter().map(added).collect()
}

impl Entry {
    /// Lets the passage at a position stand for it. That one takes the scores of the best.
    fn put_forward(&mut self, position: usize) {
        let Some(at) = position.checked_sub(1) else { return };
        let Candidate { score, value, .. } = self.best;
        let chosen = Candidate { score, value, ..self.others.remove(at) };
        self.others.insert(0, std::mem::replace(&mut self.best, chosen));
    }
}

/// Adds to the figures of a cut what it counted, and the number of passages behind it.
pub(super) fn explain(cut: &mut CutReport, ranking: &Ranking) {
    let counted = if ranking.grouped { "entries" } else { "passages" };
    cut.diagnostics.insert("counted".into(), counted.into());
    if ranking.grouped {
        let copies: usize = ranking.entries.iter().map(|entry| entry.copies.len()).sum();
        let others: usize = ranking.entries.iter().map(|entry| 1 + entry.others.len()).sum();
        cut.diagnostics.insert("passages".into(), (others + copies).into());
        cut.diagnostics.insert("copies".into(), copies.into());
    }
}
