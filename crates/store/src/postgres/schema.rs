//! The tables and their versions.
//!
//! # Rules for a migration
//! Servers of the version before are running while the tables are migrated, and after it. So a migration
//! - is a new file at the end of [`MIGRATIONS`]; a released one never changes, except that it loses what a later one drops,
//! - only adds: tables, indexes, functions, and columns that may be null or have a default. A column that is no longer needed
//!   stays,
//! - changes nothing that an older program writes: no constraint that its rows could violate, and no meaning of a value,
//! - holds locks for moments only. What reads whole tables, such as an index of a large one, belongs to publishing, which repeats
//!   it until it is done,
//! - runs in one transaction with all others that are missing: all or none.
//!
//! An older program reads and writes newer tables as long as they name its version in `oldest_program`. A migration that cannot
//! keep the rules raises [`OLDEST_PROGRAM`] to its own version. Programs that are older then refuse the tables, also while they
//! are running: every change of documents checks the name of the tables, which such a migration gives anew.

use deadpool_postgres::GenericClient;

use super::connection::{Connections, SCHEMA};
use super::error::Failure;
use super::nodes::{self, HERE_ALONE};
use super::words::index;
use crate::error::{Result, StoreError};

/// The migrations in order; the version of a database is the number of those it has.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004_jobs.sql"),
    concat!(include_str!("migrations/0005_row_security.sql"), include_str!("row_security.sql")),
    concat!(include_str!("migrations/0006_words.sql"), include_str!("row_security.sql")),
    include_str!("migrations/0007_namespaces_after_words.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009_evidence_copies.sql"),
];

/// The oldest version whose programs can use the tables that [`MIGRATIONS`] make.
pub(super) const OLDEST_PROGRAM: usize = 3;

/// The lock of whoever creates or migrates the tables.
const LOCK: i64 = 0x7461_6d69_7300_0001;

const PUT_VERSION: &str = "INSERT INTO meta(key, value) VALUES ('schema_version', $1), ('oldest_program', $2) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";

const PUT_INSTANCE: &str = "INSERT INTO meta(key, value) \
    VALUES ('instance', gen_random_uuid()::text), ('removed', '0') ON CONFLICT DO NOTHING";

/// Gives the tables another name, so that processes that have them open write no more.
pub(super) const NEW_INSTANCE: &str = "UPDATE meta SET value = gen_random_uuid()::text WHERE key = 'instance'";

/// What a migration did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Migrated {
    /// Host, port and database.
    pub address: String,
    /// The version of the tables before; 0 where there were none.
    pub from: u32,
    /// The version of the tables now.
    pub to: u32,
    /// The newest version that this program knows.
    pub newest: u32,
}

/// Creates the tables, or adds what is missing. Of several processes at once, one does it and the others wait. Nothing is written
/// to a database that has everything.
///
/// # Errors
/// A newer version of the program wrote tables that this one must not use, or the server refuses.
pub(super) fn migrate(connections: &Connections) -> Result<Migrated> {
    migrate_with(connections, MIGRATIONS, OLDEST_PROGRAM)
}

/// Adds what is missing to tables that are there.
///
/// # Errors
/// There are no tables, a newer version of the program wrote tables that this one must not use, or the server refuses.
pub(super) fn migrate_existing(connections: &Connections) -> Result<Migrated> {
    let newest = MIGRATIONS.len();
    let found = connections.ask(async |connection| usable(connection, connections, newest).await)?;
    match found {
        0 => Err(StoreError::Missing { path: connections.address().into() }),
        _ => migrate(connections),
    }
}

/// [`migrate`] as the program with these migrations does it.
fn migrate_with(connections: &Connections, migrations: &[&str], oldest: usize) -> Result<Migrated> {
    let newest = migrations.len();
    let migrated = |from: usize, to: usize| Migrated {
        address: connections.address().to_owned(),
        from: from as u32,
        to: to as u32,
        newest: newest as u32,
    };
    let found = connections.ask(async |connection| {
        check_server(connection, connections.address()).await?;
        usable(connection, connections, newest).await
    })?;
    if found >= newest {
        return Ok(migrated(found, found));
    }
    let found = connections.write(async |transaction| {
        // A migration of large tables takes its time.
        transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}")).await?;
        // Another process may have migrated before the lock was ours.
        let found = usable(transaction, connections, newest).await?;
        if found >= newest {
            return Ok(found);
        }
        if found == 0 {
            check_room(transaction, connections.address()).await?;
        }
        if found == 0 || !nodes::are_distributed(transaction).await? {
            transaction.batch_execute(HERE_ALONE).await?;
        }
        for migration in migrations.iter().skip(found) {
            transaction.batch_execute(migration).await?;
        }
        transaction.execute(PUT_VERSION, &[&newest.to_string(), &oldest.to_string()]).await?;
        transaction.execute(PUT_INSTANCE, &[]).await?;
        if (1..oldest).contains(&found) {
            transaction.execute(NEW_INSTANCE, &[]).await?;
        }
        Ok(found)
    })?;
    connections.ask(async |connection| index::prepare(connection).await)?;
    Ok(migrated(found, found.max(newest)))
}

