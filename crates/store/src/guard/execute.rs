//! Executing one statement: the names that it may use, and the rows of its answer within their limits.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, Statement};

use super::errors;
use super::functions::{TABLE_FUNCTIONS, is_allowed};
use super::limits::{Denied, Watch};
use super::snapshot::Snapshot;
use crate::error::{Result, StoreError};
use crate::sql::{SQL_TABLES, SqlQuery, SqlRows, SqlValue};

/// An error of a statement: SQLite's, or a refusal.
enum StatementError {
    Sqlite(rusqlite::Error),
    Refused(StoreError),
}

impl From<rusqlite::Error> for StatementError {
    fn from(error: rusqlite::Error) -> StatementError {
        StatementError::Sqlite(error)
    }
}

/// Runs a statement. The second value is `true` if the copy can be used again.
pub(crate) fn run(snapshot: &Snapshot, query: &SqlQuery, path: &Path) -> (Result<SqlRows>, bool) {
    match rows(&snapshot.connection, query) {
        Ok(rows) => (Ok(rows), true),
        Err(StatementError::Refused(error)) => (Err(errors::shortened(error)), true),
        Err(StatementError::Sqlite(error)) => {
            let sound = errors::leaves_connection_sound(&error);
            (Err(errors::explain(&snapshot.watch, query, path, error)), sound)
        }
    }
}

fn rows(connection: &Connection, query: &SqlQuery) -> Result<SqlRows, StatementError> {
    let mut statement = only_statement(connection, &query.sql)?;
    bind(&mut statement, query)?;
    let names: Vec<&str> = statement.column_names().collect();
    let width = names.len();
    let mut collector = Collector::new(&names, query);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if !collector.add(|longest| read(row, width, longest))? {
            break;
        }
    }
    Ok(collector.end())
}

fn read(row: &rusqlite::Row<'_>, width: usize, longest: usize) -> rusqlite::Result<CollectedRow> {
    let mut read = CollectedRow::new(width);
    for column in 0..width {
        let (value, shortened) = converted(row.get_ref(column)?, longest);
        read.push(value, shortened);
    }
    Ok(read)
}

/// Prepares the only statement of a text. It must read.
fn only_statement<'a>(connection: &'a Connection, sql: &str) -> Result<Statement<'a>, StatementError> {
    let refused = |error: &str, hint: &str| {
        StatementError::Refused(StoreError::Sql { error: error.to_owned(), hint: Some(hint.to_owned()) })
    };
    let mut batch = Batch::new(connection, sql);
    let Some(statement) = batch.next()? else {
        return Err(refused("there is no statement", errors::ALLOWED));
    };
    if !matches!(batch.next(), Ok(None)) {
        return Err(refused("there is text after the statement", "give one statement at a time"));
    }
    if statement.is_explain() != 0 {
        return Err(refused("EXPLAIN is not allowed", errors::ALLOWED));
    }
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(refused("this statement does not read", errors::ALLOWED));
    }
    Ok(statement)
}

fn bind(statement: &mut Statement<'_>, query: &SqlQuery) -> Result<(), StatementError> {
    let mut names = Vec::new();
    for index in 1..=statement.parameter_count() {
        let Some(name) = statement.parameter_name(index).filter(|name| !name.starts_with('?')) else {
            return Err(StatementError::Refused(StoreError::Sql {
                error: format!("parameter {index} has no name"),
                hint: Some("write :name in place of ?".to_owned()),
            }));
        };
        let name = name[1..].to_owned();
        let value = query.parameters.get(&name).unwrap_or(&SqlValue::Null);
        statement.raw_bind_parameter(index, Bound(value))?;
        names.push(name);
    }
    match query.parameters.keys().find(|&name| !names.contains(name)) {
        Some(unknown) => Err(StatementError::Refused(errors::unknown_parameter(unknown, &names))),
        None => Ok(()),
    }
}

/// A value on its way into a statement.
struct Bound<'a>(&'a SqlValue);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            SqlValue::Null => ToSqlOutput::Owned(Value::Null),
            SqlValue::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            SqlValue::Real(number) => ToSqlOutput::Owned(Value::Real(*number)),
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}

/// Answers SQLite's question about a name in a statement.
pub(crate) fn decide(context: AuthContext<'_>, watch: &Arc<Watch>) -> Authorization {
    if !watch.is_untrusted() {
        return Authorization::Allow;
    }
    match refusal(context) {
        None => Authorization::Allow,
        Some(denied) => {
            watch.deny(denied);
            Authorization::Deny
        }
    }
}

