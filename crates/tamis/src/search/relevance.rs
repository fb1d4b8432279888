//! Weighs the evidence on each entry: the models of relevance order the ranking, and give each entry the probability that a cut reads.
//!
//! Where the better model has not embedded all passages, it embeds the most promising ones while somebody waits. The index keeps
//! these vectors, so it grows better where people look.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tamis_cut::Gate;
use tamis_embed::{ModelInfo, Provider, dot};
use tamis_rank::{
    Basis, EntryFeatures, ExactFind, Matches, QueryFeatures, Relevance, TextKind, last_part, probability, relevance,
};
use tamis_store::{ModelKey, PassageId, StoredPassage, TextHash, is_function_word};
use tamis_text::Role;

use super::answer::ANSWER_EVIDENCE;
use super::candidate::{Candidate, MAIN, Retrieved, is_program, namespaces_of};
use super::context::Context;
use super::exact::MessageSource;
use super::judgements::{JUDGED, JudgedPassages, Said};
use super::query::texts;
use super::ranking::{Entry, Ranking};
use crate::config::Mode;
use crate::index::model_input;
use crate::{Error, models};

/// Weighs the evidence on the entries of a ranking. Where the answer is not sure, the better model embeds the most promising passages
/// now. Returns how much the odds of an answer count for each entry, and the reason if that model failed.
pub(crate) fn weigh(
    context: &Context<'_>,
    retrieved: &Retrieved,
    ranking: &mut Ranking,
) -> Result<(f64, Option<String>), Error> {
    let mut features = Features::new(retrieved, ranking);
    let mut basis = basis(retrieved);
    let mut weighed = relevance(&features.query, &features.entries, basis);
    let mut unread = None;
    let query = &retrieved.query;
    if basis == Basis::Scores && !query.fast && (query.thorough || is_unsure(&weighed)) {
        unread = embed_on_demand(context, retrieved, ranking)?;
        if features.add_on_demand(&ranking.entries) {
            basis = Basis::OnDemand;
            weighed = relevance(&features.query, &features.entries, basis);
        }
    }
    note(&mut ranking.diagnostics, &weighed, basis);
    let has_no_subject = has_no_subject(retrieved);
    for (entry, evidence) in ranking.entries.iter_mut().zip(weighed.entries) {
        entry.evidence = Some(evidence);
        add_fixed_evidence(entry, query.message, has_no_subject);
    }
    ranking.weighed = true;
    Ok((weighed.answer_weight, unread))
}

/// Whether a query has only words that carry no subject, which nothing quotes.
fn has_no_subject(retrieved: &Retrieved) -> bool {
    let mut terms = retrieved.statistics.lexical.iter().flat_map(|words| &words.terms).peekable();
    let is_empty = terms.peek().is_none() || retrieved.query.text.contains('"');
    !is_empty && terms.all(|term| is_function_word(&term.term))
}

/// Adds the evidence that no model weighs.
fn add_fixed_evidence(entry: &mut Entry, message: Option<MessageSource>, has_no_subject: bool) {
    if let Some(source) = message {
        let (name, log_odds) = match (source, entry.first_find()) {
            (MessageSource::Here, Some(_)) => ("exact_message", OF_MESSAGE),
            (MessageSource::Here, None) => ("exact_elsewhere", BESIDE_MESSAGE),
            (MessageSource::Elsewhere, _) => ("message_of_another_program", OF_ANOTHER_PROGRAM),
        };
        entry.add_evidence(name, 1.0, log_odds);
    }
    if matches!(entry.best.exact, Some(ExactFind::Line(_))) {
        entry.add_evidence("exact_line", 1.0, OF_LINE);
    }
    if has_no_subject {
        entry.add_evidence("function_words_alone", 1.0, OF_FUNCTION_WORDS);
    }
    if entry.best.adjusted.short {
        entry.add_evidence("below_language_threshold", 1.0, IMPOSSIBLE);
    }
}

/// The log odds of an entry that falls short of the threshold of its language: it is never kept.
const IMPOSSIBLE: f64 = -40.0;

/// The log odds that a query which is a message adds to the texts that make or repeat it, to all others, and to all where another program
/// makes it. The models were fitted to few messages, and rate similar wording too high. Chosen by hand; the last one is the share of
/// messages that were found in the trees that make them.
const OF_MESSAGE: f64 = 1.0;
const BESIDE_MESSAGE: f64 = -1.5;
const OF_ANOTHER_PROGRAM: f64 = -3.0;

