//! A connection for statements of somebody else's, of one namespace.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::authorize::{HIDING, Rules, is_visible};
use super::functions;
use super::watch::{STRIDE, Watch};
use super::{COLUMNS, DEPTH, INSTRUCTIONS, LONGEST_TEXT, LONGEST_VALUE};
use crate::sqlite::{MMAP_BYTES, file_uri};

/// How long a statement waits for a lock. Readers wait for nothing but the recovery of a log.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);
/// Page cache, in KiB; most reading goes by the map.
const CACHE_KIB: i64 = 2048;

/// A connection that sees the evidence of one namespace and nothing else.
pub(super) struct Confined {
    pub(super) connection: Connection,
    pub(super) watch: Arc<Watch>,
    schema: String,
    /// Names that lead nowhere, in small letters.
    hidden: BTreeSet<String>,
    version: i64,
}

impl Confined {
    /// Opens one.
    pub(super) fn open(path: &Path, immutable: bool, namespace: &str) -> rusqlite::Result<Confined> {
        super::count_memory();
        // The connection's own database is empty and in memory. The index is attached to it for reading, under a name that
        // nobody can know.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(":memory:", flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(8);
        connection.pragma_update(None, "mmap_size", MMAP_BYTES)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        let schema: String =
            connection.query_row("SELECT 'index_' || lower(hex(randomblob(16)))", [], |row| row.get(0))?;
        let mode = if immutable { "immutable=1" } else { "mode=ro" };
        connection.execute(&format!("ATTACH ?1 AS {schema}"), [file_uri(path, mode)])?;
        connection.pragma_update(Some(schema.as_str()), "cache_size", -CACHE_KIB)?;

        let transaction = connection.unchecked_transaction()?;
        let version = version_of(&transaction, &schema)?;
        let hidden = names_to_hide(&transaction, &schema)?;
        for (name, body) in views(&schema, namespace) {
            transaction.execute_batch(&format!("CREATE TEMP VIEW {} AS {body}", identifier(name)))?;
        }
        // Names that begin with `sqlite_` can be given only so.
        transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true)?;
        for name in &hidden {
            let name = identifier(name);
            transaction.execute_batch(&format!("CREATE TEMP VIEW {name} AS SELECT {HIDING}('') AS hidden"))?;
        }
        transaction.commit()?;
        // SQLite has the views in memory by now. Their texts go, so that the schema's name stands nowhere. Should SQLite ever
        // read its schema again, nothing is visible any more.
        connection.execute("DELETE FROM sqlite_temp_schema", [])?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false)?;

        let watch = Arc::new(Watch::new());
        functions::replace_built_in(&connection, &watch)?;
        restrict(&connection)?;
        let sources = sources().map(str::to_owned).collect();
        let unsaid = hidden.iter().map(|name| name.to_ascii_lowercase()).collect();
        let rules = Rules { schema: schema.clone(), sources, hidden };
        let seen = watch.clone();
        connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| rules.decide(context, &seen)))?;
        let seen = watch.clone();
        connection.progress_handler(STRIDE, Some(move || seen.is_over()))?;
        Ok(Confined { connection, watch, schema, hidden: unsaid, version })
    }

    /// Begins to read. False where the index has other tables by now than when this was opened, so that it can not say any
    /// more what has to be hidden.
    pub(super) fn begin(&self) -> rusqlite::Result<bool> {
        self.connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(version_of(&self.connection, &self.schema)? == self.version)
    }

    /// Ends reading; what was read is as it was at [`begin`](Self::begin).
    pub(super) fn rollback(&self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("ROLLBACK")?.execute([]).map(|_| ())
    }

    /// Whether a name, in small letters, is one of the hidden ones.
    pub(super) fn hides(&self, name: &str) -> bool {
        self.hidden.contains(name)
    }

    /// Whether a text names what nobody is to know.
    pub(super) fn is_told_by(&self, text: &str) -> bool {
        text.contains(&self.schema)
    }
}

fn version_of(connection: &Connection, schema: &str) -> rusqlite::Result<i64> {
    connection.prepare_cached(&format!("PRAGMA {schema}.schema_version"))?.query_row([], |row| row.get(0))
}

/// All names that would lead to something else than the visible tables.
fn names_to_hide(connection: &Connection, schema: &str) -> rusqlite::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let tables = format!("SELECT name FROM {schema}.sqlite_schema WHERE type IN ('table', 'view')");
    let lists = [tables, "SELECT name FROM pragma_module_list".to_owned()];
    for list in lists {
        let mut statement = connection.prepare(&list)?;
        for name in statement.query_map([], |row| row.get::<_, String>(0))? {
            names.insert(name?);
        }
    }
    // What SQLite makes when it is named is refused by the rules.
    names.retain(|name| !name.starts_with("pragma_") && !name.starts_with("json_") && !is_visible(name));
    Ok(names)
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The tables of the index that the views read.
fn sources() -> impl Iterator<Item = &'static str> {
    [
        "evidence_tasks",
        "evidence_works",
        "evidence_pages",
        "evidence_fragments",
        "evidence_claims",
        "evidence_edges",
        "documents",
        "passages",
        "vectors",
        "models",
    ]
    .into_iter()
}

/// The visible tables, as views over the index: name and text.
fn views(schema: &str, namespace: &str) -> Vec<(&'static str, String)> {
    let here = literal(namespace);
    let plain = |columns: &str, table: &str| format!("SELECT {columns} FROM {schema}.{table} WHERE namespace = {here}");
    // Goes from the claims and fragments to their vectors, so that one of them is found by its identifier.
    let vectors = |kind: &str, table: &str| {
        format!(
            "SELECT '{kind}' AS target_type, e.id AS target_id, m.name AS model_id, v.vector AS embedding_blob, \
             m.dimension AS dimension FROM {schema}.{table} e \
             JOIN {schema}.documents d ON d.namespace = {here} AND d.path = '{kind}:' || e.id \
             JOIN {schema}.passages p ON p.document = d.id JOIN {schema}.vectors v ON v.text_id = p.text_id \
             JOIN {schema}.models m ON m.id = v.model WHERE e.namespace = {here} AND d.collection = 'evidence'"
        )
    };
    vec![
        ("tasks", plain("id, question, status, created_at", "evidence_tasks")),
        ("works", plain("id, title, authors, year, venue, doi, citation_count", "evidence_works")),
        ("pages", plain("id, url, domain, title, work_id, published_at, fetched_at", "evidence_pages")),
        ("fragments", plain("id, page_id, text, heading, position, created_at", "evidence_fragments")),
        ("claims", plain("id, task_id, text, type, confidence, status, created_at", "evidence_claims")),
        (
            "edges",
            plain(
                "source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at",
                "evidence_edges",
            ),
        ),
        (
            "embeddings",
            format!("{} UNION ALL {}", vectors("claim", "evidence_claims"), vectors("fragment", "evidence_fragments")),
        ),
    ]
}

/// Everything that SQLite can be told to refuse by itself.
fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "query_only", true)?;
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        // A name in double quotes that nothing has is an error, not a text.
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    ] {
        connection.set_db_config(option, value)?;
    }
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_TEXT),
        (Limit::SQLITE_LIMIT_COLUMN, COLUMNS),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, DEPTH),
        (Limit::SQLITE_LIMIT_PARSER_DEPTH, 2 * DEPTH),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_VDBE_OP, INSTRUCTIONS),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 50),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, i32::try_from(value).expect("limits are small"))?;
    }
    Ok(())
}
