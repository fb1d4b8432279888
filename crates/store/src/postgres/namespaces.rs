//! Namespaces: registering and removing them, and changing their documents as a whole.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use deadpool_postgres::{GenericClient, Transaction};

use super::error::Failure;
use super::nodes::{UNREACHABLE, UPDATE_LIST};
use super::store::PostgresStore;
use super::words::writer::Difference;
use crate::content::{Content, new_trees};
use crate::error::Result;
use crate::graph;
use crate::lexical::TermReader;
use crate::namespace::NewNamespace;
use crate::record::Applied;
use crate::session::{Row, all};
use crate::tree::Tree;

/// The server's time in milliseconds since 1970, as SQL: the clocks of several clients differ. It is that of the statement, because a
/// distributed table cannot be updated with a function whose result changes within it.
pub(super) const NOW_MS: &str = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/// Returns the numbers of namespaces, after registering those that need one.
pub(super) async fn numbers<'n>(
    transaction: &Transaction<'_>,
    registered: &BTreeSet<&'n str>,
    others: impl IntoIterator<Item = &'n str>,
) -> Result<BTreeMap<String, i32>, Failure> {
    let wanted: BTreeSet<&str> = registered.iter().copied().chain(others).collect();
    let wanted: Vec<&str> = wanted.into_iter().collect();
    let select =
        transaction.prepare_cached("SELECT namespace, number FROM namespaces WHERE namespace = ANY($1)").await?;
    let rows = transaction.query(&select, &[&wanted]).await?;
    let mut numbers: BTreeMap<String, i32> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for name in registered.iter().filter(|name| !numbers.contains_key(**name)).copied().collect::<Vec<_>>() {
        let insert = "INSERT INTO namespaces(namespace, analysis) VALUES ($1, $2) RETURNING number";
        let row = transaction.query_one(insert, &[&name, &(TermReader::VERSION as i32)]).await?;
        numbers.insert(name.to_owned(), row.get(0));
    }
    Ok(numbers)
}

/// The change of a namespace's row by a change of its documents.
pub(super) struct NamespaceChange {
    /// True if it counts as a change.
    pub counts: bool,
    pub difference: Difference,
}

impl NamespaceChange {
    /// Writes the row.
    pub async fn write(&self, transaction: &Transaction<'_>, namespace: &str) -> Result<(), Failure> {
        let update = format!(
            "UPDATE namespaces SET change_number = change_number + $2, changed_ms = {NOW_MS}, passages = passages + $3, \
             body_terms = body_terms + $4, name_terms = name_terms + $5, documents = documents + $6 WHERE namespace = $1"
        );
        let statement = transaction.prepare_cached(&update).await?;
        let Difference { documents, passages, body_terms, name_terms, .. } = &self.difference;
        let count = i64::from(self.counts);
        transaction.execute(&statement, &[&namespace, &count, passages, body_terms, name_terms, documents]).await?;
        Ok(())
    }
}

impl PostgresStore {
    /// The change number of the store: it grows with each commit, in whatever order the changes of several namespaces commit.
    pub(super) async fn change_number_in(&self, client: &impl GenericClient) -> Result<u64, Failure> {
        let sum = format!(
            "SELECT (SELECT coalesce(sum(change_number), 0)::bigint FROM {}) \
             + (SELECT value::bigint FROM meta WHERE key = 'removed')",
            self.list()
        );
        let statement = client.prepare_cached(&sum).await?;
        Ok(client.query_one(&statement, &[]).await?.get::<_, i64>(0) as u64)
    }

    /// The change number of the last commit.
    pub(super) fn read_change_number(&self) -> Result<u64> {
        self.connections.ask(async |connection| self.change_number_in(connection).await)
    }

    /// Registers a namespace, or replaces its registration.
    pub(super) fn register_namespace(&self, namespace: &NewNamespace) -> Result<()> {
        let NewNamespace { name, owner, shared } = namespace;
        namespace.check()?;
        self.connections.write(async |transaction| {
            self.lock_namespaces(transaction, [name.as_str()]).await?;
            numbers(transaction, &BTreeSet::from([name.as_str()]), []).await?;
            // A changed registration counts like any other change, so that caches of namespaces are refreshed.
            let update = format!(
                "UPDATE namespaces SET owner = $2, shared = $3, change_number = change_number + 1, \
                 changed_ms = {NOW_MS} WHERE namespace = $1"
            );
            transaction.execute(&update, &[name, owner, shared]).await?;
            self.note(transaction, &[name]).await
        })
    }

    /// Makes trees those of their namespaces.
    pub(super) fn claim_trees(&self, trees: &[Tree], moved: bool) -> Result<()> {
        let address = Path::new(self.address());
        if self.ask(async |session| new_trees(session, trees, true, address).await)?.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = trees.iter().map(|tree| tree.namespace.as_str()).collect();
        self.connections.write(async |transaction| {
            self.lock_namespaces(transaction, names.iter().copied()).await?;
            let new = new_trees(&self.connections.content(transaction), trees, moved, address).await?;
            for Tree { namespace, root, machine } in new {
                numbers(transaction, &BTreeSet::from([namespace.as_str()]), []).await?;
                let update = format!(
                    "UPDATE namespaces SET root = $2, machine = $3, change_number = change_number + 1, \
                     changed_ms = {NOW_MS} WHERE namespace = $1"
                );
                transaction.execute(&update, &[namespace, root, machine]).await?;
            }
            self.note(transaction, &names).await
        })
    }

