//! Errors of statements, each with a remedy, and values and texts of bounded length.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode;
use rusqlite::types::ValueRef;

use super::functions::FUNCTIONS;
use super::{BYTES, COLUMNS, DEPTH, Denied, Ended, INSTRUCTIONS, LONGEST_VALUE, Watch};
use crate::counting_allocator;
use crate::error::StoreError;
use crate::untrusted_sql::{SQL_TABLES, SqlQuery, SqlTable, SqlValue};

/// The statements that are allowed.
pub(crate) const ALLOWED: &str = "one SELECT, WITH … SELECT or VALUES over the tables of the evidence graph is allowed";

/// Similarity at which a name is suggested.
const SUGGESTED_FROM: f64 = 0.5;
/// Most names suggested.
const MOST_SUGGESTIONS: usize = 3;

pub(crate) fn refusal(error: impl Into<String>, hint: impl Into<String>) -> StoreError {
    StoreError::Sql { error: error.into(), hint: Some(hint.into()) }
}

/// SQLite's error code, if the error is SQLite's.
fn code_of(error: &rusqlite::Error) -> Option<ErrorCode> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) | rusqlite::Error::SqlInputError { error: failure, .. } => {
            Some(failure.code)
        }
        _ => None,
    }
}

/// Returns `true` if a connection can be used again after an error: the statement failed, not SQLite.
pub(crate) fn leaves_connection_sound(error: &rusqlite::Error) -> bool {
    matches!(
        code_of(error),
        Some(
            ErrorCode::Unknown
                | ErrorCode::OperationInterrupted
                | ErrorCode::AuthorizationForStatementDenied
                | ErrorCode::TooBig
        )
    )
}

/// The longest error or hint, in characters. Names in it come from the statement, which can be long.
const LONGEST_MESSAGE: usize = 1000;

/// Explains the error of a statement that SQLite did not finish, in a message of bounded length.
pub(crate) fn explain(watch: &Watch, query: &SqlQuery, path: &Path, error: rusqlite::Error) -> StoreError {
    shortened(explained(watch, query, path, error))
}

/// Bounds the length of an error's message.
pub(crate) fn shortened(error: StoreError) -> StoreError {
    let short = |text: String| shortened_text(&text, LONGEST_MESSAGE).0;
    match error {
        StoreError::Sql { error, hint } => StoreError::Sql { error: short(error), hint: hint.map(short) },
        other => other,
    }
}

/// The names in a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').map(str::to_ascii_lowercase)
}

fn explained(watch: &Watch, query: &SqlQuery, path: &Path, error: rusqlite::Error) -> StoreError {
    if let Some(ended) = watch.ended() {
        return self::ended(ended, query.timeout);
    }
    let (message, offset) = match &error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => (msg.clone(), usize::try_from(*offset).ok()),
        rusqlite::Error::SqliteFailure(_, Some(message)) => (message.clone(), None),
        other => (other.to_string(), None),
    };
    match code_of(&error) {
        Some(ErrorCode::AuthorizationForStatementDenied) => denied(watch.denied()),
        // SQLite reports a program with too many instructions in the same way.
        Some(ErrorCode::OutOfMemory) => {
            ended(if counting_allocator::was_refused() { Ended::Memory } else { Ended::Length }, query.timeout)
        }
        Some(ErrorCode::TooBig) => too_big(),
        // The message may come from a function.
        _ if message.contains("not authorized") || message.contains("prohibited") => denied(watch.denied()),
        _ if message.contains("string or blob too big") => too_big(),
        Some(ErrorCode::Unknown) => located(&message, offset, &query.sql),
        None => StoreError::Sql { error: message, hint: None },
        Some(_) => StoreError::sqlite(path, error),
    }
}

