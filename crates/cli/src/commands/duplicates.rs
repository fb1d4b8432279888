//! `tamis duplicates`: lists the likely duplicates of an issue.

use super::{issue_body, refresh};
use crate::args::{DuplicatesArguments, Global};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::duplicates::duplicates;
use crate::session::{Session, setting};
use anyhow::Result;
use tamis::duplicates::DuplicatesRequest;

/// Prints the likely duplicates, or that there are none.
///
/// # Errors
/// A value out of range, an unreadable body, no index, or no issue of that number in it.
pub fn run(arguments: &DuplicatesArguments, global: &Global, output: &Output) -> Result<Exit> {
    let body = issue_body::read(arguments.request.body.as_deref(), arguments.body_file.as_deref())?;
    let request = DuplicatesRequest { body, ..arguments.request.clone() };
    let floor = setting("triage.duplicates.min_likeness", "--threshold", arguments.threshold.as_deref());
    let session = Session::start(global, floor.into_iter().collect())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let found = index.duplicates().find(&request, &())?;
    if let Some(reason) = &found.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.model.as_deref().unwrap_or("words alone")));
    }
    output.answer(arguments.json, &found, output.paged(), |out| duplicates(out, &found))?;
    Ok(Exit::found(!found.duplicates.is_empty()))
}
