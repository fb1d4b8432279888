//! Statements that both databases understand, and the values that go in and out.
//!
//! They are written for PostgreSQL. What differs in SQLite is behind [`Session`]: the form of lists, locks, and in its [`Dialect`] how
//! texts and other things are kept.

use std::future::Future;
use std::pin::Pin;

use crate::record::{Description, DocumentId, FileStat, PassageId, TextForm, TextHash};
use crate::usage_record::{CallerKey, ScoringKey, ScoringKeyError};

/// What a writer excludes others from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lock<'l> {
    /// Nothing but the rows that it changes.
    Rows,
    /// Recording searches with these identifiers.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a writer of SQLite excludes all others"))]
    Searches(&'l [&'l str]),
    /// Adding judgements and openings. Their numbers then ascend in the order in which they become visible, which makes the last number
    /// and the count a version of all of them.
    Labels,
}

/// The values of a statement's parameters.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::session::Value::from($value)),*] };
}
pub(crate) use values;

/// The values of these fields of a struct.
macro_rules! bind {
    ($from:expr => $($($field:ident).+),+ $(,)?) => { [$($crate::session::Value::from(&$from$(.$field)+)),+] };
}
pub(crate) use bind;

/// Reads a struct whose fields are the next columns of a row, in this order.
macro_rules! read {
    ($row:expr => $type:ident { $($field:ident),+ $(,)? }) => { $type { $($field: $row.next()?),+ } };
    ($row:expr => $type:ident { $($field:ident),+, ..$rest:expr }) => { $type { $($field: $row.next()?,)+ ..$rest } };
}
pub(crate) use read;

/// The answer to come.
pub(crate) type Answer<'s, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + 's>>;

/// A connection, within a transaction where one was asked for.
pub(crate) trait Session<E> {
    /// Runs a statement and passes its rows on as they come, until `read` returns false.
    fn each<'s>(
        &'s self,
        statement: &'s str,
        values: &'s [Value],
        read: &'s mut dyn FnMut(Row) -> bool,
    ) -> Answer<'s, (), E>;

    /// Runs a statement and returns the number of rows that it changed.
    fn execute<'s>(&'s self, statement: &'s str, values: &'s [Value]) -> Answer<'s, u64, E>;

    fn insert<'s>(&'s self, rows: &'s Rows<'s>) -> Answer<'s, (), E>;

    /// Takes a lock until the transaction ends.
    fn lock<'s>(&'s self, lock: Lock<'s>) -> Answer<'s, (), E>;

    /// The condition that a column is one of a list, which is a parameter by its number.
    fn one_of(&self, parameter: u32) -> String;

    /// How this database keeps what both have.
    fn dialect(&self) -> &'static Dialect;

    /// The error for rows that this program cannot have written.
    fn damaged(&self, reason: String) -> E;
}

/// Reads a vector as it is stored.
pub(crate) type ReadVector = fn(&[u8]) -> Result<Vec<f32>, String>;

