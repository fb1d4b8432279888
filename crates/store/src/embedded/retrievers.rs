//! Searching: the lexical and the semantic retriever.

use std::sync::Arc;

use super::EmbeddedStore;
use crate::cache::lock;
use crate::content::{Content, Model, check_query, model_keys, settle, with_spare};
use crate::error::{Result, StoreError};
use crate::filter::{Filter, Selection};
use crate::lexical::{Reader, State, guarded, near_words};
use crate::record::{ModelKey, PassageId, TextHash, TextToEmbed};
use crate::report::Coverage;
use crate::retrieval::{Background, LexicalHits, LexicalQuery, LexicalScore, NearWord, Nearest, SemanticHit};
use crate::sqlite::connection::Access;
use crate::store::{Documents, LexicalRetriever, VectorRetriever};
use crate::vectors::cosine;

/// The error of a similarity computed from codes. Candidates within it of the best are scored by the vectors in the database.
const CODE_ERROR: f32 = 0.01;

/// Most words that similar ones are looked up for.
const MOST_LOOKED_UP: usize = 4;

impl EmbeddedStore {
    /// Returns the lexical index, rebuilt first where it cannot be used; `None` when there is nothing to search.
    fn reader(&self) -> Result<Option<Arc<Reader>>> {
        let reason = match self.lexical.state() {
            State::Ready(reader) => return Ok(Some(reader)),
            State::Missing => "it was never built".to_owned(),
            State::Unusable(reason) => reason,
        };
        if self.database.resolve(&Filter::default())?.count == 0 {
            return Ok(None);
        }
        let unpublished = || StoreError::Unpublished { path: self.lexical.path().to_owned(), reason: reason.clone() };
        if self.access == Access::ReadOnly {
            return Err(unpublished());
        }
        let _hold = self.hold()?;
        let _publishing = lock(&self.publishing);
        let seq = self.lexical.catch_up(&self.database, false, &mut |_| Ok(()))?;
        self.database.published(seq, 0)?;
        match self.lexical.state() {
            State::Ready(reader) => Ok(Some(reader)),
            _ => Err(unpublished()),
        }
    }

    /// Returns the hits of the lexical index that exist, and `true` if others are gone.
    fn existing_hits(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<(LexicalHits, bool)> {
        let selection = self.resolve(filter)?;
        let Some(reader) = self.reader()? else {
            return Ok((LexicalHits::default(), false));
        };
        let mut found = self.tantivy(|| reader.search(&query.text, &selection, with_spare(k)))?;
        found.statistics.passages = selection.count;
        let mut ids: Vec<u64> = found.hits.iter().map(|hit| hit.passage.0).collect();
        ids.sort_unstable();
        let existing = self.database.existing(&ids)?;
        found.hits.retain(|hit| existing.binary_search(&hit.passage.0).is_ok());
        Ok((found, existing.len() < ids.len()))
    }

    /// Passages that the lexical index finds, without those that the database has deleted since.
    fn unscored(
        &self,
        filter: &Filter,
        find: impl FnOnce(&Reader, &Selection) -> tantivy::Result<Vec<PassageId>>,
    ) -> Result<Vec<PassageId>> {
        let selection = self.resolve(filter)?;
        let Some(reader) = self.reader()? else {
            return Ok(Vec::new());
        };
        let mut found = self.tantivy(|| find(&reader, &selection))?;
        let existing = self.database.existing(&found.iter().map(|passage| passage.0).collect::<Vec<_>>())?;
        found.retain(|passage| existing.binary_search(&passage.0).is_ok());
        Ok(found)
    }

    fn tantivy<T>(&self, read: impl FnOnce() -> tantivy::Result<T>) -> Result<T> {
        guarded(read).map_err(|error| StoreError::tantivy(self.lexical.path(), error))
    }

    /// Returns a known model, after checking that the query's vector fits it.
    fn model_of(&self, model: &str, vector: &[f32]) -> Result<Option<Model>> {
        let Some(model) = self.database.model(model)? else {
            return Ok(None);
        };
        check_query(&model, vector)?;
        Ok(Some(model))
    }

    /// Counts all passages, and those with a vector of the model. The vector index knows the number; counting in the database reads
    /// a page for every few passages.
    fn whole_coverage(&self, model: &str, everything: &Selection) -> Result<Coverage> {
        let Some(row) = self.database.model(model)? else {
            return Ok(Coverage { passages: everything.count, embedded: 0 });
        };
        match self.semantic.embedded(&self.database, &row) {
            Ok(Some(embedded)) => Ok(Coverage { passages: everything.count, embedded }),
            // The index may be unusable; the database counts in any case.
            Ok(None) | Err(_) => self.database.coverage(model, everything),
        }
    }

    /// Converts the vector of each passage.
    fn map_vectors<T>(
        &self,
        model: &Model,
        namespaces: &[String],
        ids: &[PassageId],
        convert: impl Fn(&[f32]) -> T,
    ) -> Result<Vec<Option<T>>> {
        let mut converted = Vec::with_capacity(ids.len());
        self.database
            .each_vector(model, namespaces, ids, |found| converted.push(found.map(|(_, vector)| convert(vector))))?;
        Ok(converted)
    }
}

impl LexicalRetriever for EmbeddedStore {
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits> {
        let (mut found, gone) = self.existing_hits(query, filter, k)?;
        if gone {
            // Deleted passages are kept until the next publication. It came in between, so the new index has their replacements.
            found = self.existing_hits(query, filter, k)?.0;
        }
        settle(self, &filter.namespaces, &mut found.hits, k)?;
        Ok(found)
    }

    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>> {
        let selection = self.resolve(filter)?;
        match self.reader()? {
            Some(reader) => self.tantivy(|| reader.score(&query.text, &selection, ids)),
            None => Ok(vec![LexicalScore::default(); ids.len()]),
        }
    }

