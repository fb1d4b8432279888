//! `tamis evidence views` and `tamis evidence view`: named queries on the evidence graph.

use crate::args::{Global, ViewArguments, ViewsArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::{sql, views};
use crate::session::Session;
use anyhow::Result;
use tamis::evidence::{MOST_SQL_BYTES, SqlLimits, ViewRequest};

/// Lists the views; needs no index.
///
/// # Errors
/// Standard output cannot be written, or there is no directory to start from.
pub fn list(arguments: &ViewsArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let found = tamis::evidence::views(session.user_directory.as_deref());
    output.answer(arguments.json, &found, output.paged(), |out| views::views(out, &found))?;
    Ok(Exit::Found)
}

/// Runs a view and prints its rows.
///
/// # Errors
/// An unknown view or parameter, a value of another type, no index, or a view that cannot run.
pub fn run(arguments: &ViewArguments, global: &Global, output: &Output) -> Result<Exit> {
    let limits = SqlLimits { max_bytes: Some(MOST_SQL_BYTES), ..arguments.request.limits };
    let request = ViewRequest { limits, ..arguments.request.clone() };
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let answer = index.evidence().query_view(&request)?;
    sql::print(&answer, &arguments.output, output)?;
    Ok(Exit::found(answer.row_count > 0))
}
