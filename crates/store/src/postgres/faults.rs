//! What can be wrong with a server or the way to it, in words: what happened, and what to do about it.

use std::error::Error;
use std::io;

use deadpool_postgres::{PoolError, TimeoutType};
use tokio_postgres::error::{DbError, SqlState};

/// Explains an error of the server, or of the connection to it.
pub(super) fn explained(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => of_server(said),
        None => of_connection(error),
    }
}

/// Explains a pool that gives no connection. `most` is the number it has.
pub(super) fn of_pool(error: &PoolError, most: usize) -> String {
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
        "give the password in the address, in PGPASSWORD or in the file of PGPASSFILE"
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
pub(super) fn is_of_pool(said: &DbError) -> bool {
    said.message().starts_with("query_wait_timeout")
}

/// True if the server takes no writes, for it is a standby or set to be read only.
pub(super) fn is_read_only(said: &DbError) -> bool {
    // A standby refuses already the wish to write.
    let refuses_wish = *said.code() == SqlState::FEATURE_NOT_SUPPORTED && said.message().contains("during recovery");
    *said.code() == SqlState::READ_ONLY_SQL_TRANSACTION || refuses_wish
}

/// True if the server, which runs Citus, cannot reach one of its nodes.
pub(super) fn is_of_node(said: &DbError) -> bool {
    said.message().starts_with("connection to the remote node")
}
