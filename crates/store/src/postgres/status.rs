//! What a database holds and can do, for the people who run it.

use super::schema::VERSION;
use super::store::PostgresStore;
use crate::error::Result;

/// What a database holds and can do.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct PostgresStatus {
    /// Host, port and database.
    pub address: String,
    /// Version of the server.
    pub server_version: String,
    /// Version of the tables.
    pub schema_version: u32,
    /// Version of pgvector; `None` if it is not installed.
    pub vector_version: Option<String>,
    /// Version of pg_textsearch; `None` if it is not installed.
    pub textsearch_version: Option<String>,
    /// What finds candidates by words: `gin`, or `bm25` with pg_textsearch.
    pub candidates_by: String,
    /// True if the tables are distributed over the nodes of Citus.
    pub distributed: bool,
    /// The namespaces whose node does not answer now, by name.
    pub unreachable: Vec<String>,
    /// True if row-level security is a second wall between namespaces, behind the filters of searches.
    pub row_security: bool,
    /// User of the database.
    pub user: String,
    /// The namespaces, by name.
    pub namespaces: Vec<NamespaceStatus>,
    /// Bytes of all tables and indexes.
    pub bytes: u64,
}

/// A namespace in a [`PostgresStatus`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct NamespaceStatus {
    /// Its name.
    pub name: String,
    /// Number of its documents.
    pub documents: u64,
    /// Number of its passages.
    pub passages: u64,
    /// Number of its last change.
    pub change_number: u64,
    /// Time of its last change, in milliseconds since 1970.
    pub changed_ms: Option<i64>,
    /// Time of its last publication, in milliseconds since 1970.
    pub published_ms: Option<i64>,
}

impl PostgresStore {
    /// Returns what the database holds and can do.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn status(&self) -> Result<PostgresStatus> {
        let unreachable = self.read_unreachable()?;
        self.connections.read(async |transaction| {
            let one = async |statement: &str| -> Result<Option<String>, super::error::Failure> {
                Ok(transaction.query_opt(statement, &[]).await?.and_then(|row| row.get(0)))
            };
            let namespaces = format!(
                "SELECT namespace, documents, passages, change_number, changed_ms, published_ms FROM {} ORDER BY namespace",
                self.list()
            );
            let namespaces = transaction.query(&namespaces, &[]).await?;
            let bytes = transaction
                .query_one(
                    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class \
                     WHERE relnamespace = 'tamis'::regnamespace AND relkind IN ('r', 'p')",
                    &[],
                )
                .await?;
            let has_bm25 = "SELECT to_regclass('words_bm25') IS NOT NULL OR EXISTS (SELECT FROM meta WHERE key = $1)";
            let has_bm25 = transaction.query_one(has_bm25, &[&super::words::index::ON_SHARDS]).await?;
            Ok(PostgresStatus {
                address: self.address().to_owned(),
                server_version: one("SHOW server_version").await?.unwrap_or_default(),
                schema_version: VERSION,
                vector_version: one("SELECT extversion FROM pg_extension WHERE extname = 'vector'").await?,
                textsearch_version: one("SELECT extversion FROM pg_extension WHERE extname = 'pg_textsearch'").await?,
                candidates_by: if has_bm25.get::<_, bool>(0) { "bm25" } else { "gin" }.to_owned(),
                distributed: self.is_distributed,
                unreachable: unreachable.clone(),
                row_security: self.connections.has_row_security(),
                user: one("SELECT current_user::text").await?.unwrap_or_default(),
                namespaces: namespaces
                    .iter()
                    .map(|row| NamespaceStatus {
                        name: row.get(0),
                        documents: row.get::<_, i64>(1) as u64,
                        passages: row.get::<_, i64>(2) as u64,
                        change_number: row.get::<_, i64>(3) as u64,
                        changed_ms: row.get(4),
                        published_ms: row.get(5),
                    })
                    .collect(),
                bytes: bytes.get::<_, i64>(0) as u64,
            })
        })
    }
}
