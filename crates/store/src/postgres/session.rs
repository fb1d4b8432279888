//! Statements in PostgreSQL that both databases understand.

use std::borrow::Cow;
use std::error::Error;

use bytes::BytesMut;
use deadpool_postgres::GenericClient;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::connection::Connections;
use super::error::Failure;
use super::text;
use crate::error::StoreError;
use crate::session::{Answer, Dialect, Lock, Row, Rows, Session, Value};

/// Keeps others from adding judgements and openings.
pub(super) const LABELS: &str = "SELECT pg_advisory_xact_lock(x'74616d6973000002'::bigint)";

/// Identifiers are unique in all namespaces, and no index of a distributed table can say so. Two that are equal wait for each other.
/// Locks are taken in one order everywhere, so that nobody waits in a circle.
const SEARCHES: &str = "SELECT pg_advisory_xact_lock(hashtextextended(id, 8386104280808947714)) \
     FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS id ORDER BY id) AS ids";

impl Connections {
    /// Sends statements on one of the connections, or in its transaction.
    pub(super) fn session<'c, C: GenericClient>(&'c self, client: &'c C) -> PostgresSession<'c, C> {
        PostgresSession { client, address: self.address(), escapes: true }
    }

    /// A session for the content of documents, which is written without what the server cannot hold.
    pub(super) fn content<'c, C: GenericClient>(&'c self, client: &'c C) -> PostgresSession<'c, C> {
        PostgresSession { client, address: self.address(), escapes: false }
    }
}

/// A connection or a transaction of the database at an address.
pub(super) struct PostgresSession<'c, C> {
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

pub(super) const DIALECT: Dialect = Dialect {
    has_namespaces: true,
    documents: "documents d",
    record: "d.record",
    attributes_of_document: "a.namespace = d.namespace AND a.document = d.document",
    passages: "passages p JOIN documents d ON d.namespace = p.namespace AND d.document = p.document",
    with_texts: "",
    text: "p.text",
    embedded_text: "coalesce(p.embedded_text, p.before_text || p.text)",
    text_hash: "p.text_hash",
    #[cfg(feature = "evidence")]
    passage_of_document: "p.namespace = d.namespace AND p.document = d.document",
    vector_of_passage: "v.namespace = p.namespace AND v.text_hash = p.text_hash",
    #[cfg(feature = "evidence")]
    vector: "vector_send(v.embedding)",
    retired: None,
    most_dimensions: (16_000, " in PostgreSQL"),
    stays: " FOR KEY SHARE",
};

impl<C: GenericClient> Session<Failure> for PostgresSession<'_, C> {
    fn each<'s>(
        &'s self,
        statement: &'s str,
        values: &'s [Value],
        read: &'s mut dyn FnMut(Row),
    ) -> Answer<'s, (), Failure> {
        Box::pin(async move {
            let statement = self.client.prepare_cached(statement).await?;
            let values = self.parameters(values);
            for row in self.client.query(&statement, &references(&values)).await? {
                read(self.row(&row)?);
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

fn references<'v>(values: &'v [Parameter<'_>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// A value as it was before it was written with escapes.
pub(super) fn original(value: Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(text::original(text)),
        Value::Texts(texts) => Value::Texts(texts.into_iter().map(text::original).collect()),
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
        let stored = |text| if self.escapes { text::stored(text) } else { Cow::Borrowed(text) };
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