/// How a database keeps what both have, as SQL.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// True if all tables of content have the namespace in their keys.
    pub(crate) has_namespaces: bool,
    /// Documents `d` with their records.
    pub(crate) documents: &'static str,
    pub(crate) record: &'static str,
    /// The condition that attributes `a` are of a document `d`.
    pub(crate) attributes_of_document: &'static str,
    pub(crate) passages: PassageSql,
    /// The condition that a vector `v` is of a passage `p`.
    pub(crate) vector_of_passage: &'static str,
    /// A vector `v` as it is stored, and how it becomes little-endian floats.
    pub(crate) vector: (&'static str, ReadVector),
    /// Selects the state of the evidence of the namespace `$1` as a text. Two states have the same only if the evidence is the same.
    pub(crate) evidence_state: &'static str,
    /// Selects the records of those passages with the numbers `$1` that are deleted and still found.
    pub(crate) retired: Option<&'static str>,
    /// Most dimensions of a vector, and where.
    pub(crate) most_dimensions: (usize, &'static str),
    /// What keeps the rows that are read from being deleted until the transaction ends.
    pub(crate) stays: &'static str,
}

/// How a database keeps passages.
#[derive(Debug)]
pub(crate) struct PassageSql {
    /// Passages `p` with their documents `d`.
    pub(crate) from: &'static str,
    /// What joins the texts of passages, and the columns there.
    pub(crate) with_texts: &'static str,
    pub(crate) text: &'static str,
    pub(crate) embedded_text: &'static str,
    pub(crate) text_hash: &'static str,
    /// The condition that a passage `p` is of a document `d`.
    pub(crate) of_document: &'static str,
}

#[derive(Debug)]
pub(crate) struct Rows<'r> {
    pub(crate) table: &'r str,
    /// Columns with one value for all rows.
    pub(crate) common: Vec<(&'r str, Value)>,
    /// The other columns, and their types in PostgreSQL.
    pub(crate) columns: Vec<(&'r str, &'r str)>,
    /// The values of the other columns, row by row.
    pub(crate) rows: Vec<Vec<Value>>,
    /// What happens to a row that is there.
    pub(crate) conflict: String,
}

impl Rows<'_> {
    /// The statement that adds rows from a source.
    pub(crate) fn statement(&self, source: &str) -> String {
        let common = self.common.iter().map(|(name, _)| *name);
        let columns: Vec<&str> = common.chain(self.columns.iter().map(|(name, _)| *name)).collect();
        format!("INSERT INTO {}({}) {source} {}", self.table, columns.join(", "), self.conflict)
    }
}

/// Runs a statement and reads its rows.
pub(crate) async fn all<T, E>(
    session: &dyn Session<E>,
    statement: &str,
    values: &[Value],
    read: impl Fn(&mut Row) -> Result<T, String>,
) -> Result<Vec<T>, E> {
    let (mut found, mut failed) = (Vec::new(), None);
    let mut add = |mut row: Row| {
        match read(&mut row) {
            Ok(row) => found.push(row),
            Err(reason) => failed = Some(reason),
        }
        failed.is_none()
    };
    session.each(statement, values, &mut add).await?;
    failed.map_or(Ok(found), |reason| Err(session.damaged(reason)))
}

/// Runs a statement and reads its first row.
pub(crate) async fn first<T, E>(
    session: &dyn Session<E>,
    statement: &str,
    values: &[Value],
    read: impl Fn(&mut Row) -> Result<T, String>,
) -> Result<Option<T>, E> {
    Ok(all(session, statement, values, read).await?.into_iter().next())
}

/// A value of a parameter or a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

/// The columns of a row that are still to be read, from left to right.
#[derive(Debug)]
pub(crate) struct Row(std::vec::IntoIter<Value>);

impl From<Vec<Value>> for Row {
    fn from(values: Vec<Value>) -> Row {
        Row(values.into_iter())
    }
}

impl IntoIterator for Row {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> std::vec::IntoIter<Value> {
        self.0
    }
}

impl Row {
    pub(crate) fn next<T: FromRow>(&mut self) -> Result<T, String> {
        T::from_row(self)
    }
}

/// A type that one column or several can be read as.
pub(crate) trait FromRow: Sized {
    fn from_row(row: &mut Row) -> Result<Self, String>;
}

impl<T: FromValue> FromRow for T {
    fn from_row(row: &mut Row) -> Result<T, String> {
        T::from_value(row.0.next().unwrap_or(Value::Null))
    }
}

/// Structs whose fields are columns in this order.
macro_rules! read_columns {
    ($($type:ident { $($field:ident),+ })+) => {$(
        impl FromRow for $type {
            fn from_row(row: &mut Row) -> Result<$type, String> {
                Ok(read!(row => $type { $($field),+ }))
            }
        }
    )+};
}

read_columns! {
    FileStat { size, modified_ns, stamp }
    Description { language, role, title }
}

/// A type that a column can be read as.
pub(crate) trait FromValue: Sized {
    fn from_value(value: Value) -> Result<Self, String>;
}

/// Converts values from and to types, in the forms that they have in either database.
macro_rules! convert {
    ($($type:ty { $($pattern:pat => $read:expr),+ } from $from:ident: $own:ty = $value:expr;)*) => {$(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<$type, String> {
                match value {
                    $($pattern => $read,)+
                    other => Err(format!("{other:?} is no {}", stringify!($type))),
                }
            }
        }

        impl From<$own> for Value {
            fn from($from: $own) -> Value {
                $value
            }
        }
    )*};
}

