//! The sections of the configuration, one per file. [`Config`](super::Config) lists them.

pub(super) mod cuts;
pub(super) mod embedding_cache;
pub(super) mod evidence;
pub(super) mod index;
pub(super) mod mcp;
pub(super) mod memory;
mod model_names;
pub(super) mod notes;
pub(super) mod rank;
pub(super) mod rerank;
pub(super) mod search;
pub(super) mod store;
pub(super) mod telemetry;
pub(super) mod thresholds;
pub(super) mod triage;