    fn defining(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>> {
        self.unscored(filter, |reader, selection| reader.defining(name, selection, limit))
    }

    fn containing(&self, text: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>> {
        self.unscored(filter, |reader, selection| reader.containing(text, selection, limit))
    }

    fn near_words(&self, words: &[&str], filter: &Filter) -> Result<Vec<Vec<NearWord>>> {
        let mut near = vec![Vec::new(); words.len()];
        let selection = self.resolve(filter)?;
        let Some(reader) = self.reader()? else { return Ok(near) };
        let mut looked_up = 0;
        for (word, near) in words.iter().zip(&mut near) {
            let Some(terms) = self.tantivy(|| reader.near_terms(word, &selection))? else { continue };
            let ids: Vec<PassageId> = terms.iter().flat_map(|term| &term.examples).copied().collect();
            *near = near_words(word, &terms, &self.passages(&filter.namespaces, &ids)?);
            looked_up += 1;
            if looked_up == MOST_LOOKED_UP {
                break;
            }
        }
        Ok(near)
    }
}

impl VectorRetriever for EmbeddedStore {
    fn unembedded(&self, model: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        self.database.unembedded(model, &*self.resolve(filter)?, limit)
    }

    fn most_telling(&self, model: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        if *filter == Filter::default() {
            self.database.most_telling(model, limit)
        } else {
            self.unembedded(model, filter, limit)
        }
    }

    fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64> {
        self.writing(|database| database.put_vectors(model, vectors))
    }

    fn nearest(&self, model: &str, vector: &[f32], filter: &Filter, k: usize) -> Result<Nearest> {
        let Some(model) = self.model_of(model, vector)? else {
            return Ok(Nearest::default());
        };
        let selection = self.resolve(filter)?;
        let count = k.saturating_add(k / 2).saturating_add(32);
        let coded = self.semantic.nearest(&self.database, &model, vector, &selection, count)?;
        let worst = match k.checked_sub(1) {
            None => f32::INFINITY,
            Some(last) => coded.hits.get(last).map_or(f32::NEG_INFINITY, |hit| hit.similarity - 2.0 * CODE_ERROR),
        };
        let ids: Vec<PassageId> =
            coded.hits.iter().take_while(|hit| hit.similarity >= worst).map(|hit| PassageId(hit.passage)).collect();
        let mut hits: Vec<SemanticHit> = Vec::with_capacity(ids.len());
        let mut passages = ids.iter();
        self.database.each_vector(&model, &[], &ids, |found| {
            if let (Some(&passage), Some((document, stored))) = (passages.next(), found) {
                hits.push(SemanticHit { passage, document, similarity: cosine(vector, stored) });
            }
        })?;
        hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.passage.cmp(&b.passage)));
        settle(self, &filter.namespaces, &mut hits, k)?;
        Ok(Nearest { hits, background: Background::from(coded.background) })
    }

    fn similarities(
        &self,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        ids: &[PassageId],
    ) -> Result<Vec<Option<f32>>> {
        match self.model_of(model, vector)? {
            Some(model) => self.map_vectors(&model, &filter.namespaces, ids, |stored| cosine(vector, stored)),
            None => Ok(vec![None; ids.len()]),
        }
    }

    fn vectors(&self, model: &str, _: &[String], ids: &[PassageId]) -> Result<Vec<Option<Vec<f32>>>> {
        match self.database.model(model)? {
            Some(model) => self.map_vectors(&model, &[], ids, <[f32]>::to_vec),
            None => Ok(vec![None; ids.len()]),
        }
    }

    fn models(&self) -> Result<Vec<ModelKey>> {
        self.ask(async |session| model_keys(session).await)
    }

    fn text_vectors(&self, namespace: &str, model: &str, texts: &[TextHash]) -> Result<Vec<Option<Vec<f32>>>> {
        match self.database.model(model)? {
            Some(model) => self.database.text_vectors(namespace, &model, texts),
            None => Ok(vec![None; texts.len()]),
        }
    }

    fn coverage(&self, model: &str, filter: &Filter) -> Result<Coverage> {
        let state = self.database.content_state(filter.is_by_properties())?;
        self.recent.coverages.retain(|(known, ..)| known.seq == state.seq);
        if let Some(coverage) =
            self.recent.coverages.get(|(known, name, of)| *known == state && name == model && of == filter)
        {
            return Ok(coverage);
        }
        let selection = self.resolve(filter)?;
        // Where a model covers all passages, or none, the selected ones need not be counted. Filters by date differ at each
        // search.
        let whole = if selection.is_everything() { None } else { Some(self.coverage(model, &Filter::default())?) };
        let coverage = match whole {
            Some(whole) if whole.embedded == whole.passages => {
                Coverage { passages: selection.count, embedded: selection.count }
            }
            Some(whole) if whole.embedded == 0 => Coverage { passages: selection.count, embedded: 0 },
            None => self.whole_coverage(model, &selection)?,
            _ => self.database.coverage(model, &selection)?,
        };
        self.recent.coverages.push((state, model.to_owned(), filter.clone()), coverage);
        Ok(coverage)
    }
}

impl From<crate::vectors::Background> for Background {
    fn from(measured: crate::vectors::Background) -> Background {
        let crate::vectors::Background { count, sampled, mean, deviation } = measured;
        Background { count: count as u64, sampled: sampled < count, mean, deviation }
    }
}
