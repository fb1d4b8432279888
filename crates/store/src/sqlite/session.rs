//! The session of SQLite, for the statements that both databases understand.

use std::cell::RefCell;
use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params_from_iter};

use super::TransactionError;
use super::catch_up::decoded_vector;
use crate::session::{Answer, Dialect, Lock, PassageSql, Row, Rows, Session, Value};
use crate::vectors::MAX_DIMENSION;

/// The answer of a future that never waits.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => unreachable!("SQLite answers before it returns"),
    }
}

/// A connection, and its transaction once a lock was taken. What is not committed is undone.
pub(crate) struct SqliteSession<'c> {
    connection: &'c Connection,
    transaction: RefCell<Option<Transaction<'c>>>,
}

impl<'c> SqliteSession<'c> {
    pub(crate) fn new(connection: &'c Connection) -> SqliteSession<'c> {
        SqliteSession { connection, transaction: RefCell::default() }
    }

    /// Ends the transaction that a lock began.
    pub(crate) fn commit(self) -> rusqlite::Result<()> {
        self.transaction.take().map_or(Ok(()), Transaction::commit)
    }

    fn all(&self, statement: &str, values: &[Value], read: &mut dyn FnMut(Row) -> bool) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(&in_sqlite(statement))?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let values: rusqlite::Result<Vec<Value>> = (0..columns).map(|column| value(row.get_ref(column)?)).collect();
            if !read(Row::from(values?)) {
                break;
            }
        }
        Ok(())
    }

    fn change(&self, statement: &str, values: &[Value]) -> rusqlite::Result<u64> {
        let changed = self.connection.prepare_cached(&in_sqlite(statement))?.execute(params_from_iter(values))?;
        Ok(changed as u64)
    }

    fn add(&self, rows: &Rows<'_>) -> rusqlite::Result<()> {
        let common: Vec<&Value> = rows.common.iter().map(|(_, value)| value).collect();
        let places = vec!["?"; common.len() + rows.columns.len()].join(", ");
        let mut insert = self.connection.prepare_cached(&rows.statement(&format!("VALUES ({places})")))?;
        for row in &rows.rows {
            insert.execute(params_from_iter(common.iter().copied().chain(row)))?;
        }
        Ok(())
    }

    fn begin(&self) -> rusqlite::Result<()> {
        let mut transaction = self.transaction.borrow_mut();
        if transaction.is_none() {
            *transaction = Some(Transaction::new_unchecked(self.connection, TransactionBehavior::Immediate)?);
        }
        Ok(())
    }
}

/// A namespace is a column of documents alone, and each text is kept once, with its vectors.
pub(crate) const DIALECT: Dialect = Dialect {
    has_namespaces: false,
    documents: "documents d LEFT JOIN records r ON r.document = d.document",
    record: "r.record",
    attributes_of_document: "a.document = d.document",
    passages: PassageSql {
        from: "passages p JOIN documents d ON d.document = p.document",
        with_texts: " JOIN texts t ON t.id = p.text_id",
        text: "own_text(t.text, p.text_bytes, p.own_text)",
        embedded_text: "plain(t.text)",
        text_hash: "t.hash",
        of_document: "p.document = d.document",
    },
    vector_of_passage: "v.text_id = p.text_id",
    vector: ("v.vector", |stored| Ok(decoded_vector(stored).collect())),
    // One for all namespaces.
    evidence_state: "SELECT group_concat(value, ' ' ORDER BY key) FROM meta \
         WHERE key IN ('seq', 'properties', 'last_change_ms') AND $1 IS NOT NULL",
    retired: Some("SELECT record FROM retired WHERE passage IN (SELECT value FROM json_each($1))"),
    most_dimensions: (MAX_DIMENSION, ""),
    stays: "",
};

/// A statement with its parameters by number. Those with a dollar sign are names in SQLite.
fn in_sqlite(statement: &str) -> String {
    statement.replace('$', "?")
}

impl Session<TransactionError> for SqliteSession<'_> {
    fn each<'s>(
        &'s self,
        statement: &'s str,
        values: &'s [Value],
        read: &'s mut dyn FnMut(Row) -> bool,
    ) -> Answer<'s, (), TransactionError> {
        Box::pin(ready(self.all(statement, values, read).map_err(TransactionError::from)))
    }

    fn execute<'s>(&'s self, statement: &'s str, values: &'s [Value]) -> Answer<'s, u64, TransactionError> {
        Box::pin(ready(self.change(statement, values).map_err(TransactionError::from)))
    }

    fn insert<'s>(&'s self, rows: &'s Rows<'s>) -> Answer<'s, (), TransactionError> {
        Box::pin(ready(self.add(rows).map_err(TransactionError::from)))
    }

    /// One writer at a time writes to the file, whatever it writes.
    fn lock<'s>(&'s self, _: Lock<'s>) -> Answer<'s, (), TransactionError> {
        Box::pin(ready(self.begin().map_err(TransactionError::from)))
    }

    fn one_of(&self, parameter: u32) -> String {
        format!("IN (SELECT value FROM json_each(${parameter}))")
    }

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn damaged(&self, reason: String) -> TransactionError {
        TransactionError::Damaged(reason)
    }
}

/// Lists are JSON.
impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let json = |json: serde_json::Result<String>| {
            json.map(ToSqlOutput::from).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
        };
        Ok(match self {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Boolean(truth) => ToSqlOutput::from(*truth),
            Value::Integer(number) => ToSqlOutput::from(*number),
            Value::Real(figure) => ToSqlOutput::from(*figure),
            Value::Text(text) => ToSqlOutput::from(text.as_str()),
            Value::Bytes(bytes) => ToSqlOutput::from(bytes.as_slice()),
            Value::Integers(numbers) => json(serde_json::to_string(numbers))?,
            Value::Texts(texts) => json(serde_json::to_string(texts))?,
        })
    }
}

fn value(value: ValueRef<'_>) -> rusqlite::Result<Value> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(figure) => Value::Real(figure),
        ValueRef::Text(_) => Value::Text(value.as_str()?.to_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    })
}
