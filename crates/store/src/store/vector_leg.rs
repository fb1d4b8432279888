//! Storing vectors and searching by similarity.

use crate::error::Result;
use crate::filter::Filter;
use crate::hits::Nearest;
use crate::record::{ModelKey, PassageId, TextHash, TextToEmbed};
use crate::report::Coverage;

/// Stores vectors and scores passages by cosine similarity.
pub trait VectorLeg: Send + Sync {
    /// Returns texts of passages that pass the filter and lack a vector of a model, each once, at most `limit`. The model
    /// may be unknown to the store.
    fn unembedded(&self, model: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>>;

    /// Returns such texts, those first of which searches gain the most, where the store can tell. To find their order takes a look at
    /// all of them, and is done again at its end.
    fn most_telling(&self, model: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        self.unembedded(model, filter, limit)
    }

    /// Stores vectors, scaled to unit length unless they have it and rounded to half precision, and returns the number stored. Deleted
    /// texts are skipped, and so are texts that already have a vector: a model whose vectors changed needs a new name.
    fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64>;

    /// Returns the `k` passages most similar to a vector; empty for a model without vectors.
    fn nearest(&self, model: &str, vector: &[f32], filter: &Filter, k: usize) -> Result<Nearest>;

    /// Returns the cosine similarity of a vector to any passages, in the order given. Of the filter only the namespaces count. `None`
    /// for a passage without a vector of the model, and for one of another namespace.
    fn similarities(&self, model: &str, vector: &[f32], filter: &Filter, ids: &[PassageId])
    -> Result<Vec<Option<f32>>>;

    /// Returns the unit vectors of passages in the order given; `None` for a passage without a vector of the model. `namespaces` says
    /// where they are, as in [`passages`](super::Documents::passages).
    fn vectors(&self, model: &str, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<Option<Vec<f32>>>>;

    /// Returns the models that have vectors, by name.
    fn models(&self) -> Result<Vec<ModelKey>>;

    /// Returns the unit vectors of texts in the order given; `None` for a text that no passage of the namespace has, or that
    /// has no vector of the model.
    fn text_vectors(&self, namespace: &str, model: &str, texts: &[TextHash]) -> Result<Vec<Option<Vec<f32>>>>;

    /// Counts the passages that pass a filter, and those of them that have a vector of the model.
    fn coverage(&self, model: &str, filter: &Filter) -> Result<Coverage>;
}
