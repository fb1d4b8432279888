//! Failures of the server and of its connections, as errors of a store.

use std::io::ErrorKind;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use tokio_postgres::error::SqlState;

use super::faults;
use crate::error::StoreError;

/// A failed call.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server refused a statement, or the connection broke.
    Server(tokio_postgres::Error),
    /// The connection broke before the server confirmed a change. It may have been saved.
    Unconfirmed(tokio_postgres::Error),
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
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => Failure::Server(error),
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
    /// True if the server rolled the transaction back and it may well succeed now.
    pub fn is_repeatable(&self) -> bool {
        matches!(self, Failure::Server(error) if error.code().is_some_and(|code| REPEATABLE.contains(code)))
    }

    /// True if a pooler had no session of the server to spare, after a wait that is long enough.
    fn is_of_pool(&self) -> bool {
        matches!(self, Failure::Server(error) if error.as_db_error().is_some_and(faults::is_of_pool))
    }

    /// True if the server answers, but cannot reach a node that holds some of the rows.
    pub fn is_of_node(&self) -> bool {
        matches!(self, Failure::Server(error) if error.as_db_error().is_some_and(faults::is_of_node))
    }

    /// True if the server cannot be used now and another connection may work: it broke, or the server starts, stops or is a standby.
    pub fn is_lost(&self) -> bool {
        match self {
            _ if self.is_of_node() || self.is_of_pool() => false,
            Failure::Server(error) => match error.code() {
                Some(code) => LOST.contains(code) || code.code().starts_with(CONNECTION_EXCEPTION),
                None => error.is_closed() || io_cause(error).is_some_and(|cause| UNREACHABLE.contains(&cause.kind())),
            },
            Failure::Pool(PoolError::Timeout(TimeoutType::Create)) => true,
            Failure::Pool(_) | Failure::Unconfirmed(_) | Failure::Store(_) => false,
        }
    }

    /// True if there is a server at the address: it said something, or took the connection and cut it.
    pub fn is_answer(&self) -> bool {
        let is_cut = |error| io_cause(error).is_some_and(|cause| CUT.contains(&cause.kind()));
        matches!(self, Failure::Server(error) if error.code().is_some() || error.is_closed() || is_cut(error))
    }

    /// True if a change met a server that only reads: a standby, or a primary that became one.
    pub fn is_read_only(&self) -> bool {
        match self {
            Failure::Server(error) => error.as_db_error().is_some_and(faults::is_read_only),
            Failure::Store(error) => matches!(error, StoreError::ReadOnly { .. }),
            Failure::Pool(_) | Failure::Unconfirmed(_) => false,
        }
    }

    /// True if the server has no connection left.
    pub fn is_without_connection(&self) -> bool {
        matches!(self, Failure::Server(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
    }

    /// The failure of a commit, after which nobody knows what was saved if the connection broke.
    pub fn of_commit(error: tokio_postgres::Error) -> Failure {
        let failure = Failure::Server(error);
        match failure.is_lost() {
            true => failure.unconfirmed(),
            false => failure,
        }
    }

    fn unconfirmed(self) -> Failure {
        match self {
            Failure::Server(error) => Failure::Unconfirmed(error),
            other => other,
        }
    }
}

/// Codes of a transaction that met another one, or in a shared session a prepared statement that somebody left in it.
const REPEATABLE: [SqlState; 3] =
    [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::DUPLICATE_PSTATEMENT];

/// Codes of a server that stops, breaks down or starts.
const LOST: [SqlState; 3] = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW];

/// The class of the codes of broken connections.
const CONNECTION_EXCEPTION: &str = "08";

/// The system's reasons for a connection that broke or cannot be made. The client reports a standby as `PermissionDenied` where
/// the address asks for a primary, and a socket that is not there as `NotFound`.
const UNREACHABLE: [ErrorKind; 11] = [
    ErrorKind::BrokenPipe,
    ErrorKind::ConnectionAborted,
    ErrorKind::ConnectionRefused,
    ErrorKind::ConnectionReset,
    ErrorKind::HostUnreachable,
    ErrorKind::NetworkUnreachable,
    ErrorKind::NotConnected,
    ErrorKind::NotFound,
    ErrorKind::PermissionDenied,
    ErrorKind::TimedOut,
    ErrorKind::UnexpectedEof,
];

/// The system's reasons for a connection that was made and broke.
const CUT: [ErrorKind; 4] =
    [ErrorKind::BrokenPipe, ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset, ErrorKind::UnexpectedEof];

/// The system's reason for a failure of a connection.
fn io_cause(error: &tokio_postgres::Error) -> Option<&std::io::Error> {
    std::error::Error::source(error)?.downcast_ref()
}

/// The reason for a failure of a connection, for a message.
fn cause(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(cause)) => cause.to_string(),
        (None, None) => error.to_string(),
    }
}

/// The error of a store for a failure at this address, to which it has at most so many connections.
pub(super) fn error(address: &str, most_connections: usize, failure: Failure) -> StoreError {
    let database = |reason: String| StoreError::Database { path: address.into(), reason };
    let unavailable = |reason: String| StoreError::Unavailable { path: address.into(), reason };
    // The address of several servers separates them by commas.
    let of_several = |cause: &str| {
        unavailable(format!(
            "no server of this address takes changes now (the last one: {cause}); try again in a minute"
        ))
    };
    let has_several = address.contains(',');
    let is_lost = failure.is_lost();
    let is_full = failure.is_without_connection();
    let is_elsewhere = failure.is_of_node() || failure.is_of_pool();
    match failure {
        Failure::Store(error) => error,
        Failure::Pool(PoolError::Timeout(TimeoutType::Create)) if has_several => {
            of_several("it did not answer in time")
        }
        Failure::Pool(error) => unavailable(faults::of_pool(&error, most_connections)),
        Failure::Unconfirmed(error) => database(format!(
            "the connection broke ({}) before the server confirmed the change, which may or may not be saved; look before you \
             repeat it",
            cause(&error)
        )),
        Failure::Server(error) if error.code().is_none() && io_cause(&error).is_some_and(is_standby) => {
            of_several("it is a standby, which only reads")
        }
        Failure::Server(error) if is_lost && has_several && !error.is_closed() => of_several(&cause(&error)),
        Failure::Server(error) if is_lost || is_full || is_elsewhere => unavailable(faults::explained(&error)),
        Failure::Server(error) => match error.as_db_error() {
            Some(said) if *said.code() == SqlState::DISK_FULL => StoreError::Full { path: address.into() },
            Some(said) if faults::is_read_only(said) => {
                StoreError::ReadOnly { path: address.into(), reason: said.message().to_owned() }
            }
            _ => database(faults::explained(&error)),
        },
    }
}

/// True if the client refused a server that does not take changes.
fn is_standby(cause: &std::io::Error) -> bool {
    cause.kind() == ErrorKind::PermissionDenied && cause.to_string() == "database does not allow writes"
}
