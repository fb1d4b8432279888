//! The traits that separate users of vectors and of cross-encoders from the models that make them, the models in
//! the crate, described without loading them, the errors of all models, and the arithmetic that they share.

use std::fmt::Debug;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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

// The trait that separates users of a cross-encoder from the models that are one.

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

// The models in the crate, described without loading them.

/// A model that comes with the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BuiltInModel {
    /// Stable identifier, as in [`ModelInfo::id`](crate::ModelInfo::id).
    pub id: &'static str,
    /// The kind of model.
    pub provider: Provider,
    /// Length of every vector.
    pub dimension: usize,
    /// Licence of the weights, an SPDX expression.
    pub license: &'static str,
}

/// The models of this build.
pub const BUILT_IN_MODELS: &[BuiltInModel] = &[
    BuiltInModel { id: crate::static_model::ID, provider: Provider::Static, dimension: 256, license: "Apache-2.0" },
    #[cfg(feature = "minilm")]
    BuiltInModel { id: crate::minilm::ID, provider: Provider::MiniLm, dimension: 384, license: "Apache-2.0" },
];

// The errors of embedding.

/// A failed embedding.
///
/// Every message names the part that failed, the value that was found and the remedy. No variant ever carries an API key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A model's own files are incomplete, damaged or of an unsupported kind.
    #[error("model {model}: {reason}")]
    Model {
        /// The model's identifier, or the name of the file being read.
        model: String,
        /// The expectation, the finding and the remedy.
        reason: String,
    },
    /// A file of a local model directory could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason the system gave.
        source: std::io::Error,
    },
    /// The runtime failed while a model was computing.
    #[error("model {model} failed on a batch of {texts} texts: {reason}")]
    Inference {
        /// The model's identifier.
        model: String,
        /// The number of texts in the batch.
        texts: usize,
        /// The runtime's message.
        reason: String,
    },
    /// A setting is outside its range.
    #[error("{setting} is {value}; {allowed}")]
    Setting {
        /// The name of the setting.
        setting: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        allowed: &'static str,
    },
    /// A remote endpoint could not be reached, or every attempt failed.
    #[error("{url}: {reason} (after {attempts} {})", if *attempts == 1 { "attempt" } else { "attempts" })]
    Unavailable {
        /// The endpoint.
        url: String,
        /// The last failure.
        reason: String,
        /// The number of requests made.
        attempts: u32,
    },
    /// A remote endpoint refused the request; repeating it would not help.
    #[error("{url} refused the request with status {status}: {reason}")]
    Refused {
        /// The endpoint.
        url: String,
        /// The HTTP status code.
        status: u16,
        /// The remedy, and the endpoint's own message, shortened.
        reason: String,
    },
    /// A remote endpoint answered with something other than what was asked for.
    #[error("{url} sent an unusable answer: {reason}")]
    Answer {
        /// The endpoint.
        url: String,
        /// The expectation and the finding.
        reason: String,
    },
}

// The arithmetic that all models share.

/// Scales a vector to length one in place. A vector without a direction (zero, or with an entry that is not finite) becomes
/// zero, so that its similarity to everything is 0 and never NaN.
///
/// ```
/// let mut vector = vec![3.0, 4.0];
/// tamis_embed::normalise(&mut vector);
/// assert_eq!(vector, [0.6, 0.8]);
/// ```
pub fn normalise(vector: &mut [f32]) {
    // In f64: the squares of large f32 entries overflow, and those of small ones vanish.
    let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if length.is_finite() && length > 0.0 {
        let factor = 1.0 / length;
        for x in vector {
            *x = (f64::from(*x) * factor) as f32;
        }
    } else {
        vector.fill(0.0);
    }
}

/// Computes the dot product of two vectors. For unit vectors it is the cosine of their angle, in `-1..=1` up to rounding.
/// Entries beyond the shorter vector are ignored.
///
/// ```
/// assert_eq!(tamis_embed::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight partial sums, since the compiler may not reorder floating point addition.
    let mut sums = [0.0f32; 8];
    let (a_blocks, b_blocks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f32 = if a.len() == b.len() {
        a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(x, y)| x * y).sum()
    } else {
        return a.iter().zip(b).map(|(x, y)| x * y).sum();
    };
    for (x, y) in a_blocks.zip(b_blocks) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Embedder, StaticModel};
    use proptest::prelude::*;
    use std::path::Path;

    fn described(provider: Provider) -> BuiltInModel {
        *BUILT_IN_MODELS.iter().find(|model| model.provider == provider).expect("a built-in model")
    }

    #[test]
    fn the_descriptions_agree_with_the_models() {
        let info = StaticModel::built_in().model();
        let model = described(Provider::Static);
        assert_eq!((model.id, model.dimension), (info.id.as_str(), info.dimension));
        #[cfg(feature = "minilm")]
        {
            let info = crate::MiniLm::built_in().expect("loaded").model();
            let model = described(Provider::MiniLm);
            assert_eq!((model.id, model.dimension), (info.id.as_str(), info.dimension));
        }
    }

    #[test]
    fn the_licences_are_those_of_the_crates_with_the_weights() {
        let crates = [(Provider::Static, "static"), (Provider::MiniLm, "minilm-1")];
        for (provider, directory) in crates {
            let Some(model) = BUILT_IN_MODELS.iter().find(|model| model.provider == provider) else { continue };
            let manifest = format!("../../models/{directory}/Cargo.toml");
            let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest);
            let text = std::fs::read_to_string(&manifest).expect("the manifest of the checkout");
            assert!(text.contains(&format!("license = \"{}\"", model.license)), "{}", manifest.display());
        }
    }

    #[test]
    fn vectors_without_a_direction_become_zero() {
        for bad in [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0], vec![]] {
            let mut vector = bad.clone();
            normalise(&mut vector);
            assert_eq!(vector, vec![0.0; bad.len()]);
        }
    }

    proptest! {
        #[test]
        fn any_finite_vector_gets_length_one(vector in prop::collection::vec(prop::num::f32::NORMAL, 1..40)) {
            let mut unit = vector.clone();
            normalise(&mut unit);
            prop_assert!((dot(&unit, &unit) - 1.0).abs() < 1e-5);
        }

        #[test]
        fn the_blocks_of_a_dot_product_lose_nothing(pairs in prop::collection::vec((-1.0f32..1.0, -1.0f32..1.0), 0..100)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let exact: f64 = pairs.iter().map(|&(x, y)| f64::from(x) * f64::from(y)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - exact).abs() < 1e-4);
        }
    }
}