convert! {
    // There are no unsigned integers in SQL; a count that is too large for a signed one comes back as it was.
    i64 { Value::Integer(number) => Ok(number) } from number: i64 = Value::Integer(number);
    u64 { Value::Integer(number) => Ok(number as u64) } from number: u64 = Value::Integer(number as i64);
    i32 { Value::Integer(number) => Ok(number as i32) } from number: i32 = Value::Integer(number.into());
    u32 { Value::Integer(number) => Ok(number as u32) } from number: u32 = Value::Integer(number.into());
    bool { Value::Boolean(truth) => Ok(truth), Value::Integer(number) => Ok(number != 0) }
        from truth: bool = Value::Boolean(truth);
    f64 { Value::Real(figure) => Ok(figure), Value::Integer(number) => Ok(number as f64) }
        from figure: f64 = if figure.is_nan() { Value::Null } else { Value::Real(figure) };
    String { Value::Text(text) => Ok(text) } from text: &str = Value::Text(text.to_owned());
    Vec<u8> { Value::Bytes(bytes) => Ok(bytes) } from bytes: &[u8] = Value::Bytes(bytes.to_vec());
    Vec<i64> { Value::Integers(numbers) => Ok(numbers), Value::Text(json) => from_json(&json) }
        from numbers: Vec<i64> = Value::Integers(numbers);
    Vec<String> { Value::Texts(texts) => Ok(texts), Value::Text(json) => from_json(&json) }
        from texts: Vec<String> = Value::Texts(texts);
}

fn from_json<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

impl<const LENGTH: usize> FromValue for [u8; LENGTH] {
    fn from_value(value: Value) -> Result<[u8; LENGTH], String> {
        let bytes = Vec::from_value(value)?;
        bytes.try_into().map_err(|bytes: Vec<u8>| format!("expected {LENGTH} bytes, found {}", bytes.len()))
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Option<T>, String> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T> From<Option<T>> for Value
where
    Value: From<T>,
{
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Value::from)
    }
}

impl<const LENGTH: usize> From<&[u8; LENGTH]> for Value {
    fn from(bytes: &[u8; LENGTH]) -> Value {
        Value::Bytes(bytes.to_vec())
    }
}

macro_rules! convert_references {
    ($($from:ident: $type:ty = $value:expr;)*) => {$(
        impl From<&$type> for Value {
            fn from($from: &$type) -> Value {
                $value
            }
        }

        // One for all types would have the compiler look for references to options of options without end.
        impl From<&Option<$type>> for Value {
            fn from(value: &Option<$type>) -> Value {
                Value::from(value.as_ref())
            }
        }
    )*};
}

convert_references! {
    number: i64 = Value::Integer(*number);
    number: u64 = Value::from(*number);
    number: u32 = Value::from(*number);
    truth: bool = Value::Boolean(*truth);
    figure: f64 = Value::from(*figure);
    text: String = Value::Text(text.clone());
    numbers: Vec<u32> = Value::Integers(numbers.iter().copied().map(i64::from).collect());
    key: ScoringKey = Value::Text(key.to_string());
    key: CallerKey = Value::Bytes(key.bytes().to_vec());
}

/// Reads a type by another one.
macro_rules! read_by {
    ($($type:ty: $from:ident: $by:ty => $read:expr;)*) => {$(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<$type, String> {
                let $from = <$by>::from_value(value)?;
                $read
            }
        }
    )*};
}

read_by! {
    DocumentId: number: u32 => Ok(DocumentId(number));
    PassageId: number: u64 => Ok(PassageId(number));
    TextHash: hash: [u8; 32] => Ok(TextHash(hash));
    TextForm: is_prose: bool => Ok(TextForm::from_prose(is_prose));
    Vec<u32>: numbers: Vec<i64> => Ok(numbers.into_iter().map(|number| number as u32).collect());
    ScoringKey: key: String => key.parse().map_err(|error: ScoringKeyError| error.to_string());
    CallerKey: bytes: [u8; 16] => Ok(CallerKey::from_bytes(bytes));
}
