//! The evidence graph: claims, the fragments of pages that speak for and against them, and what these are of.
//!
//! A record ([`EvidenceRecord`](crate::EvidenceRecord)) is checked by itself (`check`), read from and written as JSON Lines
//! (`lines`, `export`), and a fragment or a claim becomes a document that searches find like any other (`document`).
//! [`Index::import_evidence`](crate::Index::import_evidence) puts them in.
//!
//! Statements read the graph ([`Index::query_sql`](crate::Index::query_sql)), and those that have a name are `views`. What is like a
//! text among claims or fragments is found by meaning (`vector_search`), and the fragments that have to do with a claim by
//! words first (`rank`).

mod check;
mod document;
mod export;
mod lines;
mod namespace;
mod preview;
mod rank;
mod sql;
mod vector_search;
mod views;

pub(crate) use check::checked;
pub(crate) use document::Documented;
pub(crate) use lines::read_lines;
pub use rank::{RankRequest, RankedClaim, RankedEvidence, RankedFragment};
pub use sql::{SqlAnswer, SqlRequest};
pub use vector_search::{EvidenceTarget, VectorMatch, VectorMatches, VectorSearchRequest};
pub use views::{ParameterType, ViewColumn, ViewDescription, ViewParameter, ViewRequest, views};
