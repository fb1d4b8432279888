//! The tables and their version.

use deadpool_postgres::GenericClient;

use super::connection::{Connections, SCHEMA};
use super::failure::Failure;
use super::row_security::ROLE;
use super::servers::HERE_ALONE;
use super::words::index;
use crate::error::{Result, StoreError};

/// The version of the tables.
pub(crate) const VERSION: u32 = 9;

/// Creates the tables, in this order.
const TABLES: &[&str] = &[
    include_str!("schema/content.sql"),
    include_str!("schema/usage.sql"),
    include_str!("schema/evidence.sql"),
    include_str!("schema/team.sql"),
    include_str!("schema/functions.sql"),
    ROLE,
];

/// The lock of whoever creates the tables.
const LOCK: i64 = 0x7461_6d69_7300_0001;

const PUT_META: &str = "INSERT INTO meta(key, value) \
    VALUES ('schema_version', $1), ('instance', gen_random_uuid()::text), ('removed', '0')";

/// Gives the tables another name, so that processes that have them open write no more.
pub(crate) const NEW_INSTANCE: &str = "UPDATE meta SET value = gen_random_uuid()::text WHERE key = 'instance'";

/// Creates the tables if there are none. Of several processes at once, one does it and the others wait.
///
/// # Errors
/// The tables have another version, or the server refuses.
pub(crate) fn create(connections: &Connections) -> Result<()> {
    let is_there = connections.ask(async |connection| {
        check_server(connection, connections.address()).await?;
        is_usable(connection, connections.address()).await
    })?;
    if is_there {
        return Ok(());
    }
    connections.write(async |transaction| {
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}")).await?;
        // Another process may have created them before the lock was ours.
        if is_usable(transaction, connections.address()).await? {
            return Ok(());
        }
        check_room(transaction, connections.address()).await?;
        transaction.batch_execute(HERE_ALONE).await?;
        for statements in TABLES {
            transaction.batch_execute(statements).await?;
        }
        transaction.execute(PUT_META, &[&VERSION.to_string()]).await?;
        Ok(())
    })?;
    connections.ask(async |connection| index::prepare(connection).await)
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

/// True if the tables are there. Fails if they have another version.
async fn is_usable(client: &impl GenericClient, address: &str) -> Result<bool, Failure> {
    // Other schemas of the search path may hold a table of this name.
    let columns = "SELECT count(*) FILTER (WHERE attname IN ('key', 'value')) FROM pg_attribute WHERE attrelid = to_regclass($1) \
         HAVING count(*) > 0";
    match client.query_opt(columns, &[&format!("{SCHEMA}.meta")]).await?.map(|row| row.get::<_, i64>(0)) {
        None => return Ok(false),
        Some(2) => {}
        Some(_) => {
            return Err(StoreError::Database { path: address.into(), reason: foreign_schema("table meta") }.into());
        }
    }
    let row = client.query_opt("SELECT value FROM meta WHERE key = 'schema_version'", &[]).await?;
    match row.and_then(|row| row.get::<_, String>(0).parse().ok()).unwrap_or(0) {
        VERSION => Ok(true),
        found => Err(StoreError::OtherVersion { path: address.into(), found, needed: VERSION }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::tests;

    #[test]
    fn tables_of_another_version_are_refused_and_left_alone() {
        let Some(store) = tests::store() else { return };
        let open = || crate::PostgresStore::open(&store.url(), "here");
        for found in [VERSION - 1, VERSION + 1] {
            store.execute(&format!("UPDATE meta SET value = '{found}' WHERE key = 'schema_version'"));
            let refused = open().unwrap_err();
            let StoreError::OtherVersion { found: said, needed: VERSION, .. } = refused else { panic!("{refused}") };
            assert_eq!(said, found);
            let message = refused.to_string();
            assert!(message.contains("name another database") && message.contains("tamis store copy"), "{message}");
            assert_eq!(message.contains("upgrade"), found > VERSION, "{message}");
        }
        store.execute(&format!("UPDATE meta SET value = '{VERSION}' WHERE key = 'schema_version'"));
        assert_eq!(open().unwrap().status().unwrap().versions.schema_version, VERSION);
    }

    #[test]
    fn an_old_server_is_named_with_the_version_that_is_needed() {
        let Some(store) = tests::store() else { return };
        let checked = store.connections.wait(async {
            let connection = store.connections.session_of_its_own().await?;
            let old = "CREATE SCHEMA old; CREATE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql \
                 AS 'SELECT ''150012'''; SET search_path = old, pg_catalog";
            connection.batch_execute(old).await?;
            check_server(&connection, "postgres://db").await
        });
        let refused = checked.unwrap_err().to_string();
        assert!(refused.contains("PostgreSQL 15.12: at least version 16 is needed; upgrade it"), "{refused}");
    }
}
