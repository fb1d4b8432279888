//! The embedded store through its trait, on directories of its own.

mod access;
mod changes;
mod common;
mod derived;
#[cfg(feature = "evidence")]
mod evidence_graph;
mod filters;
mod isolation;
mod metadata;
mod namespaces;
mod opening;
mod random;
mod replaced;
mod room;
mod searching;
