//! The content of a store in the tables of either database: documents, their passages, settings and evidence.
//!
//! `documents`, `whole`, `properties` and `evidence` are the traits of a store on any [`Content`]; their statements and what reads the
//! rows are here once, as are those that a store needs for other traits: `models`, `trees`, `summary` and `evidence_checks`. What a
//! database does in its own way is with that database: writing documents, filters, and the two legs.

mod documents;
#[cfg(feature = "evidence")]
mod evidence;
mod evidence_checks;
mod models;
mod properties;
mod summary;
mod trees;
mod whole;

use std::sync::Mutex;

use crate::error::{Result, StoreError};
use crate::filter::Filter;
use crate::namespace::Namespace;
use crate::record::PassageRef;
use crate::session::Session;
use crate::store::Maintenance;

pub(crate) use documents::found as found_passages;
pub(crate) use evidence_checks::evidence_problems;
pub(crate) use models::{Model, check_query, check_vectors, model, model_keys, models, register};
pub(crate) use summary::summary;
pub(crate) use trees::new_trees;
#[cfg(feature = "postgres")]
pub(crate) use whole::read as whole_documents;

/// The namespaces at a change number. Every search reads them.
pub(crate) type KnownNamespaces = Mutex<Option<(u64, Vec<Namespace>)>>;

/// A store whose content is in the tables of a database.
pub(crate) trait Content: Maintenance {
    /// What a session fails with.
    type Error: From<StoreError>;

    /// Reads by single statements.
    fn ask<T>(&self, work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>) -> Result<T> {
        self.read(&[], work)
    }

    /// Reads by several statements that see the same: these namespaces alone, or all if none is named.
    fn read<T>(
        &self,
        namespaces: &[&str],
        work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>,
    ) -> Result<T>;

    /// Reads evidence of these namespaces alone, or of all if none is named.
    #[cfg(feature = "evidence")]
    fn read_evidence<T>(
        &self,
        namespaces: &[&str],
        work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>,
    ) -> Result<T> {
        self.read(namespaces, work)
    }

    /// Writes all or nothing. `work` may run several times.
    fn write<T>(&self, work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>) -> Result<T>;

    /// The namespace that the settings of this store are kept under.
    fn settings(&self) -> &str {
        ""
    }

    /// The namespaces as they were last read.
    fn known_namespaces(&self) -> &KnownNamespaces;

    /// The statement that lists namespaces.
    fn list_namespaces(&self) -> String;

    /// The namespaces that cannot be read now.
    fn without_node(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The passages that pass a filter, ascending.
    fn passing(&self, filter: &Filter) -> Result<Vec<PassageRef>>;

    /// Writes evidence with its documents.
    #[cfg(feature = "evidence")]
    fn put_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[crate::evidence::EvidenceRecord],
        changes: &[crate::record::Change],
    ) -> Result<crate::record::Applied>;

    /// Runs an untrusted statement on the evidence of a namespace.
    #[cfg(feature = "evidence")]
    fn run_sql(
        &self,
        namespace: &str,
        query: &crate::sql::SqlQuery,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<crate::sql::SqlRows>;
}
