//! BERT encoders: from a configuration and weights to a graph, and from tokens to one vector a text.

mod config;
mod encoder;
mod graph;
mod plan;
mod weights;

pub(crate) use config::Config;
pub(crate) use encoder::{Encoder, Pooling, Tokens, all_cores, pool_threads};
pub(crate) use graph::assemble;
pub use plan::Batching;
pub(crate) use weights::{Weights, floats};
