//! The seam between what needs vectors and what makes them.

use serde::{Deserialize, Serialize};

use crate::EmbedError;

/// Where a model runs.
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

/// What a caller must know of a model to store, compare and fuse its vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Stable identifier, such as `static-256-v1`, `minilm-l6-v2` or `openai:NAME@HOST`.
    /// Vectors of two models with different identifiers are not comparable.
    pub id: String,
    /// Length of every vector.
    pub dimension: usize,
    /// Tokens after which the rest of a text is ignored; `None` when the whole text counts or the limit is not known.
    pub max_tokens: Option<usize>,
    /// Where the model runs.
    pub provider: Provider,
    /// Weight in `0..=1` of the similarity when it is fused with a normalised BM25 score by a convex combination.
    pub fusion_weight: f32,
}

impl ModelInfo {
    /// Whether embedding a text sends it out of this process.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.provider == Provider::Remote
    }
}

/// Turns texts into vectors whose dot product is their similarity.
///
/// Every vector is finite, has [`ModelInfo::dimension`] entries and length one, except that a text without anything the
/// model knows (such as an empty one) gives the zero vector, whose similarity to everything is 0. Neither method depends
/// on which texts are embedded together, to within 1e-5 per entry for the models of this crate.
pub trait Embedder: Send + Sync {
    /// The model that makes the vectors.
    fn model(&self) -> &ModelInfo;

    /// Embeds texts that are to be found: one vector a text, in the same order. Batches internally, so the caller passes
    /// as many as are at hand.
    ///
    /// # Errors
    /// When the model fails on any of the texts; none of the vectors is returned then.
    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Embeds a text that looks for others.
    ///
    /// # Errors
    /// When the model fails on the text.
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
