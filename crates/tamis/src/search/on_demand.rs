//! Embedding on demand: where the better model has not embedded all passages, it embeds the most promising ones while somebody waits. The
//! index keeps these vectors, so it grows better where people look.

use super::candidate::Candidate;
use super::ranking::Ranking;
use super::retrieve::{Retrieved, namespaces_of};
use super::searcher::Searcher;
use crate::Error;
use crate::index::model_input;
use crate::models;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tamis_embed::{ModelInfo, Provider, dot};
use tamis_store::{ModelKey, PassageId, StoredPassage, TextHash};

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

impl Searcher<'_> {
    /// Notes the similarity to the query of those candidates that the better model has embedded, the most promising ones now. Returns the
    /// reason if the model failed; the search is then decided without it.
    pub(super) fn embed_on_demand(
        &self,
        retrieved: &Retrieved,
        ranking: &mut Ranking,
    ) -> Result<Option<String>, Error> {
        let Some(name) = self.index.config.index.models.last().filter(|_| !ranking.entries.is_empty()) else {
            return Ok(None);
        };
        let embedded = self.index.models.described(name).and_then(|model| {
            if model.provider == Provider::Static {
                return Ok(());
            }
            let (_, query) = self.index.embed_query(name, &retrieved.question.text)?;
            let reference = models::reference(&model).unwrap_or(1.0);
            let candidates = ranking.candidates();
            let promising = promising(&candidates, ranking.entries.len());
            let vectors = self.vectors_on_demand(name, &model, &candidates, &promising)?;
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
        &self,
        name: &str,
        model: &ModelInfo,
        candidates: &[&Candidate],
        wanted: &[usize],
    ) -> Result<Vec<Option<Vec<f32>>>, Error> {
        let ids: Vec<PassageId> = candidates.iter().map(|candidate| candidate.id()).collect();
        let mut vectors = self.index.store.vectors(
            &model.id,
            &namespaces_of(candidates.iter().map(|candidate| &*candidate.passage)),
            &ids,
        )?;
        let known = &self.index.on_demand;
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
        let at_once = if self.index.models.is_remote(name) { read.len() } else { TEXTS_A_PART };
        let mut made = Vec::with_capacity(read.len());
        for part in read.chunks(at_once) {
            self.observer.check_cancelled()?;
            made.extend(self.index.models.embed_passages(name, part, true)?);
        }
        let rows: Vec<(TextHash, Vec<f32>)> =
            missing.iter().map(|&at| candidates[at].passage.text_hash).zip(made).collect();
        for (&at, (_, vector)) in missing.iter().zip(&rows) {
            vectors[at] = Some(vector.clone());
        }
        known.put(&model.id, &rows);
        // What is stored must be the vector of the stored text.
        let is_whole = |at: &usize| TextHash::of(&text(at)) == candidates[*at].passage.text_hash;
        let whole = missing.iter().zip(rows).filter(|(at, _)| is_whole(at)).map(|(_, row)| row);
        self.keep(model, whole.collect());
        Ok(vectors)
    }

    /// Stores vectors, unless the index cannot be written or somebody else is writing.
    fn keep(&self, model: &ModelInfo, rows: Vec<(TextHash, Vec<f32>)>) {
        let Some((_, first)) = rows.first().filter(|_| self.index.is_writable()) else { return };
        let model = ModelKey { id: model.id.clone(), dimension: first.len() };
        // A search never fails because its vectors could not be kept: the next one makes them again.
        if let Ok(_writing) = self.index.store.writer() {
            let _ = self.index.store.put_vectors(&model, &rows);
        }
    }
}

/// Returns the places of the candidates that are worth embedding: the best passages of the first entries, which come first, and then by turns those that
/// the lexical and the semantic retriever rank highest.
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
