//! Vectors for this index: those of its models, if they fit the ones that it has.

use super::Index;
use crate::Error;
use std::sync::Arc;
use tamis_embed::Embedder;

impl Index {
    /// Returns the model of that name and the vector of a query.
    ///
    /// # Errors
    /// The model cannot be used, or makes other vectors than those of the index.
    pub(crate) fn embed_query(&self, name: &str, text: &str) -> Result<(Arc<dyn Embedder>, Vec<f32>), Error> {
        let (model, vector) = self.models.embed_query(name, text)?;
        self.check_dimension(name, &model.model().id, vector.len())?;
        Ok((model, vector))
    }

    /// Makes sure that vectors of a model fit those that the index has under its identifier. An endpoint may serve another model under
    /// the same name.
    ///
    /// # Errors
    /// They do not, so the model cannot be used.
    pub(crate) fn check_dimension(&self, name: &str, id: &str, received: usize) -> Result<(), Error> {
        if !self.models.is_remote(name) || received == 0 {
            return Ok(());
        }
        match self.store.models()?.into_iter().find(|known| known.id == id) {
            Some(known) if known.dimension != received => {
                let reason = format!(
                    "its vectors have {received} dimensions, those in the index have {}, so it serves another model; have it serve \
                     the former one again, or change `model` in [models.{name}], which embeds everything anew",
                    known.dimension
                );
                Err(Error::Model { model: name.to_owned(), reason })
            }
            _ => Ok(()),
        }
    }
}
