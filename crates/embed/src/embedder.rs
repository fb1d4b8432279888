//! The trait that separates users of vectors from the models that make them.

use serde::{Deserialize, Serialize};

use crate::EmbedError;

/// The place a model runs at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Provider {
    /// The token table built into this crate.
    Static,
    /// The transformer built into this crate.
    MiniLm,
    /// A directory on this machine.
    Local,
    /// An HTTP endpoint; texts leave the process.
    Remote,
}

/// The facts about a model that a caller needs to store, compare and fuse its vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Stable identifier, such as `static-256-v2`, `minilm-l6-v2-int8` or `openai:NAME@HOST`.
    /// Vectors of two models with different identifiers are not comparable.
    pub id: String,
    /// Length of every vector.
    pub dimension: usize,
    /// The number of tokens after which the rest of a text is ignored; `None` when the whole text counts or the limit is
    /// unknown.
    pub max_tokens: Option<usize>,
    /// The place the model runs at.
    pub provider: Provider,
    /// The weight of the similarity, in `0..=1`, in a convex combination with a normalised BM25 score.
    pub fusion_weight: f32,
}

impl ModelInfo {
    /// Returns true when embedding a text sends it out of this process.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.provider == Provider::Remote
    }
}

/// Turns texts into vectors whose dot product is their similarity.
///
/// Every vector is finite and has [`ModelInfo::dimension`] entries and length one. The exception is a text in which the model
/// knows nothing, such as an empty one: its vector is zero, and so is its similarity to everything. A vector does not depend on
/// the texts embedded along with it, to within 1e-5 per entry for the models of this crate.
pub trait Embedder: Send + Sync {
    /// Describes the model that makes the vectors.
    fn model(&self) -> &ModelInfo;

    /// Embeds the texts that a search looks through: one vector a text, in the same order. Pass as many as there are; the model
    /// divides them into batches.
    ///
    /// # Errors
    /// The model fails on one of the texts. No vector is returned then.
    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Embeds the text that a search looks for.
    ///
    /// # Errors
    /// The model fails on the text.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
}

impl<T: Embedder + ?Sized> Embedder for &T {
    fn model(&self) -> &ModelInfo {
        (**self).model()
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        (**self).embed_passages(texts)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        (**self).embed_query(text)
    }
}
