//! The evidence graph: claims, the fragments of pages that support or contradict them, and their origins.
//!
//! `check` validates a record ([`EvidenceRecord`]) by itself, `lines` and `export` read and write JSON Lines, and `document`
//! makes a fragment or a claim a document that searches find like any other. [`EvidenceGraph::import`] adds records.
//!
//! SQL statements read the graph ([`EvidenceGraph::query_sql`]); `views` are statements with a name. `vector_search` finds
//! claims or fragments similar to a text, and `rank_fragments` the fragments relevant to a claim.

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
pub use sql::{SqlAnswer, SqlLimits, SqlRequest};
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
