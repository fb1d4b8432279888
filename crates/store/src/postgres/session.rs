//! The session of PostgreSQL, for the statements that both databases understand, and values in its columns.

use std::borrow::Cow;
use std::error::Error;
use std::pin::{Pin, pin};

use bytes::BytesMut;
use deadpool_postgres::GenericClient;
use futures_util::TryStreamExt;
use tokio_postgres::Transaction;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::connection::Connections;
use super::failure::Failure;
use super::vectors::in_memory::Vector;
use crate::error::StoreError;
use crate::record::{DocumentId, PassageId, TextHash};
use crate::session::{Answer, Dialect, Lock, PassageSql, Row, Rows, Session, Value};

/// Keeps others from adding judgements and openings.
pub(crate) const LABELS: &str = "SELECT pg_advisory_xact_lock(x'74616d6973000002'::bigint)";

/// Identifiers are unique in all namespaces, and no index of a distributed table can say so. Two that are equal wait for each other.
/// Locks are taken in one order everywhere, so that nobody waits in a circle.
const SEARCHES: &str = "SELECT pg_advisory_xact_lock(hashtextextended(id, 8386104280808947714)) \
     FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS id ORDER BY id) AS ids";

impl Connections {
    /// Sends statements on one of the connections, or in its transaction.
    pub(crate) fn session<'c, C: GenericClient>(&'c self, client: &'c C) -> PostgresSession<'c, C> {
        PostgresSession { client, address: self.address(), escapes: true }
    }

    /// A session for the content of documents, which is written without what the server cannot hold.
    pub(crate) fn content<'c, C: GenericClient>(&'c self, client: &'c C) -> PostgresSession<'c, C> {
        PostgresSession { client, address: self.address(), escapes: false }
    }
}

/// A connection or a transaction of the database at an address.
pub(crate) struct PostgresSession<'c, C> {
    client: &'c C,
    address: &'c str,
    /// True if texts are those of callers and models, which hold any character.
    escapes: bool,
}

impl<C> PostgresSession<'_, C> {
    fn parameters<'v>(&self, values: &'v [Value]) -> Vec<Parameter<'v>> {
        values.iter().map(|value| Parameter { value, escapes: self.escapes }).collect()
    }

    fn row(&self, row: &tokio_postgres::Row) -> Result<Row, tokio_postgres::Error> {
        let value = |column| {
            let value = row.try_get(column)?;
            Ok(if self.escapes { original(value) } else { value })
        };
        Ok(Row::from((0..row.len()).map(value).collect::<Result<Vec<Value>, tokio_postgres::Error>>()?))
    }
}

pub(crate) const DIALECT: Dialect = Dialect {
    has_namespaces: true,
    documents: "documents d",
    record: "d.record",
    attributes_of_document: "a.namespace = d.namespace AND a.document = d.document",
    passages: PassageSql {
        from: "passages p JOIN documents d ON d.namespace = p.namespace AND d.document = p.document",
        with_texts: "",
        text: "p.text",
        embedded_text: "coalesce(p.embedded_text, p.before_text || p.text)",
        text_hash: "p.text_hash",
        of_document: "p.namespace = d.namespace AND p.document = d.document",
    },
    vector_of_passage: "v.namespace = p.namespace AND v.text_hash = p.text_hash",
    vector: ("vector_send(v.embedding)", |stored| {
        let Vector(values) = Vector::from_sql(&Type::BYTEA, stored).map_err(|error| error.to_string())?;
        Ok(values)
    }),
    // Each change of evidence changes one of these numbers.
    evidence_state: "SELECT concat_ws(' ', number, change_number, evidence_number, changed_ms) FROM namespaces WHERE namespace = $1",
    retired: None,
    most_dimensions: (16_000, " in PostgreSQL"),
    stays: " FOR KEY SHARE",
};

