//! BERT encoders: configuration and weights become a graph, tokens become one vector a text.

mod batching;
mod config;
mod encoder;
mod graph;
#[cfg(feature = "minilm")]
mod int8;
#[cfg(feature = "minilm")]
mod products;
mod weights;

pub use batching::Batching;
#[cfg(feature = "minilm")]
pub(crate) use batching::in_batches;
pub(crate) use config::Config;
pub(crate) use encoder::{Encoder, Pooling, Tokens, all_cores, pool_threads};
pub(crate) use graph::assemble;
#[cfg(feature = "minilm")]
pub(crate) use int8::{Int8Encoder, Precision};
pub(crate) use weights::{Weights, floats};