    /// The table that lists all namespaces, without asking nodes.
    pub(super) fn list(&self) -> &'static str {
        if self.is_distributed { "namespace_list" } else { "namespaces" }
    }

    /// Notes what changed of namespaces, at the end of the transaction that changed it.
    pub(super) async fn note(&self, transaction: &Transaction<'_>, namespaces: &[&str]) -> Result<(), Failure> {
        if self.is_distributed && !namespaces.is_empty() {
            transaction.execute(&transaction.prepare_cached(UPDATE_LIST).await?, &[&namespaces]).await?;
        }
        Ok(())
    }

    /// Notes that a namespace was removed.
    pub(super) async fn note_removed(&self, transaction: &Transaction<'_>, namespace: &str) -> Result<(), Failure> {
        if self.is_distributed {
            transaction.execute("DELETE FROM namespace_list WHERE namespace = $1", &[&namespace]).await?;
        }
        Ok(())
    }

    /// The namespaces that cannot be read now.
    pub(super) fn read_unreachable(&self) -> Result<Vec<String>> {
        if !self.is_distributed {
            return Ok(Vec::new());
        }
        self.ask(async |session| all(session, UNREACHABLE, &[], Row::next).await)
    }

    /// Removes a namespace and its documents.
    pub(super) async fn remove_namespace_in(
        &self,
        transaction: &Transaction<'_>,
        name: &str,
    ) -> Result<Applied, Failure> {
        self.lock_namespaces(transaction, [name]).await?;
        let count = "SELECT count(*), coalesce(sum(passages), 0)::bigint FROM documents WHERE namespace = $1";
        let row = transaction.query_one(count, &[&name]).await?;
        let (documents, passages): (i64, i64) = (row.get(0), row.get(1));
        for delete in graph::REMOVE.iter().chain(REMOVE) {
            transaction.execute(*delete, &[&name]).await?;
        }
        let delete = "DELETE FROM namespaces WHERE namespace = $1 RETURNING change_number";
        if let Some(row) = transaction.query_opt(delete, &[&name]).await? {
            // What it had counted counts on, and its removal too.
            let count = "UPDATE meta SET value = (value::bigint + $1)::text WHERE key = 'removed'";
            transaction.execute(count, &[&(row.get::<_, i64>(0) + 1)]).await?;
            self.note_removed(transaction, name).await?;
        }
        Ok(Applied {
            deleted: documents as u64,
            passages_deleted: passages as u64,
            seq: self.change_number_in(transaction).await?,
            ..Applied::default()
        })
    }

    /// Sets the dates of documents and returns how many changed.
    pub(super) async fn set_dates_in(
        &self,
        transaction: &Transaction<'_>,
        namespace: &str,
        dates: &[(String, i64)],
    ) -> Result<u64, Failure> {
        self.lock_namespaces(transaction, [namespace]).await?;
        let paths: Vec<&str> =
            dates.iter().map(|(path, _)| path.as_str()).filter(|path| !path.contains('\0')).collect();
        let select = "SELECT path, dated_ns FROM documents WHERE namespace = $1 AND path = ANY($2)";
        let rows = transaction.query(select, &[&namespace, &paths]).await?;
        let mut stored: HashMap<String, Option<i64>> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let mut set: BTreeMap<&str, i64> = BTreeMap::new();
        let mut changed = 0;
        // A path can come twice.
        for (path, date) in dates {
            if let Some(known) = stored.get_mut(path).filter(|known| **known != Some(*date)) {
                *known = Some(*date);
                set.insert(path, *date);
                changed += 1;
            }
        }
        if !set.is_empty() {
            let update = "UPDATE documents d SET dated_ns = n.dated_ns \
                 FROM unnest($2::text[], $3::bigint[]) AS n(path, dated_ns) WHERE d.namespace = $1 AND d.path = n.path";
            let (paths, dates): (Vec<&str>, Vec<i64>) = set.into_iter().unzip();
            transaction.execute(update, &[&namespace, &paths, &dates]).await?;
        }
        Ok(changed)
    }
}

/// What a removed namespace loses. Vectors stay for texts that come back, until they are
/// pruned.
const REMOVE: &[&str] = &[
    "DELETE FROM words WHERE namespace = $1",
    "DELETE FROM frequencies WHERE namespace = $1",
    "DELETE FROM coverages WHERE namespace = $1",
    "DELETE FROM passages WHERE namespace = $1",
    "DELETE FROM attributes WHERE namespace = $1",
    "DELETE FROM documents WHERE namespace = $1",
];
