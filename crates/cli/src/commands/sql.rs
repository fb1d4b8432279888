//! `tamis evidence sql`: queries the evidence graph in SQL.

use crate::args::{Global, SqlArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::sql;
use crate::session::Session;
use anyhow::{Context, Result, bail};
use std::io::Read;
use tamis::evidence::{MOST_SQL_BYTES, SQL_TABLES, SqlLimits, SqlRequest};

/// The most that is read of a statement on standard input; no statement that long can run.
const LONGEST_INPUT: u64 = 1 << 20;

/// Runs a statement and prints its rows, or lists the tables.
///
/// # Errors
/// A statement that cannot be read or run, or an index that cannot be read.
pub fn run(arguments: &SqlArguments, global: &Global, output: &Output) -> Result<Exit> {
    let Some(given) = &arguments.sql else {
        output.answer(arguments.output.json, &SQL_TABLES, output.paged(), |out| sql::print_tables(out, SQL_TABLES))?;
        return Ok(Exit::Found);
    };
    let asked = &arguments.request;
    let limits = SqlLimits { max_bytes: Some(MOST_SQL_BYTES), ..asked.limits };
    let request = SqlRequest { sql: statement(given)?, limits, ..asked.clone() };
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let answer = index.evidence().query_sql(&request)?;
    sql::print(&answer, &arguments.output, output)?;
    Ok(Exit::found(answer.row_count > 0))
}

/// The statement as typed, or from standard input.
fn statement(given: &str) -> Result<String> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock().take(LONGEST_INPUT + 1);
    input.read_to_end(&mut bytes).context("standard input: cannot be read")?;
    if bytes.len() as u64 > LONGEST_INPUT {
        bail!("standard input: a statement is at most {LONGEST_INPUT} bytes long");
    }
    String::from_utf8(bytes).context("standard input: the statement is not UTF-8")
}
