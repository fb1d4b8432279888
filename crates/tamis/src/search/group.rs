//! Groups passages into entries: before the cut, passages become what a person counts as one result. A passage stands for each entry,
//! mostly its best one.

use std::collections::HashMap;
use std::sync::Arc;

use tamis_rank::{
    ExactFind, NAMED, Standing, entry_scores, entry_value, is_empty_comment, is_heading_alone, is_preamble_alone,
    is_signature_alone, last_part, representative,
};
use tamis_store::StoredPassage;
use tamis_text::{Kind, Role, SYMBOL_SEPARATOR};

use super::candidate::Candidate;
use super::query::Query;
use super::ranking::{Entry, EntryKey, NearCopy, Ranking, copied, entry_key};
use crate::Error;

/// Groups the passages of a ranking into entries, and the values become those of the entries. If it `adds`, the entries are ordered by
/// what their other passages say too, and by the name of the file, if the question has its words; the values stay those of the best
/// passages. A list from a single document stays as it is, since the question then is where in it.
pub(crate) fn group(ranking: &mut Ranking, adds: bool, query: &Query) -> Result<(), Error> {
    let candidates: Vec<&Candidate> = ranking.entries.iter().map(|entry| &entry.best).collect();
    let is_one = |pair: &[&Candidate]| entry_key(&pair[0].passage) == entry_key(&pair[1].passage);
    if candidates.len() > 1 && candidates.windows(2).all(is_one) {
        return Ok(());
    }
    // What was said twice was said at two times, whatever files hold it.
    let copied = if query.memory { vec![None; candidates.len()] } else { copied(&candidates) };
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
        entries = raised(entries, query, background, |candidate| candidate.value);
    } else if adds && by_scores {
        // Reciprocal ranks order a list by scores of their own. A passage that is in no ranking has 0.
        entries = raised(entries, query, 0.0, |candidate| candidate.score);
    }
    let mut values: Vec<f64> = entries.iter().map(|entry| best_value(entry, |candidate| candidate.value)).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    for entry in entries.iter_mut().filter(|entry| !entry.others.is_empty()) {
        let chosen = chosen(&entry.passages().collect::<Vec<_>>(), query, background);
        entry.put_forward(chosen);
        let is_shown = !is_mute(&entry.best.passage, query);
        entry.others.iter_mut().for_each(|other| other.shown.hidden = is_shown && is_mute(&other.passage, query));
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
fn raised(entries: Vec<Entry>, query: &Query, background: f64, value: fn(&Candidate) -> f64) -> Vec<Entry> {
    let mut matches: HashMap<&str, f64> = HashMap::new();
    let names: Vec<f64> = entries
        .iter()
        .map(|entry| {
            let path = entry.best.passage.path.as_str();
            *matches.entry(path).or_insert_with(|| query.paths.match_score(path))
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

/// Returns the position, among the passages of an entry, of the one that stands for it. They come best first.
pub(crate) fn chosen(passages: &[&Candidate], query: &Query, background: f64) -> usize {
    let standing = |candidate: &&Candidate| {
        let passage = &candidate.passage;
        let named = |symbol: &str| query.names.match_score(symbol) >= NAMED;
        Standing {
            value: candidate.value,
            exact: candidate.first.is_some() && !is_mute(passage, query),
            says: !is_empty(passage, query),
            head: head_of(passage, passages),
            named: passage.symbol.as_deref().is_some_and(named),
        }
    };
    let standing: Vec<Standing> = passages.iter().map(standing).collect();
    let best = representative(&standing, background);
    passages.get(best).and_then(|front| text_for(front, passages, query)).unwrap_or(best)
}

/// The least share of what front matter matches of the query's weight, for a text to be shown in its place. A title matches more than the
/// text that it stands for.
const SHARE_OF_FRONT_MATTER: f64 = 0.5;

/// Returns the position of the text that is shown in place of front matter: the best one that matches enough of the query's weight.
fn text_for(front: &Candidate, passages: &[&Candidate], query: &Query) -> Option<usize> {
    let repeats = front.exact.is_some_and(|find| find != ExactFind::File);
    let covered =
        front.scores.coverage.filter(|&covered| covered > 0.0 && !repeats && is_front_matter(&front.passage))?;
    let is_text = |passage: &StoredPassage| !is_front_matter(passage) && !is_empty(passage, query);
    passages.iter().position(|one| {
        one.scores.coverage.is_some_and(|own| own >= SHARE_OF_FRONT_MATTER * covered) && is_text(&one.passage)
    })
}

/// Returns `true` for a comment that says nothing, or that a program or a form wrote.
pub(crate) fn is_mute(passage: &StoredPassage, query: &Query) -> bool {
    let by_nobody = [Role::Bot.as_str(), Role::Template.as_str()].contains(&passage.role.as_str());
    let title = passage.title.as_deref().or(passage.heading.as_deref()).unwrap_or_default();
    is_comment(passage) && (by_nobody || is_empty_comment(&passage.text, title, &query.text))
}

fn is_comment(passage: &StoredPassage) -> bool {
    [Kind::Comment.as_str(), Kind::Review.as_str()].contains(&passage.kind.as_str())
}

/// Returns `true` for a passage that says nothing by itself.
fn is_empty(passage: &StoredPassage, query: &Query) -> bool {
    match passage.kind.parse() {
        Ok(Kind::Comment | Kind::Review) => is_mute(passage, query),
        Ok(Kind::Section | Kind::Issue | Kind::PullRequest) => {
            passage.heading.as_deref().is_some_and(|heading| is_heading_alone(&passage.text, heading))
        }
        Ok(Kind::Function | Kind::Method) => is_signature_alone(&passage.text),
        Ok(Kind::Module | Kind::Constant) => is_preamble_alone(&passage.text),
        _ => false,
    }
}

/// Returns the position of the head of the definition that a passage continues: the nearest one before it with its symbol.
fn head_of(passage: &StoredPassage, passages: &[&Candidate]) -> Option<usize> {
    if !continues(passage) {
        return None;
    }
    let same = |head: &StoredPassage| {
        head.symbol == passage.symbol && head.kind == passage.kind && head.ordinal < passage.ordinal && !continues(head)
    };
    let heads = passages.iter().enumerate().filter(|(_, candidate)| same(&candidate.passage));
    heads.max_by_key(|(_, candidate)| candidate.passage.ordinal).map(|(at, _)| at)
}

/// Returns `true` for the block of properties that a document begins with.
fn is_front_matter(passage: &StoredPassage) -> bool {
    passage.kind == Kind::FrontMatter.as_str()
}

/// Returns `true` for a later part of a definition: the last line of its context is the definition's own signature.
fn continues(passage: &StoredPassage) -> bool {
    let name = |symbol: &str| {
        let first = symbol.split(SYMBOL_SEPARATOR).next().unwrap_or_default();
        last_part(first).unwrap_or_default().to_owned()
    };
    let signature = passage.context.as_deref().and_then(|context| context.lines().last());
    let name = passage.symbol.as_deref().map(name).filter(|name| !name.is_empty());
    signature.zip(name).is_some_and(|(signature, name)| holds_word(signature, &name))
}

fn holds_word(text: &str, word: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = text.match_indices(word);
    places.any(|(at, _)| !text[..at].ends_with(is_of_word) && !text[at + word.len()..].starts_with(is_of_word))
}