/// The oldest server: the rights of a role are given to each member on terms of its own since then.
const OLDEST_SERVER: i32 = 160_000;

/// Refuses a server that is too old.
async fn check_server(client: &impl GenericClient, address: &str) -> Result<(), Failure> {
    let row = client.query_one("SELECT current_setting('server_version_num')", &[]).await?;
    let number = row.get::<_, String>(0).parse().unwrap_or(0);
    if number >= OLDEST_SERVER {
        return Ok(());
    }
    let reason = format!(
        "the server is PostgreSQL {}.{}: at least version {} is needed; upgrade it, or name another server",
        number / 10_000,
        number % 10_000,
        OLDEST_SERVER / 10_000
    );
    Err(StoreError::Database { path: address.into(), reason }.into())
}

/// Refuses a database in which there is no place for the tables.
async fn check_room(client: &impl GenericClient, address: &str) -> Result<(), Failure> {
    let refused = |reason: String| Err(StoreError::Database { path: address.into(), reason }.into());
    let encoding: String = client.query_one("SELECT current_setting('server_encoding')", &[]).await?.get(0);
    if encoding != "UTF8" {
        return refused(format!(
            "the database has the encoding {encoding}, which cannot hold every character; name one that was created with \
             ENCODING 'UTF8' TEMPLATE template0"
        ));
    }
    let foreign = "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace($1) \
         AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname LIMIT 1";
    match client.query_opt(foreign, &[&SCHEMA]).await? {
        None => Ok(()),
        Some(row) => refused(foreign_schema(&format!("table {}", row.get::<_, String>(0)))),
    }
}

/// The error of a schema of our name that is another program's.
fn foreign_schema(holds: &str) -> String {
    format!("the schema {SCHEMA} of this database is another program's: it holds the {holds}; name another database")
}

