//! Entries: before the cut, passages become what a person counts as one result.
//!
//! [`entry_key`] says which passages belong together, and is the place to refine that. A passage that repeats a better one of
//! another document in nearly the same words, as in a vendored file or the page of an older version, moves below that one and
//! no longer counts. Whatever differs in the other document counts by itself.

use super::answer::CutReport;
use super::candidate::Ranked;
use super::listed::{Entry, Listed};
use super::question::Question;
use super::representative::{chosen, is_mute};
use crate::Error;
use std::collections::HashMap;
use tamis_rank::{Shingles, entry_scores, near_copies};
use tamis_store::{DocumentId, StoredPassage, TextHash};
use tamis_text::Kind;

/// The identity of an entry: passages with equal keys belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EntryKey<'p> {
    document: DocumentId,
    /// Heading and date, for a note in a file of many.
    note: Option<(Option<&'p str>, Option<i64>)>,
}

/// Returns the entry of a passage: its document (a file, an issue with its comments, a page, a session, a claim). A file with
/// many notes, such as a day's log, has an entry for each note.
pub(super) fn entry_key(passage: &StoredPassage) -> EntryKey<'_> {
    let note = holds_many_notes(passage).then_some((passage.heading.as_deref(), passage.dated_ns));
    EntryKey { document: passage.document, note }
}

/// Returns the name of a passage's entry in an answer: namespace and path, and for a note in a file of many its heading and
/// time.
pub(super) fn identity(passage: &StoredPassage) -> String {
    let mut identity = format!("{}/{}", passage.namespace, passage.path);
    if let Some((heading, dated_ns)) = entry_key(passage).note {
        if let Some(heading) = heading {
            identity.push_str(&format!("#{heading}"));
        }
        if let Some(dated_ns) = dated_ns {
            identity.push_str(&format!("@{}", super::metadata::moment(dated_ns)));
        }
    }
    identity
}

/// Returns `true` for files of many notes: `MEMORY.md`, and files named by a day alone (`2026-11-22.md`).
fn holds_many_notes(passage: &StoredPassage) -> bool {
    let name = passage.path.rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_day = stem.len() == 10 && stem.parse::<jiff::civil::Date>().is_ok();
    passage.kind == Kind::Note.as_str() && (is_day || stem.eq_ignore_ascii_case("memory"))
}

