//! Errors of statements that the server refused or ended.

use std::time::Duration;

use tokio_postgres::error::{DbError, SqlState};

use super::parser::no_such_column;
use crate::error::StoreError;
use crate::postgres::error::Failure;
use crate::sqlite::guard::errors::{ALLOWED, ended, refusal, shortened, too_big, too_deep, too_wide, unknown_table};
use crate::sqlite::guard::watch::Ended;

/// The most bytes of temporary files of a statement.
pub(super) const TEMPORARY_BYTES: u64 = 64 << 20;

/// Explains the error of a statement.
pub(super) fn explain(failure: Failure, sql: &str, timeout: Duration) -> Failure {
    match &failure {
        Failure::Server(error) => match error.as_db_error() {
            Some(said) => match explained(said, sql, timeout) {
                Some(error) => Failure::Store(shortened(error)),
                None => failure,
            },
            None => failure,
        },
        _ => failure,
    }
}

fn explained(said: &DbError, sql: &str, timeout: Duration) -> Option<StoreError> {
    let code = said.code();
    let message = said.message();
    Some(match code.code() {
        // The states of our own functions.
        "TS001" => too_big(),
        "TS002" => refusal("LIKE pattern too complex, or a text to look for too long", "look for at most 1,000 bytes"),
        _ if *code == SqlState::QUERY_CANCELED => {
            ended(if message.contains("timeout") { Ended::Time } else { Ended::Cancelled }, timeout)
        }
        _ if *code == SqlState::CONFIGURATION_LIMIT_EXCEEDED => refusal(
            format!("the statement takes more than {} MB of memory", TEMPORARY_BYTES >> 20),
            "sort, group and join fewer rows or shorter values: filter them first, or take substr(text, 1, 200)",
        ),
        _ if *code == SqlState::OUT_OF_MEMORY => ended(Ended::Memory, timeout),
        _ if *code == SqlState::STATEMENT_TOO_COMPLEX => too_deep(message, super::parser::DEEPEST),
        _ if *code == SqlState::TOO_MANY_COLUMNS => too_wide(message),
        _ if *code == SqlState::INTERNAL_ERROR && message.contains("memory alloc request") => too_big(),
        _ if *code == SqlState::UNDEFINED_TABLE => unknown_table(named(message)),
        _ if *code == SqlState::UNDEFINED_COLUMN => no_such_column(named(message), sql),
        // The reader lacks a right: the statement got further than it should have.
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => refusal("the statement cannot be run", ALLOWED),
        // Errors of data, of syntax and types, and of limits. All others are failures of the server.
        state if ["0A", "21", "22", "2F", "42", "54"].iter().any(|class| state.starts_with(class)) => {
            StoreError::Sql { error: message.to_owned(), hint: None }
        }
        _ => return None,
    })
}

/// The name in a message such as `column c.x does not exist` or `relation "x" does not exist`.
fn named(message: &str) -> &str {
    let rest = message.split_once(' ').map_or(message, |(_, rest)| rest);
    rest.split(" does not exist").next().unwrap_or(rest).trim_matches('"')
}