pub(crate) fn ended(why: Ended, timeout: Duration) -> StoreError {
    match why {
        Ended::Time => refusal(
            format!("the statement takes longer than {} ms", timeout.as_millis()),
            "narrow it down with WHERE, join on identifiers, or allow more time",
        ),
        Ended::Memory => refusal(
            format!("the statement takes more than {} MB of memory", BYTES >> 20),
            "sort, group and join fewer rows or shorter values: filter them first, or take substr(text, 1, 200)",
        ),
        Ended::Length => refusal(
            format!("the statement is too large: it has more than {INSTRUCTIONS} instructions"),
            "pass long lists as a JSON array in a parameter and read it with json_each(:parameter)",
        ),
        Ended::Cancelled => StoreError::Sql { error: "the statement was cancelled".to_owned(), hint: None },
    }
}

fn too_big() -> StoreError {
    refusal(
        format!("a value or row is longer than {LONGEST_VALUE} bytes"),
        "take shorter values, such as substr(text, 1, 200), or fewer at a time",
    )
}

fn denied(what: Option<Denied>) -> StoreError {
    match what {
        Some(Denied::Table(name)) => unknown_table(&name),
        Some(Denied::Function(name)) => unknown_function(&name),
        Some(Denied::Action(action)) => refusal(format!("{action} is not allowed"), ALLOWED),
        None => refusal("the statement is not allowed", ALLOWED),
    }
}

/// SQLite's message about a statement, with its line and column, and the nearest names.
fn located(message: &str, offset: Option<usize>, sql: &str) -> StoreError {
    let named = |beginning: &str| message.strip_prefix(beginning).map(|name| name.split(" - ").next().unwrap_or(name));
    if let Some(name) = named("no such table: ") {
        return unknown_table(name);
    }
    if let Some(name) = named("no such column: ") {
        return StoreError::Sql { error: message.to_owned(), hint: Some(columns_like(name.trim_matches('"'), sql)) };
    }
    if let Some(name) = named("no such function: ") {
        return unknown_function(name);
    }
    if message.starts_with("cannot modify") {
        return refusal(message, ALLOWED);
    }
    if ["Recursion limit", "Expression tree is too large", "VIEWs and/or subqueries nested too deep"]
        .iter()
        .any(|beginning| message.starts_with(beginning))
    {
        return refusal(message, format!("nest no deeper than {DEPTH}; a long OR is shorter as IN (…)"));
    }
    if message.starts_with("too many columns") {
        return refusal(message, format!("name the columns that are needed, at most {COLUMNS}"));
    }
    let place = offset.filter(|_| message.contains("syntax error") || message.contains("unrecognized token"));
    match place {
        Some(offset) => at_place(message, offset, sql),
        None => StoreError::Sql { error: message.to_owned(), hint: None },
    }
}

/// The error for what stands at an offset of a statement, with its line and column.
fn at_place(message: &str, offset: usize, sql: &str) -> StoreError {
    let error = match sql.get(..offset) {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("{message} (line {line}, column {column})")
        }
        None => message.to_owned(),
    };
    StoreError::Sql { error, hint: None }
}

fn unknown_table(name: &str) -> StoreError {
    let names = || SQL_TABLES.iter().map(|table| table.name);
    let bare = name.rsplit('.').next().unwrap_or(name);
    let all = names().collect::<Vec<_>>().join(", ");
    refusal(format!("no such table: {name}"), format!("{}the tables are {all}", did_you_mean(bare, names())))
}

fn unknown_function(name: &str) -> StoreError {
    let meant = did_you_mean(name, FUNCTIONS.iter().copied());
    let allowed = "functions of text, numbers, dates and JSON that only compute are allowed, and aggregates";
    refusal(format!("no such function here: {name}"), format!("{meant}{allowed}"))
}

/// The error for an argument without a parameter.
pub(crate) fn unknown_parameter(name: &str, names: &[String]) -> StoreError {
    let has = match names {
        [] => "it has none; write :name where a value is to go".to_owned(),
        names => format!("it has {}", names.join(", ")),
    };
    refusal(
        format!("the statement has no parameter {name}"),
        format!("{}{has}", did_you_mean(name, names.iter().map(String::as_str))),
    )
}

