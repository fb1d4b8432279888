//! Failures of the server and of its connections, as errors of a store: what happened, and what to do about it.

use std::error::Error;
use std::io;
use std::io::ErrorKind;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use tokio_postgres::error::{DbError, SqlState};

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
        matches!(self, Failure::Server(error) if error.as_db_error().is_some_and(is_of_pool))
    }

    /// True if the server answers, but cannot reach a node that holds some of the rows.
    pub fn is_of_node(&self) -> bool {
        matches!(self, Failure::Server(error) if error.as_db_error().is_some_and(is_of_node))
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
            Failure::Server(error) => error.as_db_error().is_some_and(is_read_only),
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
        match (failure.is_lost(), failure) {
            (true, Failure::Server(error)) => Failure::Unconfirmed(error),
            (_, failure) => failure,
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
pub(crate) fn error(address: &str, most_connections: usize, failure: Failure) -> StoreError {
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
        Failure::Pool(error) => unavailable(of_pool(&error, most_connections)),
        Failure::Unconfirmed(error) => database(format!(
            "the connection broke ({}) before the server confirmed the change, which may or may not be saved; look before you \
             repeat it",
            cause(&error)
        )),
        Failure::Server(error) if error.code().is_none() && io_cause(&error).is_some_and(is_standby) => {
            of_several("it is a standby, which only reads")
        }
        Failure::Server(error) if is_lost && has_several && !error.is_closed() => of_several(&cause(&error)),
        Failure::Server(error) if is_lost || is_full || is_elsewhere => unavailable(explained(&error)),
        Failure::Server(error) => match error.as_db_error() {
            Some(said) if *said.code() == SqlState::DISK_FULL => StoreError::Full { path: address.into() },
            Some(said) if is_read_only(said) => {
                StoreError::ReadOnly { path: address.into(), reason: said.message().to_owned() }
            }
            _ => database(explained(&error)),
        },
    }
}

/// True if the client refused a server that does not take changes.
fn is_standby(cause: &std::io::Error) -> bool {
    cause.kind() == ErrorKind::PermissionDenied && cause.to_string() == "database does not allow writes"
}

/// Explains an error of the server, or of the connection to it.
pub(crate) fn explained(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => of_server(said),
        None => of_connection(error),
    }
}

/// Explains a pool that gives no connection. `most` is the number it has.
fn of_pool(error: &PoolError, most: usize) -> String {
    match error {
        PoolError::Timeout(TimeoutType::Wait) => format!(
            "all {most} connections of this process stayed in use; ask it fewer things at once, or run another server beside it"
        ),
        PoolError::Timeout(_) => UNANSWERED.to_owned(),
        error => format!("no connection: {error}"),
    }
}

const UNANSWERED: &str = "the server did not answer in time; check host, port and the network between";

fn of_server(said: &DbError) -> String {
    let message = said.message();
    let code = said.code();
    let detail = said.detail().map(|detail| format!("; {detail}")).unwrap_or_default();
    let lacks_vector = message.contains("extension \"vector\"") || message.contains("vector.control");
    let way_out = match code {
        _ if *code == SqlState::TOO_MANY_CONNECTIONS => {
            "all connections of the server are taken: end programs that hold some, raise max_connections, or put a pooler before it"
        }
        _ if *code == SqlState::INVALID_PASSWORD => {
            "check the user in the address, and the password there, in PGPASSWORD or in the file of PGPASSFILE"
        }
        _ if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            "check the user in the address and whether pg_hba.conf of the server lets it in from here (sslmode=require for encryption)"
        }
        _ if *code == SqlState::INVALID_CATALOG_NAME => {
            "create it (CREATE DATABASE), or name another one at the end of the address"
        }
        _ if lacks_vector && *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            "ask an administrator to run in this database: CREATE EXTENSION vector SCHEMA public"
        }
        _ if lacks_vector => {
            "pgvector is not installed on the server: install it there, for PostgreSQL 18 as postgresql-18-pgvector on Debian or \
             pgvector_18 on Red Hat"
        }
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            "the user in the address lacks this right: name the user that created the tables, or have it granted"
        }
        _ if *code == SqlState::QUERY_CANCELED && message.contains("statement timeout") => {
            "ask for less at once, or raise the limit in the address: options=-c%20statement_timeout%3D1h"
        }
        _ if is_of_node(said) => "a node of Citus is away; start it, or search namespaces of the other nodes",
        _ if *code == SqlState::CANNOT_CONNECT_NOW => "wait until the server has started, and try again",
        _ if [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].contains(code) => {
            "the server ended the connection; try again once it runs"
        }
        _ if [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT].contains(code) => {
            "a pooler shares the sessions of the server here since a while ago: start the program again"
        }
        _ if is_of_pool(said) => {
            "the pooler had no session of the server to spare for too long: raise its number (default_pool_size in PgBouncer), or end \
             programs that write, each of which holds some"
        }
        _ if message.contains("max_client_conn") => "end programs that hold connections, or raise it in the pooler",
        _ if message.contains("startup parameter") => {
            "a pooler refuses it: leave `options` out of the address, or have the pooler let it pass"
        }
        _ if [SqlState::UNTRANSLATABLE_CHARACTER, SqlState::CHARACTER_NOT_IN_REPERTOIRE].contains(code) => {
            "the database cannot hold every character: name one that was created with ENCODING 'UTF8' TEMPLATE template0"
        }
        _ if *code == SqlState::OUT_OF_MEMORY => "the server has too little memory for this; ask for less at once",
        _ => return format!("{message}{detail}"),
    };
    format!("{message}{detail}; {way_out}")
}

