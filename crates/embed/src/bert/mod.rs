//! BERT encoders: configuration and weights become a graph, tokens become one vector a text.

mod batching;
mod config;
mod encoder;
mod graph;
mod weights;

pub use batching::Batching;
pub(crate) use config::Config;
pub(crate) use encoder::{Encoder, Pooling, Tokens, all_cores, pool_threads};
pub(crate) use graph::assemble;
pub(crate) use weights::{Weights, floats};
