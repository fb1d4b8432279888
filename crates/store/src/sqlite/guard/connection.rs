//! A connection for untrusted statements on one namespace.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, ffi};

use super::allowed::{OMITTED, TABLE_FUNCTIONS};
use super::authorize::{HIDING, Rules, is_visible};
use super::functions;
use super::watch::{STRIDE, Watch};
use super::{COLUMNS, DEPTH, INSTRUCTIONS, LONGEST_TEXT, LONGEST_VALUE};
use crate::connection::{file_uri, open};

/// The time a statement waits for a lock. Readers wait only for the recovery of a log.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);
/// Bytes of the file that are mapped instead of read: a statement may read all of it.
const MMAP_BYTES: i64 = 1 << 30;
/// Page cache, in KiB. Most reading goes through the mapping.
const CACHE_KIB: i64 = 2048;

/// A connection that sees the evidence of one namespace and nothing else.
pub(super) struct Confined {
    pub(super) connection: Connection,
    pub(super) watch: Arc<Watch>,
    schema: String,
    /// Shadowed names, in lower case.
    hidden: BTreeSet<String>,
    version: i64,
}

impl Confined {
    /// Opens a connection for a namespace.
    pub(super) fn open(path: &Path, immutable: bool, namespace: &str) -> rusqlite::Result<Confined> {
        // The connection's own database is empty and in memory. The index is attached for reading, under a secret name.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI;
        let mut connection = open(":memory:", flags)?;
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
        // Names that begin with `sqlite_` need a writable schema.
        transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true)?;
        for name in &hidden {
            let name = identifier(name);
            transaction.execute_batch(&format!("CREATE TEMP VIEW {name} AS SELECT {HIDING}('') AS hidden"))?;
        }
        transaction.commit()?;
        // SQLite holds the views in memory by now. Their texts are deleted, because they contain the schema's name. If SQLite
        // ever read its schema again, nothing would be visible.
        connection.execute("DELETE FROM sqlite_temp_schema", [])?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false)?;

        omit_modules(&connection)?;
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

    /// Begins to read. Returns `false` if the tables of the index changed since the connection was opened, because
    /// other names may have to be hidden by now.
    pub(super) fn begin(&self) -> rusqlite::Result<bool> {
        self.connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(version_of(&self.connection, &self.schema)? == self.version)
    }

    /// Ends the read transaction of [`begin`](Self::begin).
    pub(super) fn rollback(&self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("ROLLBACK")?.execute([]).map(|_| ())
    }

    /// Returns `true` if a name, in lower case, is hidden.
    pub(super) fn hides(&self, name: &str) -> bool {
        self.hidden.contains(name)
    }

    /// Returns `true` if a text contains the secret schema name.
    pub(super) fn is_revealed_by(&self, text: &str) -> bool {
        text.contains(&self.schema)
    }
}

/// Disables the modules in [`OMITTED`]. SQLite would create them when they are named, and does not ask the authorizer about a
/// column that is only joined by USING. So each is replaced by a module that needs CREATE, which no statement may do.
fn omit_modules(connection: &Connection) -> rusqlite::Result<()> {
    unsafe extern "C" fn refuse(
        _: *mut ffi::sqlite3,
        _: *mut c_void,
        _: c_int,
        _: *const *const c_char,
        _: *mut *mut ffi::sqlite3_vtab,
        _: *mut *mut c_char,
    ) -> c_int {
        ffi::SQLITE_ERROR
    }
    static NOTHING: ffi::sqlite3_module = {
        // SAFETY: a number and optional functions, for which zero is a value.
        let mut module: ffi::sqlite3_module = unsafe { std::mem::zeroed() };
        module.xCreate = Some(refuse);
        module
    };
    for name in OMITTED {
        // SAFETY: the connection is open, and the name and the module live as long as the program.
        let code = unsafe {
            ffi::sqlite3_create_module_v2(
                connection.handle(),
                name.as_ptr(),
                &raw const NOTHING,
                std::ptr::null_mut(),
                None,
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        }
    }
    Ok(())
}

fn version_of(connection: &Connection, schema: &str) -> rusqlite::Result<i64> {
    connection.prepare_cached(&format!("PRAGMA {schema}.schema_version"))?.query_row([], |row| row.get(0))
}

/// All names that do not lead to a visible table.
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
    // The rules refuse the tables that SQLite creates on first use.
    names.retain(|name| !name.starts_with("pragma_") && !TABLE_FUNCTIONS.contains(&name.as_str()) && !is_visible(name));
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

/// The visible tables as views over the index: name and text.
fn views(schema: &str, namespace: &str) -> Vec<(&'static str, String)> {
    let namespace = literal(namespace);
    let plain =
        |columns: &str, table: &str| format!("SELECT {columns} FROM {schema}.{table} WHERE namespace = {namespace}");
    // Starts at the claims and fragments, so that an identifier finds its vectors by index.
    let vectors = |kind: &str, table: &str| {
        format!(
            "SELECT '{kind}' AS target_type, e.id AS target_id, m.name AS model_id, v.vector AS embedding_blob, \
             m.dimension AS dimension FROM {schema}.{table} e \
             JOIN {schema}.documents d ON d.namespace = {namespace} AND d.path = '{kind}:' || e.id \
             JOIN {schema}.passages p ON p.document = d.id JOIN {schema}.vectors v ON v.text_id = p.text_id \
             JOIN {schema}.models m ON m.id = v.model WHERE e.namespace = {namespace} AND d.collection = 'evidence'"
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

/// Switches on every restriction that SQLite offers.
fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "query_only", true)?;
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        // An unknown name in double quotes is an error, not a string.
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