/// The log odds that the line of a file which the query names adds: nobody names one who does not want it. Chosen by hand.
const OF_LINE: f64 = 4.0;

/// The log odds under a query such as "what is it", which asks for nothing. Chosen by hand.
const OF_FUNCTION_WORDS: f64 = -4.0;

/// First entries whose texts are searched for the names in the query.
const NAMED_ENTRIES: usize = 80;

/// The probabilities of an answer below and above which the better model would change nothing. Above, words must cover the query, too.
const HOPELESS: f64 = 0.02;
const CERTAIN: f64 = 0.9;

/// Returns the evidence that a search has before anything is embedded on demand.
fn basis(retrieved: &Retrieved) -> Basis {
    match (retrieved.plan.mode, &retrieved.plan.model) {
        (Mode::Lexical, _) => Basis::Words,
        (Mode::Semantic, _) => Basis::Meaning,
        (Mode::Hybrid, Some(model)) if model.provider != Provider::Static => Basis::Embedded,
        (Mode::Hybrid, _) => Basis::Scores,
    }
}

/// Orders entries by the evidence on them, and gives each its probability. `is_name`: the query is a name and nothing else.
///
/// What people judged relevant comes first, and what they refused comes last. Between them, exact finds come first whatever else is
/// found, in their order. Where a query is a name, what lacks the name stands below all that holds it. Each of these is at least as
/// probable as what follows it.
pub(crate) fn put_in_order(entries: &mut [Entry], is_name: bool) {
    let group = |entry: &Entry| entry.label.map_or(1, |relevant| if relevant { 0 } else { 2 });
    let find = |entry: &Entry| entry.first_find().filter(|_| entry.label != Some(false)).unwrap_or(usize::MAX);
    let holds = |entry: &Entry| entry.passages().filter_map(|one| one.required).fold(0.0, f64::max) >= 1.0;
    let lacks = |entry: &Entry| is_name && entry.label.is_none() && !holds(entry);
    entries.sort_by(|a, b| b.log_odds().total_cmp(&a.log_odds()));
    entries.sort_by_cached_key(|entry| (group(entry), find(entry), lacks(entry)));
    let any_lacks = entries.iter().any(lacks);
    let mut least = 0.0_f64;
    for entry in entries.iter_mut().rev() {
        let own = probability(entry.log_odds());
        least = least.max(own);
        let is_above = find(entry) < usize::MAX || entry.label.is_some() || any_lacks && !lacks(entry);
        entry.probability = Some(if is_above { least } else { own });
    }
    // Next to no text of another project holds exactly what a query asks for, so the first exact find is always shown.
    if let Some(first) = entries.first_mut().filter(|first| find(first) < usize::MAX) {
        first.probability = first.probability.map(|probability| probability.max(Gate::default().level));
    }
}

/// Returns `true` where the better model may change the answer: neither do words answer, nor does nothing speak for an answer.
fn is_unsure(weighed: &Relevance) -> bool {
    let probability = weighed.answer.probability();
    probability >= HOPELESS && !(probability >= CERTAIN && weighed.covered >= 1.0)
}

/// Notes what decided whether there is an answer.
fn note(diagnostics: &mut std::collections::BTreeMap<String, Value>, weighed: &Relevance, basis: Basis) {
    let parts: Map<String, Value> =
        weighed.answer.parts.iter().map(|part| (part.name.to_owned(), json!(part.value))).collect();
    diagnostics.insert("answer".into(), json!(weighed.answer.probability()));
    diagnostics.insert(ANSWER_EVIDENCE.into(), Value::Object(parts));
    diagnostics.insert("covered".into(), json!(weighed.covered));
    diagnostics.insert("basis".into(), basis.name().into());
}

/// What the models of relevance read of a list.
struct Features {
    query: QueryFeatures,
    entries: Vec<EntryFeatures>,
}