/// Groups the list into entries. The passages that stand for the entries come first, in the order of the entries, and all other
/// passages follow; the values become those of the entries. If it `adds`, the entries are ordered by what their other passages say too, and by
/// the name of the file, if the question has its words; the values stay those of the best passages. A list from a single document stays
/// as it is, since the question then is where in it.
pub(super) fn group(listed: &mut Listed, adds: bool, question: &Question) -> Result<(), Error> {
    let keys: Vec<EntryKey> = listed.ranked.iter().map(|ranked| entry_key(&ranked.passage)).collect();
    let alone = keys.iter().all(|key| Some(key) == keys.first());
    if keys.len() > 1 && alone {
        return Ok(());
    }
    // What was said twice was said at two times, whatever files hold it.
    let copied = if question.memory { vec![None; keys.len()] } else { copied(&listed.ranked, &keys) };
    let originals: Vec<usize> = (0..keys.len()).filter(|&at| copied[at].is_none()).collect();
    let original_keys: Vec<EntryKey> = originals.iter().map(|&at| keys[at]).collect();
    let original_values: Vec<f64> = originals.iter().map(|&at| listed.ranked[at].value).collect();
    let mut grouped = tamis_rank::entries(&original_keys, &original_values);
    let mut matches: HashMap<&str, f64> = HashMap::new();
    let name = |entry: &tamis_rank::Entry| {
        let path = listed.ranked[originals[entry.passages[0]]].passage.path.as_str();
        *matches.entry(path).or_insert_with(|| question.paths.match_score(path))
    };
    let places: Vec<Option<usize>> = originals.iter().map(|&at| listed.ranked[at].first).collect();
    let first =
        |entry: &tamis_rank::Entry| entry.passages.iter().filter_map(|&at| places[at]).min().unwrap_or(usize::MAX);
    // Reciprocal ranks order a list by scores of their own. A passage that is in no ranking has 0.
    let by_values = original_values.is_sorted_by(|a, b| a >= b);
    let (scores, background) = match by_values {
        true => (original_values.clone(), listed.background().unwrap_or(0.0)),
        false => (originals.iter().map(|&at| listed.ranked[at].score).collect(), 0.0),
    };
    let adds = adds && scores.is_sorted_by(|a, b| a >= b);
    let own = tamis_rank::entries(&original_keys, &scores);
    let scores = adds.then(|| entry_scores(&own, &scores, background, name));
    let mut added = Vec::new();
    if let Some(scores) = scores {
        let mut scored: Vec<_> = grouped.into_iter().zip(own).zip(scores).collect();
        let finite = |score: f64| if score.is_finite() { score } else { f64::NEG_INFINITY };
        scored.sort_by(|(_, a), (_, b)| finite(*b).total_cmp(&finite(*a)));
        // Exact finds come first whatever else is found. None is scored below what follows it.
        scored.sort_by_key(|((entry, _), _)| first(entry));
        let best = scored.iter().map(|(_, score)| finite(*score)).fold(f64::NEG_INFINITY, f64::max);
        scored.iter_mut().filter(|((entry, _), _)| first(entry) < usize::MAX).for_each(|(_, score)| *score = best);
        added = scored.iter().map(|((_, own), score)| score - own.value).collect();
        grouped = scored.into_iter().map(|((entry, _), _)| entry).collect();
    }

    // Another passage can stand for an entry than its best, and takes the scores of that one.
    let mut stand_in: Vec<(usize, usize)> = Vec::new();
    for entry in grouped.iter_mut().filter(|entry| entry.passages.len() > 1) {
        let passages: Vec<&Ranked> = entry.passages.iter().map(|&at| &listed.ranked[originals[at]]).collect();
        let chosen = chosen(&passages, question, listed.background().unwrap_or(0.0));
        entry.passages[..=chosen].rotate_right(1);
        if chosen > 0 {
            stand_in.push((originals[entry.passages[0]], originals[entry.passages[1]]));
        }
    }

    // The passages that stand for entries first, the others behind them in their order.
    let mut order: Vec<usize> = grouped.iter().map(|entry| originals[entry.passages[0]]).collect();
    let mut places: Vec<Option<usize>> = vec![None; keys.len()];
    order.iter().enumerate().for_each(|(place, &at)| places[at] = Some(place));
    for (at, place) in places.iter_mut().enumerate() {
        if place.is_none() {
            *place = Some(order.len());
            order.push(at);
        }
    }
    let place = |at: usize| places[at].unwrap_or(at);
    let mut entry_of: Vec<usize> = vec![0; keys.len()];
    let mut entries: Vec<Entry> = Vec::with_capacity(grouped.len());
    for (number, entry) in grouped.iter().enumerate() {
        let of_entry = || entry.passages.iter().map(|&at| originals[at]);
        of_entry().for_each(|at| entry_of[at] = number);
        let mute = |at: &usize| is_mute(&listed.ranked[*at].passage, question);
        let shown = of_entry().take(1).any(|at| !mute(&at));
        let mutes = of_entry().skip(1).filter(|at| shown && mute(at)).map(place).collect();
        entries.push(Entry { further: of_entry().skip(1).map(place).collect(), mutes, copies: Vec::new() });
    }
    for (copy, original) in copied.iter().enumerate().filter_map(|(copy, original)| Some((copy, (*original)?))) {
        entries[entry_of[original]].copies.push((place(original), place(copy)));
    }
    let mut values: Vec<f64> = grouped.iter().map(|entry| entry.value).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    drop(keys);
    for (entry, &added) in grouped.iter().zip(&added).filter(|(_, added)| added.is_finite()) {
        for &at in &entry.passages {
            let ranked = &mut listed.ranked[originals[at]];
            ranked.added = added;
            ranked.score += added;
        }
    }
    for (stands, best) in stand_in {
        let Ranked { score, value, .. } = listed.ranked[best];
        let ranked = &mut listed.ranked[stands];
        (ranked.score, ranked.value) = (score, value);
    }
    let mut ranked: Vec<Option<Ranked>> = std::mem::take(&mut listed.ranked).into_iter().map(Some).collect();
    listed.ranked = order.into_iter().filter_map(|at| ranked[at].take()).collect();
    let unsorted = |error: tamis_cut::PoolError| Error::argument("pool", error.to_string(), "sorted");
    listed.pool = listed.pool.clone().with_scores(values).map_err(unsorted)?;
    listed.entries = Some(entries);
    Ok(())
}

/// Returns, for each passage of an ungrouped list, the position of the first passage of its entry. Replays with a cut that counts
/// entries need it.
pub(super) fn places(ranked: &[Ranked]) -> Vec<u32> {
    let keys: Vec<EntryKey> = ranked.iter().map(|ranked| entry_key(&ranked.passage)).collect();
    let copied = copied(ranked, &keys);
    let mut first: HashMap<EntryKey, u32> = HashMap::new();
    let place = |(at, place): (usize, u32)| *first.entry(keys[copied[at].unwrap_or(at)]).or_insert(place);
    (0..ranked.len()).zip(0..).map(place).collect()
}

/// Least shares of length and of BM25, and the greatest difference of similarity, at which two texts are compared. Texts of
/// nearly the same words score alike, and two texts that the query tells apart are not copies.
const LENGTH: f64 = 0.85;
const BM25: f64 = 0.8;
const SIMILARITY: f64 = 0.05;