fn refusal(context: AuthContext<'_>) -> Option<Denied> {
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

/// Fewest characters of a value that are returned from a row that does not fit.
const LEAST: usize = 4;

struct CollectedRow {
    values: Vec<SqlValue>,
    /// Its size as JSON.
    bytes: usize,
    shortened: usize,
}

impl CollectedRow {
    /// An empty row for so many values.
    pub(crate) fn new(width: usize) -> CollectedRow {
        CollectedRow { values: Vec::with_capacity(width), bytes: 3, shortened: 0 }
    }

    /// Adds a value, which may have been shortened.
    pub(crate) fn push(&mut self, value: SqlValue, shortened: bool) {
        self.bytes += size_of(&value);
        self.shortened += usize::from(shortened);
        self.values.push(value);
    }
}

/// An answer while its rows arrive.
struct Collector {
    answer: SqlRows,
    bytes: usize,
    limit: usize,
    max_bytes: usize,
}

impl Collector {
    /// An answer with these columns, whose names take a quarter of its bytes at most.
    pub(crate) fn new(names: &[&str], query: &SqlQuery) -> Collector {
        let (columns, bytes) = names_within(names, query.max_bytes / 4);
        let answer = SqlRows { columns, ..SqlRows::default() };
        Collector { answer, bytes, limit: query.limit, max_bytes: query.max_bytes }
    }

    /// Adds a row, which `read` reads with values of at most so many characters. Returns `false` if the answer is full.
    pub(crate) fn add<E>(&mut self, read: impl Fn(usize) -> Result<CollectedRow, E>) -> Result<bool, E> {
        if self.answer.rows.len() == self.limit {
            self.answer.truncated = true;
            return Ok(false);
        }
        let room = self.max_bytes.saturating_sub(self.bytes);
        let mut longest = LONGEST;
        let mut row = read(longest)?;
        // At least one row is returned, however wide it is.
        while row.bytes > room && self.answer.rows.is_empty() && longest > LEAST {
            longest /= 2;
            row = read(longest)?;
        }
        if row.bytes > room {
            self.answer.truncated = true;
            return Ok(false);
        }
        self.bytes += row.bytes;
        self.answer.shortened += row.shortened;
        self.answer.rows.push(row.values);
        Ok(true)
    }

    pub(crate) fn end(mut self) -> SqlRows {
        self.answer.row_count = self.answer.rows.len();
        self.answer
    }
}

/// The names of the columns, shortened to `room` bytes in all, and their size in bytes.
fn names_within(names: &[&str], room: usize) -> (Vec<String>, usize) {
    let mut longest = LONGEST_NAME;
    loop {
        let names = names.iter().map(|name| shortened(name, longest).0).collect::<Vec<_>>();
        let bytes = names.iter().map(|name| size_of_text(name)).sum();
        if bytes <= room || longest <= LEAST {
            return (names, bytes);
        }
        longest /= 2;
    }
}

/// The longest value, in characters.
const LONGEST: usize = 2000;
/// The longest name of a column, in characters. An unnamed column is called by its expression.
pub(crate) const LONGEST_NAME: usize = 100;

/// Converts a value to at most `longest` characters. The second value is `true` if it was shortened.
pub(crate) fn converted(value: ValueRef<'_>, longest: usize) -> (SqlValue, bool) {
    match value {
        ValueRef::Null => (SqlValue::Null, false),
        ValueRef::Integer(number) => (SqlValue::Integer(number), false),
        ValueRef::Real(number) if number.is_finite() => (SqlValue::Real(number), false),
        // JSON lacks these numbers. SQLite writes them like this.
        ValueRef::Real(number) => (SqlValue::Text(if number > 0.0 { "Inf" } else { "-Inf" }.to_owned()), false),
        ValueRef::Text(bytes) => {
            let (text, shortened) = shortened(&String::from_utf8_lossy(bytes), longest);
            (SqlValue::Text(text), shortened)
        }
        ValueRef::Blob(bytes) => {
            // Each byte takes two digits; the quotes and the x take three.
            let shown = bytes.len().min(longest.saturating_sub(3) / 2);
            let mut text = "x'".to_owned();
            for byte in &bytes[..shown] {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            let shortened = shown < bytes.len();
            if shortened {
                let _ = write!(text, "… ({} bytes)", bytes.len());
            } else {
                text.push('\'');
            }
            (SqlValue::Text(text), shortened)
        }
    }
}

/// Shortens a text to its first characters and a note of its length. The second value is `true` if it was shortened.
pub(crate) fn shortened(text: &str, longest: usize) -> (String, bool) {
    match text.char_indices().nth(longest) {
        None => (text.to_owned(), false),
        Some((end, _)) => {
            let whole = longest + text[end..].chars().count();
            (format!("{}… ({whole} characters)", &text[..end]), true)
        }
    }
}

/// The size of a value as JSON in bytes, separator included.
pub(crate) fn size_of(value: &SqlValue) -> usize {
    match value {
        SqlValue::Null => 5,
        SqlValue::Integer(number) => number.to_string().len() + 1,
        // No finite number takes more.
        SqlValue::Real(_) => 26,
        SqlValue::Text(text) => size_of_text(text),
    }
}

/// The size of a text as JSON in bytes, separator included.
fn size_of_text(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0x00..=0x1f => 6,
        _ => 1,
    });
    escaped.sum::<usize>() + 3
}