impl Features {
    /// Reads a ranking, in its order.
    fn new(retrieved: &Retrieved, ranking: &Ranking) -> Features {
        let Retrieved { query, statistics, phrased, .. } = retrieved;
        let background = statistics.semantic.as_ref();
        let typical = |model| models::typical_similarity(model, background);
        let reference = retrieved.plan.model.as_ref().and_then(typical).filter(|&reference| reference > 0.0);
        // Of several phrasings, the one that fits a passage best speaks for it.
        let mut by_phrasings: HashMap<PassageId, (f64, f64)> = HashMap::new();
        for (weight, (passage, scores)) in phrased.iter().flat_map(|p| p.found.iter().map(|found| (p.weight, found))) {
            let (similarity, coverage) = by_phrasings.entry(*passage).or_default();
            *similarity = similarity.max(weight * scores.similarity.unwrap_or(0.0));
            *coverage = coverage.max(weight * scores.coverage.unwrap_or(0.0));
        }
        let best_phrased = |candidate: &Candidate| by_phrasings.get(&candidate.id()).copied().unwrap_or_default();
        let similarity = |candidate: &Candidate| {
            let similarity = candidate.scores.similarity.map(|own| own.max(best_phrased(candidate).0));
            similarity.zip(reference).map_or(0.0, |(similarity, reference)| similarity / reference)
        };
        let coverage = |candidate: &Candidate| candidate.scores.coverage.unwrap_or(0.0).max(best_phrased(candidate).1);
        let scores = ranking.entries.iter().map(|entry| entry.best.score);
        let best = scores.filter(|score| score.is_finite()).fold(0.0, f64::max);
        // Reciprocal ranks have no background.
        let low = ranking.background().filter(|&background| background < best).unwrap_or(0.0);
        let scaled = |score: f64| if best > low && score.is_finite() { (score - low) / (best - low) } else { 0.0 };
        let title = |Candidate { passage, .. }: &Candidate| {
            let heading = || passage.heading.as_deref()?.rsplit(" > ").next();
            let symbol = || last_part(passage.symbol.as_deref()?);
            // Generated code has the names of what people wrote elsewhere.
            let written = passage.role != Role::Generated.as_str();
            symbol().or_else(heading).filter(|_| written).map_or(0.0, |title| query.paths.share_in(title))
        };
        let held = |entry: &Entry| {
            let texts: Vec<&str> = entry.passages().flat_map(|candidate| texts(&candidate.passage)).collect();
            query.proper_names.held(&texts)
        };
        let held: Vec<Vec<bool>> = ranking.entries.iter().take(NAMED_ENTRIES).map(held).collect();
        let names = query.proper_names.len();
        let share = |held: usize| if names == 0 { 0.0 } else { held as f64 / names as f64 };
        let held_by = |rank: usize| held.get(rank).map_or(0, |held| held.iter().filter(|held| **held).count());
        let features = |(rank, entry): (usize, &Entry)| EntryFeatures {
            similarity: similarity(&entry.best),
            similarity_max: entry.passages().map(similarity).fold(f64::NEG_INFINITY, f64::max),
            coverage: coverage(&entry.best),
            coverage_max: entry.passages().map(coverage).fold(0.0, f64::max),
            passages: 1 + entry.others.len(),
            rank,
            normalized_score: scaled(entry.best.score),
            text: TextKind { is_main: entry.best.passage.role == MAIN, is_program: is_program(&entry.best.passage) },
            matches: Matches {
                exact: entry.first_find().is_some(),
                name: query.paths.match_score(&entry.best.passage.path),
                title: entry.passages().map(title).fold(0.0, f64::max),
                required: entry.best.required.unwrap_or(0.0),
                names: share(held_by(rank)),
            },
            characters: entry.best.passage.text.len(),
            on_demand: None,
        };
        let terms = statistics.lexical.iter().flat_map(|statistics| &statistics.terms);
        let words: Vec<u64> = terms.filter(|term| !term.compound).map(|term| term.document_frequency).collect();
        let missing = words.iter().filter(|&&documents| documents == 0).count();
        let missing_names = (0..names).filter(|&name| held.iter().all(|held| !held[name])).count();
        let best_phrasing = by_phrasings.values().map(|&(_, coverage)| coverage).fold(0.0, f64::max);
        let query = QueryFeatures {
            words: words.len(),
            // What no passage has of one phrasing, another one can say.
            missing_words: (missing as f64 / words.len().max(1) as f64).min(1.0 - best_phrasing),
            names,
            missing_names: share(missing_names),
            passages: retrieved.plan.coverage.passages,
            reads_required: ranking.entries.iter().any(|entry| entry.best.required.is_some()),
            // That of the query itself says nothing of its other phrasings.
            background: background.filter(|_| by_phrasings.is_empty()).zip(reference).map(|(background, reference)| {
                (f64::from(background.mean) / reference, f64::from(background.deviation) / reference)
            }),
        };
        Features { query, entries: ranking.entries.iter().enumerate().map(features).collect() }
    }

