//! Publishing, summarizing, checking and pruning.
//!
//! Words, frequencies and totals are written with the passages, so publishing has little to do: it tells other servers.

mod check;
mod rebuild;
mod summary;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use tokio_postgres::types::ToSql;

use super::listening::CHANNEL;
use super::namespaces::NOW_MS;
use super::store::PostgresStore;
use super::vectors::coverage;
use super::vectors::index::ensure_indexes;
use crate::error::{Result, StoreError};
use crate::lexical::TermReader;
use crate::report::{Findings, Part, Progress, Pruned, Summary};
use crate::store::Maintenance;

impl Maintenance for PostgresStore {
    fn publish(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        match self.publish_where("", &[], progress) {
            // The node of another namespace may be away.
            Err(StoreError::Unavailable { .. }) => {
                self.publish_where(" AND namespace = $1", &[&self.namespace], progress)
            }
            published => published,
        }
    }

    fn build_indexes(&self) -> Result<()> {
        self.connections.wait(ensure_indexes(&self.connections))
    }

    fn change_number(&self) -> Result<u64> {
        self.read_change_number()
    }

    fn summary(&self) -> Result<Summary> {
        self.connections.read(async |transaction| summary::summary(self, transaction).await)
    }

    fn check(&self) -> Result<Findings> {
        self.connections.read(async |transaction| Ok(check::check(&self.connections, transaction).await?.findings()))
    }

    fn mend(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Findings> {
        let found = self.connections.read(async |transaction| check::check(&self.connections, transaction).await)?;
        self.rebuild(&found.mendable(), progress)?;
        self.publish(progress)?;
        self.check()
    }

    fn prune(&self) -> Result<Pruned> {
        let namespaces: Vec<String> = self.connections.read(async |transaction| {
            let rows = transaction.query("SELECT DISTINCT namespace FROM vectors ORDER BY namespace", &[]).await?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        })?;
        let delete = "DELETE FROM vectors v WHERE v.namespace = $1 AND NOT EXISTS \
             (SELECT 1 FROM passages p WHERE p.namespace = $1 AND p.text_hash = v.text_hash)";
        let mut pruned = Pruned::default();
        for namespace in &namespaces {
            // A text that comes back meanwhile waits for the lock.
            pruned.vectors += self.connections.write(async |transaction| {
                self.lock_namespaces(transaction, [namespace.as_str()]).await?;
                Ok(transaction.execute(delete, &[namespace]).await?)
            })?;
        }
        Ok(pruned)
    }

    fn check_replaced(&self) -> Result<()> {
        self.check_opened()
    }
}

impl PostgresStore {
    /// Reads the words of namespaces again from their passages, each in a transaction of its own.
    fn rebuild(&self, namespaces: &[String], progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        if namespaces.is_empty() {
            return Ok(());
        }
        let total = self.connections.read(async |transaction| {
            let count = "SELECT coalesce(sum(passages), 0)::bigint FROM documents WHERE namespace = ANY($1)";
            Ok(transaction.query_one(count, &[&namespaces]).await?.get::<_, i64>(0) as u64)
        })?;
        let progress = RefCell::new(progress);
        let mut before = 0;
        for namespace in namespaces {
            before += self.connections.write(async |transaction| {
                self.lock_namespaces(transaction, [namespace.as_str()]).await?;
                let report = |done: u64| {
                    let done = (before + done).min(total);
                    progress.borrow_mut()(Progress { part: Part::Lexical, done, total })
                };
                let passages = rebuild::rebuild(transaction, namespace, report).await?;
                self.note(transaction, &[namespace]).await?;
                Ok(passages)
            })?;
        }
        Ok(())
    }

    /// Publishes the namespaces that meet one more condition, with these values.
    fn publish_where(
        &self,
        condition: &str,
        these: &[&(dyn ToSql + Sync)],
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<()> {
        let version = TermReader::VERSION;
        let outdated =
            format!("SELECT namespace FROM namespaces WHERE analysis < {version}{condition} ORDER BY namespace");
        let outdated = self.connections.read(async |transaction| {
            let rows = transaction.query(&outdated, these).await?;
            Ok(rows.iter().map(|row| row.get(0)).collect::<Vec<String>>())
        })?;
        self.rebuild(&outdated, progress)?;
        let changed = format!(
            "SELECT namespace FROM namespaces WHERE changed_ms >= coalesce(published_ms, 0){condition} ORDER BY namespace"
        );
        let stamp = format!(
            "UPDATE namespaces SET published_ms = greatest({NOW_MS}, changed_ms) \
             WHERE namespace = $1 AND changed_ms >= coalesce(published_ms, 0)"
        );
        let changed: Vec<String> = self.connections.write(async |transaction| {
            // Whoever locks several namespaces does so in this order.
            let changed = transaction.query(&transaction.prepare_cached(&changed).await?, these).await?;
            let stamp = transaction.prepare_cached(&stamp).await?;
            let mut stamped = Vec::new();
            for row in &changed {
                let namespace: &str = row.get(0);
                if transaction.execute(&stamp, &[&namespace]).await? > 0 {
                    // A name that is too long for a message is left out of it.
                    let told = if namespace.len() < 8000 { namespace } else { "" };
                    let notify = transaction.prepare_cached("SELECT pg_notify($1, $2)").await?;
                    transaction.query(&notify, &[&CHANNEL, &told]).await?;
                    stamped.push(namespace.to_owned());
                }
            }
            self.note(transaction, &stamped.iter().map(String::as_str).collect::<Vec<_>>()).await?;
            Ok(stamped)
        })?;
        // What is published stays so, whatever becomes of this.
        for namespace in changed {
            let _ = self.connections.write(async |transaction| {
                Ok(transaction.execute(coverage::KEEP, &[&[namespace.as_str()].as_slice()]).await?)
            });
        }
        let _ = self.connections.ask(async |connection| self.counted.settle(connection).await);
        Ok(())
    }
}