impl<C: GenericClient> Session<Failure> for PostgresSession<'_, C> {
    fn each<'s>(
        &'s self,
        statement: &'s str,
        values: &'s [Value],
        read: &'s mut dyn FnMut(Row) -> bool,
    ) -> Answer<'s, (), Failure> {
        Box::pin(async move {
            let statement = self.client.prepare_cached(statement).await?;
            let values = self.parameters(values);
            let mut rows = pin!(self.client.query_raw(&statement, references(&values)).await?);
            while let Some(row) = rows.try_next().await? {
                if !read(self.row(&row)?) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn execute<'s>(&'s self, statement: &'s str, values: &'s [Value]) -> Answer<'s, u64, Failure> {
        Box::pin(async move {
            let statement = self.client.prepare_cached(statement).await?;
            Ok(self.client.execute(&statement, &references(&self.parameters(values))).await?)
        })
    }

    fn insert<'s>(&'s self, rows: &'s Rows<'s>) -> Answer<'s, (), Failure> {
        Box::pin(async move {
            if rows.rows.is_empty() {
                return Ok(());
            }
            let common = (1..=rows.common.len()).map(|place| format!("${place}, ")).collect::<String>();
            let places = (rows.common.len() + 1..).zip(&rows.columns);
            let lists = places.map(|(place, (_, of))| format!("${place}::{of}[]")).collect::<Vec<_>>().join(", ");
            let statement = rows.statement(&format!("SELECT {common}* FROM unnest({lists})"));
            let statement = self.client.prepare_cached(&statement).await?;
            let parameter = |value| Parameter { value, escapes: self.escapes };
            let common: Vec<Parameter<'_>> = rows.common.iter().map(|(_, value)| parameter(value)).collect();
            let columns: Vec<Vec<Parameter<'_>>> = (0..rows.columns.len())
                .map(|column| rows.rows.iter().map(|row| parameter(&row[column])).collect())
                .collect();
            let columns = columns.iter().map(|column| column as &(dyn ToSql + Sync));
            self.client
                .execute(&statement, &references(&common).into_iter().chain(columns).collect::<Vec<_>>())
                .await?;
            Ok(())
        })
    }

    fn lock<'s>(&'s self, lock: Lock<'s>) -> Answer<'s, (), Failure> {
        Box::pin(async move {
            match lock {
                Lock::Rows => {}
                Lock::Labels => drop(self.execute(LABELS, &[]).await?),
                Lock::Searches(ids) => {
                    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
                    self.execute(SEARCHES, &[Value::Texts(ids)]).await?;
                }
            }
            Ok(())
        })
    }

    fn one_of(&self, parameter: u32) -> String {
        format!("= ANY(${parameter})")
    }

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn damaged(&self, reason: String) -> Failure {
        StoreError::Database { path: self.address.into(), reason }.into()
    }
}

