//! Writing many rows at once.

use std::borrow::Cow;
use std::pin::Pin;

use tokio_postgres::Transaction;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::error::Failure;

/// A `COPY … FROM STDIN BINARY` under way. Dropped before its end, it fails the transaction.
pub(super) struct Copy {
    writer: Pin<Box<BinaryCopyInWriter>>,
}

/// Columns by their types, the order of a row's values.
pub(super) type Columns = [(&'static str, Type)];

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
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// An optional text as the server can hold it.
pub(super) fn storable_option(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(storable)
}
