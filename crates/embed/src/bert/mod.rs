//! BERT encoders: configuration and weights become a graph, tokens become one vector a text.

mod encoder;
pub(crate) mod graph;
#[cfg(feature = "minilm")]
mod int8;
#[cfg(feature = "minilm")]
mod kernels;
mod weights;

pub use encoder::Batching;
#[cfg(feature = "minilm")]
pub use encoder::in_batches;
pub use encoder::{Encoder, Pooling, Tokens, all_cores, pool_threads};
pub use graph::assemble;
#[cfg(feature = "minilm")]
pub use int8::{Int8Encoder, Precision};
pub use weights::{Config, Weights, floats};