    /// Adds the similarities under the better model. Returns `true` if there is one.
    fn add_on_demand(&mut self, entries: &[Entry]) -> bool {
        for (features, entry) in self.entries.iter_mut().zip(entries) {
            features.on_demand = entry.passages().filter_map(|candidate| candidate.late).reduce(f64::max);
        }
        self.entries.iter().any(|features| features.on_demand.is_some())
    }
}

/// What a judgement adds to the log odds: more than all other evidence together, which rarely reaches 10.
const JUDGED_LOG_ODDS: f64 = 25.0;

/// Adds what people judged to the evidence on entries, and notes it on these and their passages.
///
/// A relevant passage makes its entry relevant. A passage that is not relevant speaks against its entry if it stands or stood
/// for it; otherwise only the passage itself is no longer shown. Near-copies count like the passages that they repeat.
pub(crate) fn label(judged: &JudgedPassages, entries: &mut [Entry]) {
    let said = |candidate: &Candidate| judged.verdict_on(&candidate.passage);
    for entry in entries.iter_mut().filter(|_| !judged.is_empty()) {
        for other in &mut entry.others {
            other.shown.label = said(other).map(|said| said.relevant);
            other.shown.hidden |= other.shown.label == Some(false);
        }
        let own = said(&entry.best).map(|said| Said { of_entry: true, ..said });
        let others = || entry.others.iter().chain(entry.copies.iter().map(|copy| &copy.candidate));
        let all = || others().filter_map(said).chain(own);
        let relevant = match all().any(|said| said.relevant) {
            true => Some(true),
            false => all().any(|said| said.of_entry).then_some(false),
        };
        entry.label = relevant;
        if let Some(relevant) = relevant {
            let sign = if relevant { 1.0 } else { -1.0 };
            entry.add_evidence(JUDGED, sign, sign * JUDGED_LOG_ODDS);
        }
    }
}

/// Vectors that searches made, by model and text.
#[derive(Debug, Default)]
pub(crate) struct OnDemandVectors(Mutex<HashMap<(String, TextHash), Vec<f32>>>);

/// Passages of a search that are embedded while somebody waits: the best ones of the first entries, and those that each retriever
/// ranks highest.
const PASSAGES: usize = 24;
const FIRST_ENTRIES: usize = 8;

/// Vectors kept in memory, about six megabytes. Beyond that the next search begins anew.
const REMEMBERED: usize = 4096;

/// Texts that the model embeds between two looks at the observer.
const TEXTS_A_PART: usize = 8;

impl OnDemandVectors {
    fn get(&self, model: &str, text: TextHash) -> Option<Vec<f32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(model.to_owned(), text)).cloned()
    }

    fn put(&self, model: &str, rows: &[(TextHash, Vec<f32>)]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + rows.len() > REMEMBERED {
            known.clear();
        }
        known.extend(rows.iter().map(|(text, vector)| ((model.to_owned(), *text), vector.clone())));
    }
}

/// Notes the similarity to the query of those candidates that the better model has embedded, the most promising ones now. Returns the
/// reason if the model failed; the search is then decided without it.
pub(crate) fn embed_on_demand(
    context: &Context<'_>,
    retrieved: &Retrieved,
    ranking: &mut Ranking,
) -> Result<Option<String>, Error> {
    let Some(name) = context.index.config.index.models.last().filter(|_| !ranking.entries.is_empty()) else {
        return Ok(None);
    };
    let embedded = context.index.models.described(name).and_then(|model| {
        if model.provider == Provider::Static {
            return Ok(());
        }
        let (_, query) = context.index.embed_query(name, &retrieved.query.text)?;
        let reference = models::reference(&model).unwrap_or(1.0);
        let candidates = ranking.candidates();
        let promising = promising(&candidates, ranking.entries.len());
        let vectors = vectors_on_demand(context, name, &model, &candidates, &promising)?;
        let late = |vector: Vec<f32>| f64::from(dot(&query, &vector)) / reference;
        let ids = candidates.iter().map(|candidate| candidate.id());
        let known: HashMap<PassageId, Option<f64>> =
            ids.zip(vectors.into_iter().map(|vector| vector.map(late))).collect();
        ranking.candidates_mut().for_each(|one| one.late = known.get(&one.id()).copied().flatten());
        Ok(())
    });
    match embedded {
        Ok(()) => Ok(None),
        Err(Error::Model { model, reason }) => Ok(Some(format!("decided without {model}: {reason}"))),
        Err(error) => Err(error),
    }
}

