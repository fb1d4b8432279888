//! The order of what is kept: what says something new before what repeats what stands above.
//!
//! It never changes what is kept. Two passages are as alike as their vectors; where one has none, as the words of both. Passages
//! of one document that have lines in common, as the neighbours of a text that is divided with an overlap have, count as
//! saying the same: both are kept, since the answer may be in what only one of them holds, and the second stands further down.

use super::candidate::Ranked;
use crate::Error;
use crate::index::Index;
use std::cell::OnceCell;
use tamis_embed::dot;
use tamis_rank::{diversified, jaccard};
use tamis_store::{PassageId, Store};

impl Index {
    /// The places of `kept` in the order of maximal marginal relevance, of which the first `limit` are shown. `model`: whose
    /// vectors say what is alike.
    pub(super) fn diversified(
        &self,
        kept: &[Ranked],
        lambda: f64,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<usize>, Error> {
        // Nothing can change places.
        if kept.len() < 3 || limit < 2 || lambda >= 1.0 {
            return Ok((0..kept.len()).collect());
        }
        let ids: Vec<PassageId> = kept.iter().map(|ranked| ranked.passage.passage).collect();
        let vectors = match model {
            Some(model) => self.store.vectors(model, &ids)?,
            None => vec![None; ids.len()],
        };
        let words: Vec<OnceCell<Vec<String>>> = kept.iter().map(|_| OnceCell::new()).collect();
        let words = |at: usize| words[at].get_or_init(|| words_of(&kept[at].passage.text));
        let alike = |a: usize, b: usize| match (&vectors[a], &vectors[b]) {
            _ if overlap(&kept[a], &kept[b]) => 1.0,
            (Some(a), Some(b)) => f64::from(dot(a, b)),
            _ => jaccard(words(a), words(b)),
        };
        let relevance: Vec<f64> = kept.iter().map(|ranked| ranked.score).collect();
        Ok(diversified(&relevance, lambda, limit, alike))
    }
}

/// Whether two passages hold the same text or lines of one document in common.
fn overlap(a: &Ranked, b: &Ranked) -> bool {
    let (a, b) = (&a.passage, &b.passage);
    let share_lines = a.document == b.document && a.start_line <= b.end_line && b.start_line <= a.end_line;
    share_lines || a.text_hash == b.text_hash
}

/// The words of a text in lower case, each once, ascending.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort_unstable();
    words.dedup();
    words
}
