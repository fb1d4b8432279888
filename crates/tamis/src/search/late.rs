//! Late vectors: where the better model has not read all passages, it reads the best passages of the first entries while somebody
//! waits. The index keeps these vectors, so it grows better where people look.

use super::candidate::Ranked;
use super::listed::Listed;
use super::retrieve::{Retrieved, namespaces_of};
use super::searcher::Searcher;
use crate::Error;
use crate::index::model_input;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tamis_embed::{ModelInfo, Provider, dot};
use tamis_store::{ModelKey, PassageId, StoredPassage, TextHash};

/// Vectors that searches made, by model and text.
#[derive(Debug, Default)]
pub(crate) struct LateVectors(Mutex<HashMap<(String, TextHash), Vec<f32>>>);

/// First entries of a search whose best passages the better model reads while somebody waits.
const ENTRIES: usize = 24;

/// Vectors kept in memory, about six megabytes. Beyond that the next search begins anew.
const REMEMBERED: usize = 4096;

/// Texts that the model reads between two looks at the observer.
const TEXTS_A_PART: usize = 8;

impl LateVectors {
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
    /// Notes the similarity of the first entries to the query under the better model. Their best passages are read now
    /// if it has not read them. Returns the reason if the model failed; the search is then decided without it.
    pub(super) fn read_late(&self, retrieved: &Retrieved, listed: &mut Listed) -> Result<Option<String>, Error> {
        let depth = ENTRIES.min(listed.counted().len());
        let Some(name) = self.index.config.index.models.last().filter(|_| depth > 0) else { return Ok(None) };
        let read = self.index.models.described(name).and_then(|model| {
            if model.provider == Provider::Static {
                return Ok(());
            }
            let first = &mut listed.ranked[..depth];
            // The semantic leg has compared them already if the model covers all passages.
            if retrieved.plan.model.as_ref().is_some_and(|used| used.id == model.id) {
                first.iter_mut().for_each(|ranked| ranked.late = ranked.candidate.similarity);
                return Ok(());
            }
            let (_, query) = self.index.embed_query(name, &retrieved.question.text)?;
            let vectors = self.late_vectors(name, &model, first)?;
            for (ranked, vector) in first.iter_mut().zip(vectors) {
                ranked.late = vector.map(|vector| f64::from(dot(&query, &vector)));
            }
            Ok(())
        });
        match read {
            Ok(()) => Ok(None),
            Err(Error::Model { model, reason }) => Ok(Some(format!("decided without {model}: {reason}"))),
            Err(error) => Err(error),
        }
    }

    /// Returns the vectors of passages, which are read if neither the index nor a search before has them.
    fn late_vectors(&self, name: &str, model: &ModelInfo, passages: &[Ranked]) -> Result<Vec<Option<Vec<f32>>>, Error> {
        let ids: Vec<PassageId> = passages.iter().map(|ranked| ranked.passage.passage).collect();
        let mut vectors = self.index.store.vectors(
            &model.id,
            &namespaces_of(passages.iter().map(|ranked| &*ranked.passage)),
            &ids,
        )?;
        let late = &self.index.late;
        for (vector, ranked) in vectors.iter_mut().zip(passages).filter(|(vector, _)| vector.is_none()) {
            *vector = late.get(&model.id, ranked.passage.text_hash);
        }
        let missing: Vec<usize> = (0..vectors.len()).filter(|&at| vectors[at].is_none()).collect();
        if missing.is_empty() {
            return Ok(vectors);
        }
        let text = |at: &usize| embedded_text(&passages[*at].passage);
        let input = |at: &usize| model_input(model, &passages[*at].passage.path, &text(at)).into_owned();
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
            missing.iter().map(|&at| passages[at].passage.text_hash).zip(made).collect();
        for (&at, (_, vector)) in missing.iter().zip(&rows) {
            vectors[at] = Some(vector.clone());
        }
        late.put(&model.id, &rows);
        // What is stored must be the vector of the stored text.
        let is_whole = |at: &usize| TextHash::of(&text(at)) == passages[*at].passage.text_hash;
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

/// Returns the text of a passage that is embedded.
fn embedded_text(passage: &StoredPassage) -> Cow<'_, str> {
    let parts = [&passage.heading, &passage.symbol, &passage.context].map(|part| part.as_deref());
    tamis_text::embedded_text(&passage.kind, parts, &passage.text)
}
