//! Changing documents and namespaces.
//!
//! `plan` plays the changes through in memory, `write` writes what comes out, with `documents`, `passages` and `public_ids` for the
//! rows of each kind.

mod documents;
mod passages;
mod plan;
mod public_ids;
mod write;

use std::collections::BTreeSet;
use std::time::Duration;

use deadpool_postgres::Transaction;

use super::error::Failure;
use super::evidence::changed;
use super::rows::document_id;
use super::store::PostgresStore;
use crate::error::Result;
use crate::graph::{TaskUpdates, documents_changed, remove_origin};
use crate::namespace::NewNamespace;
use crate::record::{Applied, Change};
use crate::store::{Changes, Writing};
use crate::tree::Tree;
use plan::{Plan, Planned};

impl Changes for PostgresStore {
    fn writer(&self) -> Result<Writing<'_>> {
        Ok(Writing::new(self.hold()?))
    }

    fn wait_to_write(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Writing<'_>> {
        Ok(Writing::new(self.wait_to_hold(patience, waiting)?))
    }

    fn put_namespace(&self, namespace: &NewNamespace) -> Result<()> {
        self.register_namespace(namespace)
    }

    fn claim_trees(&self, trees: &[Tree], moved: bool) -> Result<()> {
        PostgresStore::claim_trees(self, trees, moved)
    }

    fn remove_namespace(&self, name: &str) -> Result<Applied> {
        self.connections.write(async |transaction| self.remove_namespace_in(transaction, name).await)
    }

    fn apply(&self, changes: &[Change]) -> Result<Applied> {
        let applied = self.connections.write(async |transaction| {
            let mut applied = self.apply_in(transaction, changes).await?;
            applied.seq = self.change_number_in(transaction).await?;
            Ok(applied)
        })?;
        self.counted.wrote(applied.passages_added);
        let first = changes.iter().find_map(|change| match change {
            Change::Put(document) => Some(document.namespace.as_str()),
            _ => None,
        });
        if let Some(namespace) = first {
            // The changes are saved, whatever becomes of this.
            let _ = self.connections.ask(async |connection| self.counted.keep_up(connection, namespace).await);
        }
        Ok(applied)
    }

    fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied> {
        self.connections.write(async |transaction| self.remove_origin_in(transaction, origin, namespaces).await)
    }

    fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64> {
        self.connections.write(async |transaction| self.set_dates_in(transaction, namespace, dates).await)
    }
}

/// A stored document for the plan.
const DOCUMENT: &str =
    "SELECT namespace, document, path, collection, size, modified_ns, passages, stamp FROM documents";

impl PostgresStore {
    /// Applies changes within a transaction. The change number afterwards stays open.
    pub(super) async fn apply_in(&self, transaction: &Transaction<'_>, changes: &[Change]) -> Result<Applied, Failure> {
        let (applied, tasks) = self.apply_documents(transaction, changes, BTreeSet::new()).await?;
        tasks.apply(&self.connections.session(transaction)).await?;
        Ok(applied)
    }

    /// Applies changes as [`apply_in`](Self::apply_in) does, and returns the fragments whose tasks have to be updated at the end.
    /// `also` names further namespaces to lock, which are registered.
    pub(super) async fn apply_documents(
        &self,
        transaction: &Transaction<'_>,
        changes: &[Change],
        also: BTreeSet<String>,
    ) -> Result<(Applied, TaskUpdates), Failure> {
        let mut plan = self.plan(transaction, changes, &also).await?;
        for (order, change) in changes.iter().enumerate() {
            plan.change(order, change)?;
        }
        plan.registered.extend(also);
        let written = write::write(&self.connections, transaction, &plan).await?;
        self.note(transaction, &written.keys().map(String::as_str).collect::<Vec<_>>()).await?;
        let mut tasks = TaskUpdates::default();
        documents_changed(&self.connections.session(transaction), &plan.evidence, &mut tasks).await?;
        Ok((plan.applied, tasks))
    }

    /// Removes everything that was imported from an origin into namespaces.
    async fn remove_origin_in(
        &self,
        transaction: &Transaction<'_>,
        origin: &str,
        namespaces: &[String],
    ) -> Result<Applied, Failure> {
        self.lock_namespaces(transaction, namespaces.iter().map(String::as_str)).await?;
        let select = "SELECT document FROM documents WHERE namespace = $1 AND origin = $2 ORDER BY document";
        let mut changes = Vec::new();
        for namespace in namespaces.iter().collect::<BTreeSet<_>>() {
            let rows = transaction.query(select, &[namespace, &origin]).await?;
            changes.extend(rows.iter().map(|row| Change::Delete { document: document_id(row.get(0)) }));
        }
        let (mut applied, mut tasks) = self.apply_documents(transaction, &changes, BTreeSet::new()).await?;
        let session = self.connections.session(transaction);
        for namespace in namespaces {
            remove_origin(&session, namespace, origin, &mut tasks).await?;
        }
        changed(transaction, namespaces).await?;
        tasks.apply(&session).await?;
        applied.seq = self.change_number_in(transaction).await?;
        Ok(applied)
    }

