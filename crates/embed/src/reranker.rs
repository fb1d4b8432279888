//! The trait that separates users of a cross-encoder from the models that are one.

use std::fmt::Debug;

use crate::{EmbedError, Provider};

/// The facts about a cross-encoder that a caller needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerankerInfo {
    /// Stable identifier. Scores of two models with different identifiers are not comparable.
    pub id: String,
    /// The place the model runs at.
    pub provider: Provider,
}

impl RerankerInfo {
    /// Returns true when scoring sends texts out of this process.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.provider == Provider::Remote
    }
}

/// Reads a query and a passage together and says how likely one answers the other.
pub trait Reranker: Debug + Send + Sync {
    /// Describes the model.
    fn info(&self) -> &RerankerInfo;

    /// Returns, for each passage in order, the log odds that it answers the query, as if half of all passages did. 0 says
    /// nothing. Every value is finite.
    ///
    /// # Errors
    /// The model fails. No score is returned then.
    fn score(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError>;
}

impl<T: Reranker + ?Sized> Reranker for &T {
    fn info(&self) -> &RerankerInfo {
        (**self).info()
    }

    fn score(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        (**self).score(query, passages)
    }
}
