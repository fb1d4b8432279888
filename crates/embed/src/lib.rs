//! Text to vectors.
//!
//! An [`Embedder`] turns passages and queries into unit vectors whose dot product says how close they are in meaning.
//! The crate knows nothing of files, indexes or ranking: it takes strings and gives vectors, and the [`ModelInfo`] that
//! its neighbours need to store them (under the model's identifier) and to fuse their similarity with other evidence.
//!
//! - [`StaticModel`]: a table of token vectors, part of the binary; microseconds a passage.
//! - [`MiniLm`]: a small transformer, part of the binary too; some tens of milliseconds a passage, and much better.
//! - [`LocalModel`]: a directory with a transformer or a static table in the usual formats.
//! - [`Remote`]: any HTTP endpoint that speaks the OpenAI embeddings protocol.
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

mod bert;
mod embedder;
mod error;
mod local;
mod minilm;
mod onnx;
mod remote;
mod token_table;
mod vector;
mod wordpiece;

pub use bert::Batching;
pub use embedder::{Embedder, ModelInfo, Provider};
pub use error::EmbedError;
pub use local::LocalModel;
pub use minilm::{MiniLm, Purpose};
pub use remote::{Remote, RemoteConfig};
pub use token_table::{StaticModel, TableError, TokenTable};
pub use vector::{dot, normalise};
pub use wordpiece::{VocabularyError, WordPiece};