/// The version of the tables; 0 if there are none. Fails if the program of version `program` must not use them.
async fn usable(client: &impl GenericClient, connections: &Connections, program: usize) -> Result<usize, Failure> {
    // Other schemas of the search path may hold a table of this name.
    let columns = "SELECT count(*) FILTER (WHERE attname IN ('key', 'value')) FROM pg_attribute WHERE attrelid = to_regclass($1) \
         HAVING count(*) > 0";
    match client.query_opt(columns, &[&format!("{SCHEMA}.meta")]).await?.map(|row| row.get::<_, i64>(0)) {
        None => return Ok(0),
        Some(2) => {}
        Some(_) => {
            let (path, reason) = (connections.address().into(), foreign_schema("table meta"));
            return Err(StoreError::Database { path, reason }.into());
        }
    }
    let number = async |key: &str| -> Result<Option<usize>, Failure> {
        let row = client.query_opt("SELECT value FROM meta WHERE key = $1", &[&key]).await?;
        Ok(row.and_then(|row| row.get::<_, String>(0).parse().ok()))
    };
    let found = number("schema_version").await?.unwrap_or(0);
    // Without a word on it, tables are for programs that know their version.
    if found > program && number("oldest_program").await?.unwrap_or(found) > program {
        let (found, supported) = (found as u32, program as u32);
        return Err(StoreError::Newer { path: connections.address().into(), found, supported }.into());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, TestStore};
    use super::*;
    use crate::filter::Filter;
    use crate::hits::LexicalQuery;
    use crate::record::{Change, ModelKey, NewDocument, NewPassage, TextForm};
    use crate::store::{Changes, Documents, LexicalLeg, Maintenance, Properties, VectorLeg};

    /// What a migration may add.
    const ADDITIVE: &str = "ALTER TABLE documents ADD COLUMN weight double precision; \
         ALTER TABLE passages ADD COLUMN checked boolean NOT NULL DEFAULT false; \
         ALTER TABLE usage_searches ADD COLUMN place text; \
         CREATE TABLE weights(namespace text COLLATE \"C\" PRIMARY KEY, set_ms bigint NOT NULL); \
         CREATE INDEX documents_weight ON documents(namespace, weight)";

    fn document(path: &str, text: &str) -> Change {
        let passages = vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)];
        Change::Put(NewDocument { passages, ..NewDocument::new("here", "docs", path) })
    }

    fn found(store: &impl LexicalLeg, words: &str) -> usize {
        store.lexical(&LexicalQuery::new(words), &Filter::namespace("here"), 9).unwrap().hits.len()
    }

    /// Migrates as a program with one more migration does.
    fn migrate_further(store: &TestStore, sql: &'static str, oldest: usize) -> Migrated {
        let migrations: Vec<&str> = MIGRATIONS.iter().copied().chain([sql]).collect();
        migrate_with(&store.connections, &migrations, oldest).unwrap()
    }

    #[test]
    fn a_store_that_is_open_reads_and_writes_on_after_a_migration() {
        let Some(store) = testing::store() else { return };
        let model = ModelKey { id: "toy".into(), dimension: 2 };
        let embed = || {
            let missing = store.unembedded("toy", &Filter::default(), 9).unwrap();
            store.put_vectors(&model, &missing.iter().map(|text| (text.hash, vec![1.0, 1.0])).collect::<Vec<_>>())
        };
        // Every statement of these is prepared before the migration, and runs after it too.
        store.apply(&[document("a.md", "the oven is hot")]).unwrap();
        embed().unwrap();
        store.publish(&mut |_| Ok(())).unwrap();
        assert_eq!(found(&*store, "oven"), 1);
        let newest = MIGRATIONS.len() as u32;
        let migrated = migrate_further(&store, ADDITIVE, OLDEST_PROGRAM);
        assert_eq!((migrated.from, migrated.to), (newest, newest + 1));
        let again = migrate_further(&store, ADDITIVE, OLDEST_PROGRAM);
        assert_eq!((again.from, again.to), (newest + 1, newest + 1), "nothing was needed");

        store.apply(&[document("a.md", "the oven is cold"), document("b.md", "a second oven")]).unwrap();
        assert_eq!(embed().unwrap(), 2);
        store.publish(&mut |_| Ok(())).unwrap();
        store.set_property("splitter", "1").unwrap();
        assert_eq!(found(&*store, "oven"), 2);
        assert_eq!(store.documents("here").unwrap().len(), 2);
        assert_eq!(store.nearest("toy", &[1.0, 1.0], &Filter::default(), 9).unwrap().hits.len(), 2);
        assert_eq!(store.check().unwrap().problems, []);

        // This program, which is now the older one, also opens the tables anew, and does not take the version back.
        let opened = store.another();
        opened.apply(&[document("c.md", "a third oven")]).unwrap();
        assert_eq!(found(&opened, "oven"), 3);
        assert_eq!(opened.status().unwrap().schema_version, newest + 1);
    }

    #[test]
    fn an_older_program_refuses_tables_only_when_it_must() {
        let Some(store) = testing::store() else { return };
        let newest = MIGRATIONS.len();
        migrate_further(&store, "ALTER TABLE documents ALTER COLUMN note SET DEFAULT ''", newest + 1);
        let message = crate::PostgresStore::open(&store.url(), "here").unwrap_err().to_string();
        assert!(message.contains(&(newest + 1).to_string()) && message.contains(&newest.to_string()), "{message}");
        assert!(message.ends_with("upgrade the program, or name another database"), "{message}");
        // A server that is already running must not write either.
        let refused = store.apply(&[document("a.md", "the oven")]).unwrap_err();
        assert!(matches!(refused, StoreError::Replaced { .. }), "{refused}");
    }

    #[test]
    fn only_tables_that_are_there_are_migrated() {
        let Some(store) = testing::store() else { return };
        let newest = MIGRATIONS.len() as u32;
        let migrated = migrate_existing(&store.connections).unwrap();
        assert_eq!((migrated.from, migrated.to), (newest, newest));
        store.execute("DROP SCHEMA tamis CASCADE");
        assert!(matches!(migrate_existing(&store.connections), Err(StoreError::Missing { .. })));
    }
}
