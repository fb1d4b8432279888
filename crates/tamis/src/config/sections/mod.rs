//! The sections of the configuration, one per file. [`Config`](super::Config) lists them.

pub mod cuts;
pub mod index;
pub mod mcp;
pub mod memory;
mod model_names;
pub mod notes;
pub mod output;
pub mod rank;
pub mod rerank;
pub mod search;
pub mod store;
pub mod telemetry;
pub mod thresholds;
pub mod triage;
