//! The seam between the search pipeline and the database: one small trait for each group of users, and [`Store`] for all.
//!
//! Calls are batched, filters are data, and no type, path or handle of a database crosses the seam. Every method can be
//! called from several threads at once. Writers wait for each other within a process and fail with
//! [`Busy`](crate::StoreError::Busy) when another process writes. Searching never waits for writing.
//!
//! | trait | users |
//! | --- | --- |
//! | [`Documents`] | reading documents, passages and namespaces |
//! | [`Changes`] | indexing and importing |
//! | [`LexicalLeg`], [`VectorLeg`] | searching |
//! | [`EvidenceGraph`] | claims, and the fragments that support or refute them (feature `evidence`) |
//! | [`Properties`] | settings of the index and calibrated thresholds |
//! | [`Maintenance`] | publishing, checking, pruning |
//! | [`Usage`], [`UsageLog`] | recorded searches and feedback |
//! | [`Serving`] | servers: waiting for changes, sessions of clients |

mod changes;
mod documents;
#[cfg(feature = "evidence")]
mod evidence_graph;
mod lexical_leg;
mod maintenance;
mod properties;
mod serving;
mod usage;
mod vector_leg;

pub use changes::{Changes, Writing};
pub use documents::Documents;
#[cfg(feature = "evidence")]
pub use evidence_graph::EvidenceGraph;
pub use lexical_leg::LexicalLeg;
pub use maintenance::Maintenance;
pub use properties::Properties;
pub use serving::{Serving, SharedSession, SharedSessions};
pub use usage::{Usage, UsageLog};
pub use vector_leg::VectorLeg;

/// The traits that every build of a store has.
pub trait CoreStore: Documents + Changes + LexicalLeg + VectorLeg + Properties + Maintenance + Usage + Serving {}

impl<S> CoreStore for S where
    S: Documents + Changes + LexicalLeg + VectorLeg + Properties + Maintenance + Usage + Serving + ?Sized
{
}

/// A whole store. Any type that implements the traits above is one.
///
/// A `dyn Store` offers the methods of all of them without an import. For a concrete store, import
/// [`prelude`](crate::prelude).
#[cfg(feature = "evidence")]
pub trait Store: CoreStore + EvidenceGraph {}

#[cfg(feature = "evidence")]
impl<S: CoreStore + EvidenceGraph + ?Sized> Store for S {}

/// A whole store. Any type that implements the traits above is one.
///
/// A `dyn Store` offers the methods of all of them without an import. For a concrete store, import
/// [`prelude`](crate::prelude).
#[cfg(not(feature = "evidence"))]
pub trait Store: CoreStore {}

#[cfg(not(feature = "evidence"))]
impl<S: CoreStore + ?Sized> Store for S {}