fn of_connection(error: &tokio_postgres::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut kind = None;
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !causes.contains(&text) {
            causes.push(text);
        }
        kind = kind.or_else(|| cause.downcast_ref::<io::Error>().map(io::Error::kind));
        next = cause.source();
    }
    let cause = causes.join(": ");
    let is = |part: &str| cause.contains(part);
    let way_out = if is("does not support TLS") {
        "enable ssl on the server, or give sslmode=disable in the address where the network can be trusted"
    } else if is("UnknownIssuer") || is("CaUsedAsEndEntity") {
        "its certificate is of an authority that is not trusted: name the authority's own by sslrootcert=FILE in the address or \
         PGSSLROOTCERT"
    } else if is("not valid for") || is("NotValidForName") {
        "its certificate is for another host: name the host as the certificate does"
    } else if is("Expired") || is("expired") {
        "its certificate has expired: renew it on the server"
    } else if is("password missing") {
        "give the password in the address, in PGPASSWORD or in the file of PGPASSFILE (~/.pgpass), which nobody else may read \
         (chmod 600)"
    } else if is("failed to lookup address") || is("lookup") {
        "the host is unknown here: check its name in the address"
    } else if kind == Some(io::ErrorKind::ConnectionRefused) {
        "no server listens there: check host and port, and that the server runs"
    } else if error.to_string().starts_with("timeout") || is("timed out") {
        UNANSWERED
    } else if is_cut(error) {
        "the connection to the server was cut; try again"
    } else {
        ""
    };
    let cause = if cause.is_empty() { String::new() } else { format!(": {cause}") };
    // An error of the client that has a cause says it itself as well.
    let said = error.to_string();
    let said = if cause.is_empty() || !said.ends_with(&cause) { format!("{said}{cause}") } else { said };
    if way_out.is_empty() { said } else { format!("{said}; {way_out}") }
}

/// True if the connection to the server broke or the server ended it.
fn is_cut(error: &tokio_postgres::Error) -> bool {
    let ended = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::IDLE_SESSION_TIMEOUT];
    match error.code() {
        Some(code) => ended.contains(code),
        None => error.is_closed() || error.to_string().starts_with("error communicating with the server"),
    }
}

/// True if a pooler gave no session of the server in time.
fn is_of_pool(said: &DbError) -> bool {
    said.message().starts_with("query_wait_timeout")
}

/// True if the server takes no writes, for it is a standby or set to be read only.
pub(crate) fn is_read_only(said: &DbError) -> bool {
    // A standby refuses already the wish to write.
    let refuses_wish = *said.code() == SqlState::FEATURE_NOT_SUPPORTED && said.message().contains("during recovery");
    *said.code() == SqlState::READ_ONLY_SQL_TRANSACTION || refuses_wish
}

/// True if the server, which runs Citus, cannot reach one of its nodes.
fn is_of_node(said: &DbError) -> bool {
    said.message().starts_with("connection to the remote node")
}
