//! Text to vectors.
//!
//! Two texts about the same thing often share no word. An embedding model maps each text to a vector, so that texts of like
//! meaning get vectors that point the same way; the dot product of two vectors is then the similarity of their texts. An
//! [`Embedder`] is such a model: it turns passages and queries into unit vectors.
//!
//! ```
//! use tamis_embed::{Embedder, StaticModel, dot};
//!
//! let model = StaticModel::built_in();
//! let passages = model.embed_passages(&["Drop the tables and rebuild the index.", "Whisk the eggs with sugar."])?;
//! let query = model.embed_query("dessert recipe")?;
//! assert!(dot(&query, &passages[1]) > dot(&query, &passages[0]));
//! # Ok::<(), tamis_embed::EmbedError>(())
//! ```
//!
//! Four embedders come with the crate, and any type of yours can be a fifth:
//!
//! - [`StaticModel`]: a table of token vectors in the binary; microseconds a passage.
#![cfg_attr(
    feature = "minilm",
    doc = "- [`MiniLm`]: a small transformer, also in the binary; tens of milliseconds a passage, and much better."
)]
#![cfg_attr(
    not(feature = "minilm"),
    doc = "- `MiniLm`: a small transformer in the binary; needs the feature `minilm`, which is on by default."
)]
//! - [`LocalModel`]: a transformer or a static table in the usual formats, read from a directory.
//! - [`Remote`]: any HTTP endpoint that speaks the OpenAI embeddings protocol.
//!
//! A [`Reranker`] reads a query and a passage together instead: [`LocalReranker`] is one in a directory, and [`RemoteReranker`]
//! one behind an endpoint.
//!
//! The crate takes strings and returns vectors; files, indexes and ranking are left to its callers. [`ModelInfo`] gives
//! them what they need to store vectors (under the model's identifier) and to weigh similarity against other evidence.
//!
//! # Features
//!
//! `minilm` (on by default) is the built-in transformer with its 24 MB of weights. Without it the crate still embeds with
//! the token table, with local models and with remote ones.

mod bert;
mod embedder;
mod local;
#[cfg(feature = "minilm")]
mod minilm;
mod remote;
mod static_model;
mod wordpiece;

pub use bert::Batching;
pub use embedder::{
    BUILT_IN_MODELS, BuiltInModel, EmbedError, Embedder, ModelInfo, Provider, Reranker, RerankerInfo, dot, normalise,
};
pub use local::{LocalModel, LocalOptions, LocalReranker, ModelSettings, SETTINGS_FILE};
#[cfg(feature = "minilm")]
pub use minilm::MiniLm;
pub use remote::{EndpointConfig, Remote, RemoteConfig, RemoteReranker, RemoteRerankerConfig, RerankScores};
pub use static_model::{StaticModel, TableError, TokenTable};
pub use wordpiece::{VocabularyError, WordPiece};
