//! Namespaces: registering and removing them, and changing their documents as a whole.

use rusqlite::{Connection, params};

use super::Database;
use super::batch::{Batch, register_namespace};
use super::meta::{properties_changed, seq, write_seq};
use crate::content::new_trees;
use crate::error::Result;
use crate::graph::{REMOVE, remove_origin};
use crate::namespace::NewNamespace;
use crate::query::execute;
use crate::record::Applied;
use crate::session::sqlite::{SqliteSession, now};
use crate::tree::Tree;

/// Lists namespaces with what they hold.
pub(crate) const NAMESPACES: &str = "SELECT n.namespace, n.root, n.machine, n.owner, n.shared, count(d.document), coalesce(sum(d.passages), 0) \
     FROM namespaces n LEFT JOIN documents d ON d.namespace = n.namespace GROUP BY n.number ORDER BY n.namespace";

impl Database {
    /// Registers a namespace, or replaces its registration.
    pub(crate) fn put_namespace(&self, namespace: &NewNamespace) -> Result<()> {
        let NewNamespace { name, owner, shared } = namespace;
        namespace.check()?;
        self.write(|connection| {
            register_namespace(connection, name)?;
            let sql = "UPDATE namespaces SET owner = ?2, shared = ?3 WHERE namespace = ?1";
            execute(connection, sql, params![name, owner, shared])?;
            Ok(count_change(connection)?)
        })
    }

    /// Makes trees those of their namespaces.
    pub(crate) fn claim_trees(&self, trees: &[Tree], moved: bool) -> Result<()> {
        self.write(|connection| {
            for tree in now(new_trees(&SqliteSession::new(connection), trees, moved, self.path()))? {
                let Tree { namespace, root, machine } = tree;
                register_namespace(connection, namespace)?;
                let sql = "UPDATE namespaces SET root = ?2, machine = ?3 WHERE namespace = ?1";
                execute(connection, sql, params![namespace, root, machine])?;
            }
            Ok(count_change(connection)?)
        })
    }

    /// Removes a namespace and its documents.
    pub(crate) fn remove_namespace(&self, name: &str) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            REMOVE.iter().try_for_each(|delete| execute(connection, delete, [name]).map(drop))?;
            batch.delete_all(name)?;
            connection.execute("DELETE FROM namespaces WHERE namespace = ?1", [name])?;
            let applied = batch.end()?;
            count_change(connection)?;
            Ok(applied)
        })
    }

    /// Removes everything that was imported from an origin into namespaces.
    pub(crate) fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            for namespace in namespaces {
                batch.delete_origin(namespace, origin)?;
                let tasks = batch.follow_documents()?;
                now(remove_origin(&SqliteSession::new(connection), namespace, origin, tasks))?;
            }
            properties_changed(connection)?;
            batch.end()
        })
    }

    /// Sets the dates of documents and returns how many changed.
    pub(crate) fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64> {
        let sql = "UPDATE documents SET dated_ns = ?3 WHERE namespace = ?1 AND path = ?2 AND dated_ns IS NOT ?3";
        self.write(|connection| {
            let mut changed = 0;
            for (path, date) in dates {
                changed += execute(connection, sql, params![namespace, path, date])? as u64;
            }
            if changed > 0 {
                properties_changed(connection)?;
            }
            Ok(changed)
        })
    }
}

/// A changed registration takes a change number like any other change, so that caches of namespaces are refreshed.
fn count_change(connection: &Connection) -> rusqlite::Result<()> {
    write_seq(connection, seq(connection)? + 1)
}
