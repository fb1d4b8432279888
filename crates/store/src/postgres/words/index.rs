//! The server's index of words, an extension that not every server has. It finds good candidates among passages that are too many to
//! be scored one by one. Its own scores are those of all namespaces together, so they only choose candidates.

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::postgres::connection::{Connections, SCHEMA};
use crate::postgres::failure::Failure;
use crate::postgres::servers::ARE_DISTRIBUTED;

/// The first version that loses no rows when the server restarts, and keeps no reader waiting for a writer.
const LEAST_VERSION: (u32, u32) = (1, 4);

pub(crate) const NAME: &str = "words_bm25";

/// The number of passages from which the index is created. Fewer are scored one by one.
const LEAST_PASSAGES: i64 = 50_000;

/// True if the index can be used.
const USABLE: &str = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)";

/// The key in `meta` that tells that each shard has an index of its own, which has another name there.
pub(crate) const ON_SHARDS: &str = "words_on_shards";

/// True if each shard has one.
const USABLE_ON_SHARDS: &str = "SELECT EXISTS (SELECT FROM meta WHERE key = $1)";

/// Creates the index once there are many passages, where the server has a version of the extension that can be relied on and the
/// user may create it. Writers go on meanwhile.
pub(crate) async fn ensure(connections: &Connections) -> Result<(), Failure> {
    let usable = connections.asking(async |connection| {
        let usable = connection.query_typed_opt(USABLE, &[(&NAME, Type::TEXT)]).await?.map(|row| row.get(0));
        let passages = connection.query_one("SELECT passages_of_all()", &[]).await?;
        // Shards get theirs by `tamis store shard`.
        let is_wanted = usable != Some(true)
            && !connection.query_one(ARE_DISTRIBUTED, &[]).await?.get::<_, bool>(0)
            && is_available(connection).await?
            && passages.get::<_, i64>(0) >= LEAST_PASSAGES;
        Ok(is_wanted.then_some(usable))
    });
    let Some(usable) = usable.await? else { return Ok(()) };
    if usable == Some(false) {
        connections.run_outside("", &format!("DROP INDEX CONCURRENTLY IF EXISTS {SCHEMA}.{NAME}")).await?;
    }
    create(connections).await?;
    Ok(())
}

/// Returns `true` if the server has a version of the extension that can be relied on.
pub(crate) async fn is_available(connection: &Client) -> Result<bool, Failure> {
    let available =
        "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'pg_textsearch'";
    let version: Option<String> = connection.query_opt(available, &[]).await?.and_then(|row| row.get(0));
    Ok(version.as_deref().is_some_and(can_be_relied_on))
}

fn can_be_relied_on(version: &str) -> bool {
    parsed(version) >= LEAST_VERSION
}

/// Prepares for an index where the server has a version of the extension that can be relied on and the user may add it.
pub(crate) async fn prepare(connection: &Client) -> Result<(), Failure> {
    if is_available(connection).await? {
        // Without it, the words are written when the index is created, which takes longer.
        let _ = connection.batch_execute(EXTENSION).await;
    }
    Ok(())
}

const EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS pg_textsearch SCHEMA public";

/// Returns `true` if words are written for an index: there is one, here or on shards, or there may be one soon.
pub(crate) async fn is_expected(transaction: &Transaction<'_>) -> Result<bool, Failure> {
    let exists = "SELECT to_regclass('words_bm25') IS NOT NULL OR EXISTS (SELECT FROM meta WHERE key = $1), \
         (SELECT extversion FROM pg_extension WHERE extname = 'pg_textsearch')";
    let statement = transaction.prepare_cached(exists).await?;
    let row = transaction.query_one(&statement, &[&ON_SHARDS]).await?;
    Ok(row.get(0) || row.get::<_, Option<&str>>(1).is_some_and(can_be_relied_on))
}

/// Writes the words that were written without an index, as it reads them.
const FILL: &str = "UPDATE words SET indexed = (SELECT coalesce(string_agg(repeat('t' || to_hex(t.term) || ' ', t.body + t.name), ''), '') \
     FROM unnest(terms, body_counts, name_counts) AS t(term, body, name)) WHERE namespace = $1 AND indexed IS NULL";

pub(crate) async fn fill(connections: &Connections) -> Result<(), Failure> {
    let namespaces = connections.asking(async |connection| {
        let rows = connection.query("SELECT namespace FROM namespaces ORDER BY namespace", &[]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect::<Vec<String>>())
    });
    for namespace in namespaces.await? {
        let fill = connections.writing(async |transaction| {
            transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
            Ok(transaction.execute(FILL, &[&namespace]).await?)
        });
        fill.await?;
    }
    Ok(())
}

/// Creates the index. Returns `false` if the extension is missing and the user may not add it, which changes no answer.
pub(crate) async fn create(connections: &Connections) -> Result<bool, Failure> {
    if connections.asking(async |connection| Ok(connection.batch_execute(EXTENSION).await?)).await.is_err() {
        return Ok(false);
    }
    let create = format!(
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS {NAME} ON {SCHEMA}.words USING bm25(indexed) WITH (text_config = 'simple')"
    );
    fill(connections).await?;
    connections.run_outside("", &create).await?;
    // Writers that began before it was there did not write for it, and have ended by now.
    fill(connections).await?;
    Ok(true)
}

/// The first two numbers of a version.
fn parsed(version: &str) -> (u32, u32) {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Which index of words a search can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordIndex {
    /// That of the table.
    Here,
    /// Each shard has its own.
    OnShards,
}

/// Looks for the index. The tables of a confined transaction are not distributed.
pub(crate) async fn usable(transaction: &Transaction<'_>, is_confined: bool) -> Result<Option<WordIndex>, Failure> {
    let asks = |rows: Option<Row>| rows.is_some_and(|row| row.get(0));
    if asks(transaction.query_typed_opt(USABLE, &[(&NAME, Type::TEXT)]).await?) {
        return Ok(Some(WordIndex::Here));
    }
    let on_shards =
        !is_confined && asks(transaction.query_typed_opt(USABLE_ON_SHARDS, &[(&ON_SHARDS, Type::TEXT)]).await?);
    Ok(on_shards.then_some(WordIndex::OnShards))
}

/// A term as the index has it.
pub(crate) fn indexed_word(term: i64) -> String {
    format!("t{term:x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        assert!(can_be_relied_on("1.10.0") && can_be_relied_on("1.4.0-dev"));
        assert!(!can_be_relied_on("1.0.0") && !can_be_relied_on(""));
    }
}