/// Suggests columns of the tables that the statement names.
fn columns_like(name: &str, sql: &str) -> String {
    let bare = name.rsplit('.').next().unwrap_or(name);
    let words: Vec<String> = words(sql).collect();
    let mut tables: Vec<&SqlTable> =
        SQL_TABLES.iter().filter(|table| words.iter().any(|word| word == table.name)).collect();
    if tables.is_empty() {
        tables = SQL_TABLES.iter().collect();
    }
    let columns = tables.iter().flat_map(|table| table.columns.iter().map(|column| column.name));
    let meant = did_you_mean(bare, columns);
    let lists = tables.iter().map(|table| {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        format!("{} has {}", table.name, columns.join(", "))
    });
    format!("{meant}{}", lists.collect::<Vec<_>>().join("; "))
}

/// `did you mean a or b? `, or an empty text if no name is similar.
fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let wanted = name.to_ascii_lowercase();
    let mut near: Vec<(f64, &str)> = names
        .map(|known| (strsim::normalized_damerau_levenshtein(&wanted, known), known))
        .filter(|&(alike, _)| alike >= SUGGESTED_FROM)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup_by_key(|(_, known)| *known);
    let near: Vec<&str> = near.into_iter().take(MOST_SUGGESTIONS).map(|(_, known)| known).collect();
    if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) }
}

/// The longest value, in characters.
pub(crate) const LONGEST: usize = 2000;
/// The longest name of a column, in characters. An unnamed column is called by its expression.
pub(crate) const LONGEST_NAME: usize = 100;

/// Converts a value to at most `longest` characters. The second value is `true` if it was shortened.
pub(crate) fn converted(value: ValueRef<'_>, longest: usize) -> (SqlValue, bool) {
    match value {
        ValueRef::Null => (SqlValue::Null, false),
        ValueRef::Integer(number) => (SqlValue::Integer(number), false),
        ValueRef::Real(number) if number.is_finite() => (SqlValue::Real(number), false),
        // JSON lacks these numbers. SQLite writes them like this.
        ValueRef::Real(number) => (SqlValue::Text(if number > 0.0 { "Inf" } else { "-Inf" }.to_owned()), false),
        ValueRef::Text(bytes) => {
            let (text, shortened) = shortened_text(&String::from_utf8_lossy(bytes), longest);
            (SqlValue::Text(text), shortened)
        }
        ValueRef::Blob(bytes) => {
            // Each byte takes two digits; the quotes and the x take three.
            let shown = bytes.len().min(longest.saturating_sub(3) / 2);
            let mut text = "x'".to_owned();
            for byte in &bytes[..shown] {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            let shortened = shown < bytes.len();
            if shortened {
                let _ = write!(text, "… ({} bytes)", bytes.len());
            } else {
                text.push('\'');
            }
            (SqlValue::Text(text), shortened)
        }
    }
}

/// Shortens a text to its first characters and a note of its length. The second value is `true` if it was shortened.
pub(crate) fn shortened_text(text: &str, longest: usize) -> (String, bool) {
    match text.char_indices().nth(longest) {
        None => (text.to_owned(), false),
        Some((end, _)) => {
            let whole = longest + text[end..].chars().count();
            (format!("{}… ({whole} characters)", &text[..end]), true)
        }
    }
}

/// The size of a value as JSON in bytes, separator included.
pub(crate) fn size_of(value: &SqlValue) -> usize {
    match value {
        SqlValue::Null => 5,
        SqlValue::Integer(number) => number.to_string().len() + 1,
        // No finite number takes more.
        SqlValue::Real(_) => 26,
        SqlValue::Text(text) => size_of_text(text),
    }
}

/// The size of a text as JSON in bytes, separator included.
pub(crate) fn size_of_text(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0x00..=0x1f => 6,
        _ => 1,
    });
    escaped.sum::<usize>() + 3
}
