//! `tamis status`: shows what the index holds.

use crate::args::{Global, StatusArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::status::status;
use crate::session::Session;
use anyhow::Result;
use std::time::SystemTime;

/// Shows the contents and the freshness of the index; changes nothing.
///
/// # Errors
/// There is no index, or it cannot be read.
pub fn run(arguments: &StatusArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    if let Some(full) = index.full_disk() {
        output.warn(&format!("opened read-only: {full}"));
    }
    let found = index.status()?;
    output.answer(arguments.json, &found, output.paged(), |out| {
        status(out, &found, SystemTime::now(), output.verbose())
    })?;
    Ok(Exit::Found)
}
