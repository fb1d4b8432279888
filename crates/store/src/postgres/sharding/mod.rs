//! Distributing the tables over the nodes of Citus, an extension.
//!
//! The tables that grow with the content are distributed by namespace and lie together, so that a namespace's rows are on one node and
//! foreign keys between them hold. Searches of several namespaces are answered by their nodes and merged.

pub(super) mod tables;
#[cfg(test)]
mod tests;

use tokio_postgres::{Client, SimpleQueryMessage};

use super::connection::SCHEMA;
use super::error::Failure;
use super::store::PostgresStore;
use super::vectors::index::ensure_indexes;
use super::words::index::{self, DISTRIBUTED_BY, ON_SHARDS};
use crate::error::{Result, StoreError};
use tables::{COLUMN, DISTRIBUTED, REFERENCE};

/// The tables as they are distributed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Sharding {
    /// Host, port and database.
    pub address: String,
    /// True if the server has Citus.
    pub has_citus: bool,
    /// The statements that distribute the tables, in order; empty if all are distributed.
    pub statements: Vec<String>,
}

/// The catalog of distributed and reference tables, where Citus is.
const CATALOG: &str = "SELECT logicalrelid::regclass::text FROM pg_dist_partition";

/// The foreign keys of and to the tables `$1`, with their tables and definitions.
const FOREIGN_KEYS: &str = "SELECT c.conrelid::regclass::text, quote_ident(c.conname), pg_get_constraintdef(c.oid) FROM pg_constraint c \
     WHERE c.contype = 'f' AND c.conparentid = 0 AND (c.conrelid = ANY($1::text[]::regclass[]) OR c.confrelid = ANY($1::text[]::regclass[])) \
     ORDER BY c.conrelid::regclass::text, c.conname";

/// Creates the index of words on a shard that has none. Citus keeps no record of it, so shards that it moves need it anew.
const WORD_INDEX: &str = "DO $do$ BEGIN \
     IF NOT EXISTS (SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam \
       WHERE i.indrelid = '%1$s'::regclass AND a.amname = 'bm25') THEN \
       CREATE INDEX ON %1$s USING bm25(indexed) WITH (text_config = 'simple'); \
     END IF; END $do$";

