//! Statements in PostgreSQL that both databases understand.

use std::error::Error;

use bytes::BytesMut;
use deadpool_postgres::GenericClient;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::connection::Connections;
use super::error::Failure;
use super::text;
use crate::error::StoreError;
use crate::session::{Answer, Lock, Row, Rows, Session, Value};

/// Keeps others from adding judgements and openings.
pub(super) const LABELS: &str = "SELECT pg_advisory_xact_lock(x'74616d6973000002'::bigint)";

/// Identifiers are unique in all namespaces, and no index of a distributed table can say so. Two that are equal wait for each other.
/// Locks are taken in one order everywhere, so that nobody waits in a circle.
const SEARCHES: &str = "SELECT pg_advisory_xact_lock(hashtextextended(id, 8386104280808947714)) \
     FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS id ORDER BY id) AS ids";

impl Connections {
    /// Sends statements on one of the connections, or in its transaction.
    pub(super) fn session<'c, C: GenericClient>(&'c self, client: &'c C) -> PostgresSession<'c, C> {
        PostgresSession { client, address: self.address() }
    }
}

/// A connection or a transaction of the database at an address.
pub(super) struct PostgresSession<'c, C> {
    client: &'c C,
    address: &'c str,
}

impl<C: GenericClient> Session<Failure> for PostgresSession<'_, C> {
    fn rows<'s>(&'s self, statement: &'s str, values: &'s [Value]) -> Answer<'s, Vec<Row>, Failure> {
        Box::pin(async move {
            let statement = self.client.prepare_cached(statement).await?;
            let rows = self.client.query(&statement, &parameters(values)).await?;
            let row = |row: &tokio_postgres::Row| {
                let values: Result<Vec<Value>, _> = (0..row.len()).map(|column| row.try_get(column)).collect();
                Ok(Row::from(values?))
            };
            rows.iter().map(row).collect()
        })
    }

    fn execute<'s>(&'s self, statement: &'s str, values: &'s [Value]) -> Answer<'s, u64, Failure> {
        Box::pin(async move {
            let statement = self.client.prepare_cached(statement).await?;
            Ok(self.client.execute(&statement, &parameters(values)).await?)
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
            let columns: Vec<Vec<&Value>> =
                (0..rows.columns.len()).map(|column| rows.rows.iter().map(|row| &row[column]).collect()).collect();
            let common = rows.common.iter().map(|(_, value)| value as &(dyn ToSql + Sync));
            let columns = columns.iter().map(|column| column as &(dyn ToSql + Sync));
            self.client.execute(&statement, &common.chain(columns).collect::<Vec<_>>()).await?;
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

    fn has_namespaces(&self) -> bool {
        true
    }

    fn stays(&self) -> &'static str {
        " FOR KEY SHARE"
    }

    fn damaged(&self, reason: String) -> Failure {
        StoreError::Database { path: self.address.into(), reason }.into()
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// A value takes the type of its column.
impl ToSql for Value {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Boolean(truth) => truth.to_sql(of, out),
            Value::Integer(number) if *of == Type::INT2 => i16::try_from(*number)?.to_sql(of, out),
            Value::Integer(number) if *of == Type::INT4 => i32::try_from(*number)?.to_sql(of, out),
            Value::Integer(number) => number.to_sql(of, out),
            Value::Real(figure) => figure.to_sql(of, out),
            Value::Text(text) => text::stored(text).to_sql(of, out),
            Value::Bytes(bytes) => bytes.to_sql(of, out),
            Value::Integers(numbers) if *of == Type::INT4_ARRAY => {
                numbers.iter().map(|&number| i32::try_from(number)).collect::<Result<Vec<_>, _>>()?.to_sql(of, out)
            }
            Value::Integers(numbers) => numbers.to_sql(of, out),
            Value::Texts(texts) => texts.iter().map(|text| text::stored(text)).collect::<Vec<_>>().to_sql(of, out),
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
            Type::TEXT => Value::Text(text::original(String::from_sql(of, raw)?)),
            Type::BYTEA => Value::Bytes(Vec::from_sql(of, raw)?),
            Type::INT8_ARRAY => Value::Integers(Vec::from_sql(of, raw)?),
            Type::TEXT_ARRAY => Value::Texts(Vec::from_sql(of, raw)?.into_iter().map(text::original).collect()),
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