/// What is known of a passage without reading its text. Small, since all pairs are looked at.
struct Look<'p> {
    key: EntryKey<'p>,
    similarity: Option<f64>,
    bm25: Option<f64>,
    bytes: f64,
    hash: TextHash,
    /// True for notes and conversations: something noted or said twice was said at two times.
    is_memory: bool,
}

impl<'p> Look<'p> {
    fn new(ranked: &'p Ranked, key: EntryKey<'p>) -> Self {
        let Ranked { candidate, passage, .. } = ranked;
        Look {
            key,
            similarity: candidate.similarity,
            bm25: candidate.bm25,
            bytes: passage.text.len() as f64,
            hash: passage.text_hash,
            is_memory: [Kind::Note.as_str(), Kind::Turns.as_str()].contains(&passage.kind.as_str()),
        }
    }

    /// Returns `true` if one of two passages can be a near-copy of the other.
    fn may_repeat(&self, other: &Look<'_>) -> bool {
        let near = |(x, y): (f64, f64)| (x - y).abs() <= SIMILARITY;
        let share = |x: f64, y: f64, least: f64| x.min(y) >= least * x.max(y);
        let alike = self.similarity.zip(other.similarity).is_none_or(near)
            && share(self.bytes, other.bytes, LENGTH)
            && self.bm25.zip(other.bm25).is_none_or(|(x, y)| share(x, y, BM25));
        (alike || self.hash == other.hash) && !self.is_memory && !other.is_memory && self.key != other.key
    }
}

/// Returns, for each ranked passage, the earlier passage of another entry that it is a near-copy of. A text is read only if the
/// scores leave the question open.
fn copied(ranked: &[Ranked], keys: &[EntryKey]) -> Vec<Option<usize>> {
    let looks: Vec<Look> = ranked.iter().zip(keys).map(|(ranked, key)| Look::new(ranked, *key)).collect();
    let may = |a: usize, b: usize| looks[a].may_repeat(&looks[b]);
    let mut compared = vec![false; ranked.len()];
    // Only texts of nearly the same length can repeat each other.
    let mut by_length: Vec<usize> = (0..looks.len()).collect();
    by_length.sort_by(|&a, &b| looks[a].bytes.total_cmp(&looks[b].bytes));
    for (place, &shorter) in by_length.iter().enumerate() {
        let near = |&&longer: &&usize| looks[shorter].bytes >= LENGTH * looks[longer].bytes;
        for &longer in by_length[place + 1..].iter().take_while(near) {
            if !(compared[shorter] && compared[longer]) && may(shorter, longer) {
                (compared[shorter], compared[longer]) = (true, true);
            }
        }
    }
    let shingles = |(ranked, compared): (&Ranked, &bool)| compared.then(|| Shingles::of(&ranked.passage.text));
    let shingles: Vec<Option<Shingles>> = ranked.iter().zip(&compared).map(shingles).collect();
    near_copies(&shingles, may)
}

/// Returns the positions of the other relevant passages of each of the first `keep` entries, best first: those whose own value is
/// at least `line`, the value of the last kept entry, without comments that say nothing. The best passages take their share of a token
/// budget first; a further passage that does not fit into the rest is skipped.
pub(super) fn further_kept(
    ranked: &[Ranked],
    entries: &[Entry],
    keep: usize,
    line: Option<f64>,
    budget: Option<usize>,
) -> Vec<Vec<usize>> {
    let keep = keep.min(entries.len());
    let mut kept: Vec<Vec<usize>> = vec![Vec::new(); keep];
    let Some(line) = line else { return kept };
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (number, entry) in entries.iter().enumerate().take(keep) {
        let reaches = |&&at: &&usize| ranked[at].value.is_finite() && ranked[at].value >= line;
        let reaching = entry.further.iter().filter(reaches).filter(|at| !entry.mutes.contains(at));
        found.extend(reaching.map(|&at| (number, at)));
    }
    found.sort_by(|a, b| ranked[b.1].value.total_cmp(&ranked[a.1].value).then(a.1.cmp(&b.1)));
    let tokens = |at: usize| tamis_text::estimate_tokens(&ranked[at].passage.text);
    let mut left = budget.map(|budget| budget.saturating_sub((0..keep).map(tokens).sum()));
    for (number, at) in found {
        let fits = left.is_none_or(|left| tokens(at) <= left);
        if fits {
            left = left.map(|left| left - tokens(at));
            kept[number].push(at);
        }
    }
    kept
}

/// Adds to the figures of a cut what it counted, and the number of passages behind it.
pub(super) fn explain(cut: &mut CutReport, list: &Listed) {
    let counted = if list.entries.is_some() { "entries" } else { "passages" };
    cut.diagnostics.insert("counted".into(), counted.into());
    if let Some(entries) = &list.entries {
        cut.diagnostics.insert("passages".into(), list.ranked.len().into());
        let copies: usize = entries.iter().map(|entry| entry.copies.len()).sum();
        cut.diagnostics.insert("copies".into(), copies.into());
    }
}
