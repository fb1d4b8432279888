//! The evidence graph: claims, and the fragments of pages that speak for or against them.
//!
//! Statements read it ([`Index::query_sql`](crate::Index::query_sql)), and those that have a name are `views`. What is like a
//! text among claims or fragments is found by meaning (`vector_search`), and the fragments that have to do with a claim by
//! words first (`rank`).

mod namespace;
mod preview;
mod rank;
mod sql;
mod vector_search;
mod views;

pub use rank::{RankRequest, RankedClaim, RankedEvidence, RankedFragment};
pub use sql::{SqlAnswer, SqlRequest};
pub use vector_search::{EvidenceTarget, VectorMatch, VectorMatches, VectorSearchRequest};
pub use views::{ParameterType, ViewColumn, ViewDescription, ViewParameter, ViewRequest, views};