    /// Locks the namespaces that changes concern, and reads the documents.
    async fn plan<'c>(
        &self,
        transaction: &Transaction<'_>,
        changes: &'c [Change],
        also: &BTreeSet<String>,
    ) -> Result<Plan<'c>, Failure> {
        let numbers = numbers(changes);
        let mut namespaces = also.clone();
        namespaces.extend(changes.iter().filter_map(|change| match change {
            Change::Put(document) => Some(document.namespace.clone()),
            _ => None,
        }));
        namespaces.extend(self.namespaces_of(transaction, &numbers).await?);
        self.lock_namespaces(transaction, namespaces.iter().map(String::as_str)).await?;

        let mut plan = Plan::default();
        let names: Vec<&str> = namespaces.iter().map(String::as_str).collect();
        if !numbers.is_empty() {
            let by_number = format!("{DOCUMENT} WHERE namespace = ANY($1) AND document = ANY($2)");
            let select = transaction.prepare_cached(&by_number).await?;
            for row in transaction.query(&select, &[&names, &numbers]).await? {
                plan.know(planned(&row));
            }
        }
        let by_path =
            transaction.prepare_cached(&format!("{DOCUMENT} WHERE namespace = $1 AND path = ANY($2)")).await?;
        for namespace in &namespaces {
            let paths = paths(changes, namespace);
            if !paths.is_empty() {
                for row in transaction.query(&by_path, &[namespace, &paths]).await? {
                    plan.know(planned(&row));
                }
            }
        }
        Ok(plan)
    }

    /// The namespaces of documents. Most changes are of the tree that the store was opened for, and only others are sought everywhere.
    async fn namespaces_of(&self, transaction: &Transaction<'_>, numbers: &[i32]) -> Result<BTreeSet<String>, Failure> {
        let mut namespaces = BTreeSet::new();
        if numbers.is_empty() {
            return Ok(namespaces);
        }
        let own = "SELECT document FROM documents WHERE namespace = $1 AND document = ANY($2)";
        let own = transaction.prepare_cached(own).await?;
        let own: BTreeSet<i32> =
            transaction.query(&own, &[&self.namespace, &numbers]).await?.iter().map(|row| row.get(0)).collect();
        let others: Vec<i32> = numbers.iter().copied().filter(|number| !own.contains(number)).collect();
        if !own.is_empty() {
            namespaces.insert(self.namespace.clone());
        }
        if !others.is_empty() {
            let select = "SELECT DISTINCT namespace FROM documents WHERE document = ANY($1)";
            let select = transaction.prepare_cached(select).await?;
            namespaces.extend(transaction.query(&select, &[&others]).await?.iter().map(|row| row.get::<_, String>(0)));
        }
        Ok(namespaces)
    }
}

/// The numbers of documents that changes name. Greater ones than a column holds are unknown.
fn numbers(changes: &[Change]) -> Vec<i32> {
    let number = |change: &Change| match change {
        Change::Put(_) => None,
        Change::Touch { document, .. } | Change::Move { document, .. } | Change::Delete { document } => {
            i32::try_from(document.0).ok()
        }
    };
    changes.iter().filter_map(number).collect()
}

/// The paths in a namespace that may have a document: those of documents that are put there, and all that any document moves to,
/// whose namespace is not known yet.
fn paths<'c>(changes: &'c [Change], namespace: &str) -> Vec<&'c str> {
    let path = |change: &'c Change| match change {
        // The server could not even compare a path with a NUL. It is refused later.
        Change::Put(document) if document.namespace == namespace => Some(document.path.as_str()),
        Change::Move { path, .. } => Some(path.as_str()),
        _ => None,
    };
    changes.iter().filter_map(path).filter(|path| !path.contains('\0')).collect()
}

fn planned<'c>(row: &tokio_postgres::Row) -> Planned<'c> {
    Planned {
        namespace: row.get(0),
        number: Some(row.get(1)),
        path: row.get(2),
        collection: row.get(3),
        size: row.get(4),
        modified_ns: row.get(5),
        stamp: row.get(7),
        passages: row.get::<_, i32>(6) as u64,
        content: None,
        renumbered: None,
        touched: false,
        gone: false,
    }
}