/// Returns the vectors of the candidates that have one. Of those without, the ones at the places `wanted` are embedded now.
fn vectors_on_demand(
    context: &Context<'_>,
    name: &str,
    model: &ModelInfo,
    candidates: &[&Candidate],
    wanted: &[usize],
) -> Result<Vec<Option<Vec<f32>>>, Error> {
    let ids: Vec<PassageId> = candidates.iter().map(|candidate| candidate.id()).collect();
    let mut vectors = context.index.store.vectors(
        &model.id,
        &namespaces_of(candidates.iter().map(|candidate| &*candidate.passage)),
        &ids,
    )?;
    let known = &context.index.kept.on_demand;
    for (vector, candidate) in vectors.iter_mut().zip(candidates).filter(|(vector, _)| vector.is_none()) {
        *vector = known.get(&model.id, candidate.passage.text_hash);
    }
    let missing: Vec<usize> = wanted.iter().copied().filter(|&at| vectors[at].is_none()).collect();
    if missing.is_empty() {
        return Ok(vectors);
    }
    let text = |at: &usize| embedded_text(&candidates[*at].passage);
    let input = |at: &usize| model_input(model, &candidates[*at].passage.path, &text(at)).into_owned();
    let inputs: Vec<String> = missing.iter().map(input).collect();
    let read: Vec<&str> = inputs.iter().map(String::as_str).collect();
    // An endpoint reads them all as fast as a part of them.
    let at_once = if context.index.models.is_remote(name) { read.len() } else { TEXTS_A_PART };
    let mut made = Vec::with_capacity(read.len());
    for part in read.chunks(at_once) {
        context.observer.check_cancelled()?;
        made.extend(context.index.models.embed_passages(name, part, true)?);
    }
    let rows: Vec<(TextHash, Vec<f32>)> =
        missing.iter().map(|&at| candidates[at].passage.text_hash).zip(made).collect();
    for (&at, (_, vector)) in missing.iter().zip(&rows) {
        vectors[at] = Some(vector.clone());
    }
    known.put(&model.id, &rows);
    // What is stored must be the vector of the stored text.
    let is_whole = |at: &usize| TextHash::from_text(&text(at)) == candidates[*at].passage.text_hash;
    let whole = missing.iter().zip(rows).filter(|(at, _)| is_whole(at)).map(|(_, row)| row);
    keep(context, model, whole.collect());
    Ok(vectors)
}

/// Stores vectors, unless the index cannot be written or somebody else is writing.
fn keep(context: &Context<'_>, model: &ModelInfo, rows: Vec<(TextHash, Vec<f32>)>) {
    let Some((_, first)) = rows.first().filter(|_| context.index.is_writable()) else { return };
    let model = ModelKey { id: model.id.clone(), dimension: first.len() };
    // A search never fails because its vectors could not be kept: the next one makes them again.
    if let Ok(_writing) = context.index.store.writer() {
        let _ = context.index.store.put_vectors(&model, &rows);
    }
}

/// Returns the places of the candidates that are worth embedding: the best passages of the first entries, which come first, and then by
/// turns those that the lexical and the semantic retriever rank highest.
fn promising(candidates: &[&Candidate], entries: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..entries.min(FIRST_ENTRIES)).collect();
    let by = |score: fn(&Candidate) -> Option<f64>| {
        let key = |at: usize| score(candidates[at]).filter(|score| score.is_finite()).unwrap_or(f64::NEG_INFINITY);
        let mut places: Vec<usize> = (0..candidates.len()).collect();
        places.sort_by(|&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
        places
    };
    let (words, meaning) = (by(|candidate| candidate.scores.bm25), by(|candidate| candidate.scores.similarity));
    for at in words.into_iter().zip(meaning).flat_map(|(word, meaning)| [word, meaning]) {
        if chosen.len() >= PASSAGES {
            break;
        }
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    chosen
}

/// Returns the text of a passage that is embedded.
fn embedded_text(passage: &StoredPassage) -> Cow<'_, str> {
    let parts = [&passage.heading, &passage.symbol, &passage.context].map(|part| part.as_deref());
    tamis_text::embedded_text(&passage.kind, parts, &passage.text)
}