/// Runs a statement, which is kept prepared, and returns its rows.
pub(crate) async fn query(
    client: &impl GenericClient,
    statement: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<tokio_postgres::Row>, Failure> {
    Ok(client.query(&client.prepare_cached(statement).await?, values).await?)
}

/// Runs a statement, which is kept prepared, and returns the number of rows that it changed.
pub(crate) async fn execute(
    client: &impl GenericClient,
    statement: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64, Failure> {
    Ok(client.execute(&client.prepare_cached(statement).await?, values).await?)
}

fn references<'v>(values: &'v [Parameter<'_>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// A value as it was before it was written with escapes.
pub(crate) fn original(value: Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(unescaped(text)),
        Value::Texts(texts) => Value::Texts(texts.into_iter().map(unescaped).collect()),
        other => other,
    }
}

/// A value of a parameter, which takes the type of its column.
#[derive(Debug)]
struct Parameter<'v> {
    value: &'v Value,
    escapes: bool,
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let stored = |text| if self.escapes { escaped(text) } else { Cow::Borrowed(text) };
        match self.value {
            Value::Null => Ok(IsNull::Yes),
            Value::Boolean(truth) => truth.to_sql(of, out),
            Value::Integer(number) if *of == Type::INT2 => i16::try_from(*number)?.to_sql(of, out),
            Value::Integer(number) if *of == Type::INT4 => i32::try_from(*number)?.to_sql(of, out),
            Value::Integer(number) => number.to_sql(of, out),
            Value::Real(figure) => figure.to_sql(of, out),
            Value::Text(text) => stored(text).to_sql(of, out),
            Value::Bytes(bytes) => bytes.to_sql(of, out),
            Value::Integers(numbers) if *of == Type::INT4_ARRAY => {
                // A greater one is in no row.
                numbers.iter().filter_map(|&number| i32::try_from(number).ok()).collect::<Vec<_>>().to_sql(of, out)
            }
            Value::Integers(numbers) => numbers.to_sql(of, out),
            Value::Texts(texts) => texts.iter().map(|text| stored(text)).collect::<Vec<_>>().to_sql(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'r> FromSql<'r> for Value {
    fn from_sql(of: &Type, raw: &'r [u8]) -> Result<Value, Box<dyn Error + Sync + Send>> {
        Ok(match *of {
            Type::BOOL => Value::Boolean(bool::from_sql(of, raw)?),
            Type::INT2 => Value::Integer(i16::from_sql(of, raw)?.into()),
            Type::INT4 => Value::Integer(i32::from_sql(of, raw)?.into()),
            Type::INT8 => Value::Integer(i64::from_sql(of, raw)?),
            Type::FLOAT8 => Value::Real(f64::from_sql(of, raw)?),
            Type::TEXT => Value::Text(String::from_sql(of, raw)?),
            Type::BYTEA => Value::Bytes(Vec::from_sql(of, raw)?),
            Type::INT8_ARRAY => Value::Integers(Vec::from_sql(of, raw)?),
            Type::TEXT_ARRAY => Value::Texts(Vec::from_sql(of, raw)?),
            _ => return Err(format!("a column of type {of}").into()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Value, Box<dyn Error + Sync + Send>> {
        Ok(Value::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

const ESCAPE: char = '\u{10ffff}';

/// A text as its column has it, which holds every character but U+0000.
///
/// A query may have that character, and a search that was asked must be recorded as it was asked. It is written as U+10FFFF, which stands
/// for no character, followed by `0`; U+10FFFF itself as U+10FFFF followed by `1`.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut stored = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => stored.extend([ESCAPE, '0']),
            ESCAPE => stored.extend([ESCAPE, '1']),
            other => stored.push(other),
        }
    }
    Cow::Owned(stored)
}

/// The text of a column.
pub(crate) fn unescaped(stored: String) -> String {
    if !stored.contains(ESCAPE) {
        return stored;
    }
    let mut text = String::with_capacity(stored.len());
    let mut characters = stored.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            ESCAPE if characters.next() == Some('0') => '\0',
            other => other,
        });
    }
    text
}

/// The number of a passage.
pub(crate) fn passage_id(column: i64) -> PassageId {
    PassageId(column as u64)
}

/// The number of a document.
pub(crate) fn document_id(column: i32) -> DocumentId {
    DocumentId(column as u32)
}

/// A hash of 32 bytes, which the tables make sure of.
pub(crate) fn text_hash(column: &[u8]) -> TextHash {
    TextHash(column.try_into().unwrap_or_default())
}

/// A `COPY … FROM STDIN BINARY` under way. Dropped before its end, it fails the transaction.
pub(crate) struct Copy {
    writer: Pin<Box<BinaryCopyInWriter>>,
}

/// Columns by their types, the order of a row's values.
pub(crate) type Columns = [(&'static str, Type)];

impl Copy {
    /// Begins to copy rows to a table.
    pub async fn begin(transaction: &Transaction<'_>, table: &str, columns: &Columns) -> Result<Copy, Failure> {
        let (mut names, mut types): (Vec<&str>, Vec<Type>) = (Vec::new(), Vec::new());
        for (name, of) in columns.iter().flat_map(|(names, of)| names.split(' ').map(move |name| (name, of))) {
            names.push(name);
            types.push(of.clone());
        }
        let statement = format!("COPY {table}({}) FROM STDIN BINARY", names.join(", "));
        let sink = transaction.copy_in(&statement).await?;
        Ok(Copy { writer: Box::pin(BinaryCopyInWriter::new(sink, &types)) })
    }

    /// Adds a row.
    pub async fn row(&mut self, values: &[&(dyn ToSql + Sync)]) -> Result<(), Failure> {
        Ok(self.writer.as_mut().write(values).await?)
    }

    /// Ends with all rows written.
    pub async fn finish(mut self) -> Result<(), Failure> {
        self.writer.as_mut().finish().await?;
        Ok(())
    }
}

/// A text as the server can hold it: it has no NUL, so the character for what cannot be shown takes its place. Neither is part of a
/// word.
pub(crate) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// An optional text as the server can hold it.
pub(crate) fn storable_option(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(storable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_text_comes_back(parts in prop::collection::vec(prop_oneof!["[ab01é]{0,3}", Just("\0".into()), Just("\u{10ffff}".into())], 0..9)) {
            let text: String = parts.concat();
            prop_assert!(!escaped(&text).contains('\0'));
            prop_assert_eq!(unescaped(escaped(&text).into_owned()), text);
        }
    }
}
