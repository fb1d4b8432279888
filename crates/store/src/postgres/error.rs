//! Failures of the server and of its connections, as errors of a store.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use super::connection::is_full;
use crate::error::StoreError;

/// A failed call.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server refused a statement, or the connection broke.
    Server(tokio_postgres::Error),
    /// No connection came in time.
    Pool(PoolError),
    /// An error of the store itself.
    Store(StoreError),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        Failure::Server(error)
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Failure {
        match error {
            PoolError::Backend(error) => Failure::Server(error),
            error => Failure::Pool(error),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl Failure {
    /// True if the server rolled the transaction back and asks to repeat it.
    pub fn is_repeatable(&self) -> bool {
        let Failure::Server(error) = self else { return false };
        error
            .code()
            .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
    }
}

/// The error of a store for a failure at this address.
pub(super) fn error(address: &str, failure: Failure) -> StoreError {
    let database = |reason: String| StoreError::Database { path: address.into(), reason };
    match failure {
        Failure::Store(error) => error,
        Failure::Pool(error) => database(format!("no connection: {error}")),
        Failure::Server(error) if is_full(&error) => database(
            "the server has no connection left; raise its max_connections, or run fewer processes on it".to_owned(),
        ),
        Failure::Server(error) => match error.as_db_error() {
            Some(said) if *said.code() == SqlState::DISK_FULL => StoreError::Full { path: address.into() },
            Some(said) if *said.code() == SqlState::READ_ONLY_SQL_TRANSACTION => {
                StoreError::ReadOnly { path: address.into(), reason: said.message().to_owned() }
            }
            Some(said) => {
                let detail = said.detail().map(|detail| format!("; {detail}")).unwrap_or_default();
                database(format!("{}{detail}", said.message()))
            }
            None => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                database(format!("{error}{cause}"))
            }
        },
    }
}
