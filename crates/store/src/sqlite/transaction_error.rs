//! Errors inside a transaction.

use std::path::Path;

use crate::error::StoreError;

/// An error inside a transaction: SQLite's or damaged rows, which lack the path so far, or the store's own.
#[derive(Debug)]
pub(crate) enum TransactionError {
    Sqlite(rusqlite::Error),
    Damaged(String),
    Store(StoreError),
}

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> TransactionError {
        TransactionError::Sqlite(error)
    }
}

impl From<rusqlite::types::FromSqlError> for TransactionError {
    fn from(error: rusqlite::types::FromSqlError) -> TransactionError {
        TransactionError::Sqlite(error.into())
    }
}

impl From<StoreError> for TransactionError {
    fn from(error: StoreError) -> TransactionError {
        TransactionError::Store(error)
    }
}

impl TransactionError {
    /// Adds the path of the database.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            TransactionError::Sqlite(error) => StoreError::sqlite(path, error),
            TransactionError::Damaged(reason) => StoreError::Corrupt { path: path.to_owned(), reason },
            TransactionError::Store(error) => error,
        }
    }
}
