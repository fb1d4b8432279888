//! The evidence graph: claims, the fragments of pages that speak for and against them, and what these are of.
//!
//! A record ([`EvidenceRecord`](crate::EvidenceRecord)) is checked by itself (`check`), read from and written as JSON Lines
//! (`lines`, `export`), and a fragment or a claim becomes a document that searches find like any other (`document`).
//! [`Index::import_evidence`](EvidenceGraph::import) puts them in.
//!
//! Statements read the graph ([`Index::query_sql`](crate::Index::query_sql)), and those that have a name are `views`. What is like a
//! text among claims or fragments is found by meaning (`vector_search`), and the fragments that have to do with a claim by
//! words first (`rank`).

mod check;
mod document;
mod export;
mod import;
mod lines;
mod namespace;
mod preview;
mod rank_fragments;
mod sql;
mod vector_search;
mod views;

pub use import::{EvidenceImport, EvidenceLine};
pub use rank_fragments::{RankRequest, RankedClaim, RankedEvidence, RankedFragment};
pub use sql::{SqlAnswer, SqlRequest};
pub use tamis_store::{
    Claim, Edge, EvidenceKey, EvidenceRecord, EvidenceSummary, Fragment, LONGEST_EVIDENCE_TEXT, LONGEST_SQL_TIME,
    MOST_SQL_BYTES, MOST_SQL_ROWS, NodeType, Page, Part, Problem, Relation, SQL_TABLES, SqlColumn, SqlQuery, SqlTable,
    SqlValue, Task, Work,
};
pub use vector_search::{EvidenceTarget, VectorMatch, VectorMatches, VectorSearchRequest};
pub use views::{ParameterType, ViewColumn, ViewDescription, ViewParameter, ViewRequest, views};

use crate::handle::Index;

/// The evidence graph of an index: claims, fragments, and what supports or contradicts them. From [`Index::evidence`].
#[derive(Clone, Copy)]
pub struct EvidenceGraph<'a> {
    index: &'a Index,
}

impl Index {
    /// The evidence graph: import, export, search, SQL and views.
    pub fn evidence(&self) -> EvidenceGraph<'_> {
        EvidenceGraph { index: self }
    }
}