impl PostgresStore {
    /// Returns the statements that [`shard`](PostgresStore::shard) would run. Nothing is changed, and the server needs no Citus.
    ///
    /// `shards` is the number of shards of each table; `None` leaves it to the server.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn shard_statements(&self, shards: Option<u32>) -> Result<Sharding> {
        self.connections.wait(async { self.sharding(&*self.connections.connection().await?, shards).await })
    }

    /// Distributes the tables by namespace, all or none, and then creates the indexes of words and of vectors on the shards. Tables
    /// that are distributed already stay as they are. Writers wait meanwhile.
    ///
    /// # Errors
    /// The server has no Citus, it cannot be reached, or it refuses.
    pub fn shard(&self, shards: Option<u32>) -> Result<Sharding> {
        self.connections.wait(async {
            let connection = self.connections.connection().await?;
            let sharding = self.sharding(&connection, shards).await?;
            if !sharding.has_citus {
                return Err(self.without_citus().into());
            }
            for statement in &sharding.statements {
                if let Err(failure) = self.run(&connection, statement).await {
                    connection.batch_execute("ROLLBACK").await?;
                    return Err(failure);
                }
            }
            if index::is_available(&connection).await? {
                index::fill(&connection).await?;
            }
            ensure_indexes(&connection).await?;
            Ok(sharding)
        })
    }

    async fn sharding(&self, client: &Client, shards: Option<u32>) -> Result<Sharding, Failure> {
        let has = "SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'create_distributed_table' AND pg_function_is_visible(oid))";
        let has_citus: bool = client.query_one(has, &[]).await?.get(0);
        let done: Vec<String> = if has_citus {
            client.query(CATALOG, &[]).await?.iter().map(|row| row.get(0)).collect()
        } else {
            Vec::new()
        };
        let missing = |tables: &[&'static str]| -> Vec<&'static str> {
            tables.iter().copied().filter(|table| !done.iter().any(|known| known == table)).collect()
        };
        let (distributed, reference) = (missing(DISTRIBUTED), missing(REFERENCE));
        let mut statements = Vec::new();
        if !distributed.is_empty() || !reference.is_empty() {
            statements.push("BEGIN".to_owned());
            let keys = client.query(FOREIGN_KEYS, &[&distributed]).await?;
            let keys: Vec<[String; 3]> = keys.iter().map(|row| [row.get(0), row.get(1), row.get(2)]).collect();
            distribute(&mut statements, &distributed, &reference, &keys, shards);
            statements.push("COMMIT".to_owned());
        }
        if index::is_available(client).await? {
            statements.push("CREATE EXTENSION IF NOT EXISTS pg_textsearch SCHEMA public".to_owned());
            statements.extend(word_indexes());
        }
        if !statements.is_empty() {
            // They may be run by hand.
            statements.insert(0, format!("SET search_path = {SCHEMA}, public"));
        }
        Ok(Sharding { address: self.address().to_owned(), has_citus, statements })
    }

    /// Runs a statement. What failed on a shard is a failure.
    async fn run(&self, client: &Client, statement: &str) -> Result<(), Failure> {
        for message in client.simple_query(statement).await? {
            let SimpleQueryMessage::Row(row) = message else { continue };
            if row.columns().iter().any(|column| column.name() == "success") && row.get("success") == Some("f") {
                let reason =
                    format!("shard {}: {}", row.get("shardid").unwrap_or("?"), row.get("result").unwrap_or("?"));
                return Err(StoreError::Database { path: self.address().into(), reason }.into());
            }
        }
        Ok(())
    }

    fn without_citus(&self) -> StoreError {
        StoreError::Database {
            path: self.address().into(),
            reason: "Citus is not installed in this database; load it with shared_preload_libraries, run CREATE EXTENSION citus, add \
                 the workers with citus_add_node, and try again (`tamis store shard --dry-run` prints the statements)"
                .to_owned(),
        }
    }
}

/// Adds the statements of one transaction.
fn distribute(
    statements: &mut Vec<String>,
    distributed: &[&str],
    reference: &[&str],
    keys: &[[String; 3]],
    shards: Option<u32>,
) {
    // A foreign key leads to rows of the same shard, so both its tables have to be distributed first.
    statements.extend(keys.iter().map(|[table, name, _]| format!("ALTER TABLE {table} DROP CONSTRAINT {name}")));
    if distributed.contains(&"namespaces") {
        // No key of a distributed table can be without the column. These numbers come from one sequence anyway.
        statements.push("ALTER TABLE namespaces DROP CONSTRAINT IF EXISTS namespaces_number_key".to_owned());
    }
    if distributed.contains(&"words") {
        // The shards get their own, with other names.
        statements.push("DROP INDEX IF EXISTS words_bm25".to_owned());
    }
    statements.extend(reference.iter().map(|table| format!("SELECT create_reference_table('{table}')")));
    for table in distributed {
        let place = match *table {
            first if first == DISTRIBUTED[0] => {
                let count = shards.map(|count| format!(", shard_count => {count}")).unwrap_or_default();
                format!("colocate_with => 'none'{count}")
            }
            _ => format!("colocate_with => '{}'", DISTRIBUTED[0]),
        };
        statements.push(format!("SELECT create_distributed_table('{table}', '{COLUMN}', {place})"));
    }
    statements
        .push(format!("INSERT INTO meta(key, value) VALUES ('{DISTRIBUTED_BY}', '{COLUMN}') ON CONFLICT DO NOTHING"));
    statements.extend(
        keys.iter().map(|[table, name, definition]| format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")),
    );
}

/// The statements that create the indexes of words on the shards.
fn word_indexes() -> [String; 2] {
    [
        format!("SELECT shardid, success, result FROM run_command_on_shards('words', $command${WORD_INDEX}$command$)"),
        format!("INSERT INTO meta(key, value) VALUES ('{}', 'bm25') ON CONFLICT DO NOTHING", ON_SHARDS),
    ]
}
