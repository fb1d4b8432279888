//! What an untrusted statement may use and do: the names that it may read, and the limits and restrictions that SQLite offers.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, ffi};

use super::functions::{OMITTED, TABLE_FUNCTIONS, is_allowed};
use super::{COLUMNS, DEPTH, Denied, INSTRUCTIONS, LONGEST_TEXT, LONGEST_VALUE, Watch};
use crate::untrusted_sql::SQL_TABLES;

/// Disables the modules in [`OMITTED`]. SQLite would create them when they are named, and does not ask the authorizer about a
/// column that is only joined by USING. So each is replaced by a module that needs CREATE, which no statement may do.
pub(crate) fn omit_modules(connection: &Connection) -> rusqlite::Result<()> {
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

/// Switches on every restriction that SQLite offers.
pub(crate) fn restrict(connection: &Connection) -> rusqlite::Result<()> {
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

/// Answers SQLite's question about a name in a statement.
pub(crate) fn decide(context: AuthContext<'_>, watch: &Arc<Watch>) -> Authorization {
    if !watch.is_untrusted() {
        return Authorization::Allow;
    }
    match denial(context) {
        None => Authorization::Allow,
        Some(denied) => {
            watch.deny(denied);
            Authorization::Deny
        }
    }
}

fn denial(context: AuthContext<'_>) -> Option<Denied> {
    match context.action {
        AuthAction::Select | AuthAction::Recursive => None,
        AuthAction::Read { table_name, .. } => {
            let allowed = match context.database_name {
                Some(_) => is_visible(table_name) || is_one_of(TABLE_FUNCTIONS, table_name),
                // No column is read, as in `SELECT count(*) FROM x`: it may be a table expression of the statement.
                None => !is_reserved(table_name),
            };
            (!allowed).then(|| Denied::Table(table_name.to_owned()))
        }
        AuthAction::Function { function_name } if is_allowed(function_name) => None,
        AuthAction::Function { function_name } => Some(Denied::Function(function_name.to_owned())),
        other => Some(Denied::Action(name_of(other))),
    }
}

fn is_visible(table: &str) -> bool {
    SQL_TABLES.iter().any(|visible| visible.name.eq_ignore_ascii_case(table))
}

/// Names of SQLite's own tables.
fn is_reserved(table: &str) -> bool {
    ["sqlite_", "pragma_"].iter().any(|prefix| {
        table.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    })
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The action in the words of SQL.
fn name_of(action: AuthAction<'_>) -> &'static str {
    match action {
        AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name }
            if is_reserved(table_name) =>
        {
            "changing the schema"
        }
        AuthAction::Insert { .. } => "INSERT",
        AuthAction::Update { .. } => "UPDATE",
        AuthAction::Delete { .. } => "DELETE",
        AuthAction::Pragma { .. } => "PRAGMA",
        AuthAction::Attach { .. } => "ATTACH",
        AuthAction::Detach { .. } => "DETACH",
        AuthAction::Transaction { .. } => "BEGIN, COMMIT or ROLLBACK",
        AuthAction::Savepoint { .. } => "SAVEPOINT",
        AuthAction::AlterTable { .. } => "ALTER TABLE",
        AuthAction::Reindex { .. } => "REINDEX",
        AuthAction::Analyze { .. } => "ANALYZE",
        AuthAction::DropTable { .. }
        | AuthAction::DropTempTable { .. }
        | AuthAction::DropIndex { .. }
        | AuthAction::DropTempIndex { .. }
        | AuthAction::DropView { .. }
        | AuthAction::DropTempView { .. }
        | AuthAction::DropTrigger { .. }
        | AuthAction::DropTempTrigger { .. }
        | AuthAction::DropVtable { .. } => "DROP",
        AuthAction::CreateTable { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::CreateIndex { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateView { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateVtable { .. } => "CREATE",
        _ => "what this statement does",
    }
}
