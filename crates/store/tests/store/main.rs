//! The stores through their traits: the embedded one on directories of its own, the one in PostgreSQL on databases of its own.

mod changes;
mod common;
mod copying;
mod derived;
mod embedding;
mod evidence_graph;
mod filters;
mod isolation;
mod metadata;
mod namespaces;
mod opening;
#[cfg(feature = "postgres")]
mod postgres;
mod random;
mod replaced;
mod room;
mod searching;
