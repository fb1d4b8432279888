//! `tamis duplicates`: lists the likely duplicates of an issue.

use super::{issue_body, refresh};
use crate::args::{DuplicatesArguments, Global};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::duplicates::duplicates;
use crate::session::{Session, setting};
use anyhow::Result;
use std::io::Write;
use tamis::duplicates::{DuplicateQuestion, DuplicatesRequest};

/// Prints the likely duplicates, or that there are none.
///
/// # Errors
/// A value out of range, an unreadable body, no index, or no issue of that number in it.
pub fn run(arguments: &DuplicatesArguments, global: &Global, output: &Output) -> Result<Exit> {
    let question = match arguments.number {
        Some(number) => DuplicateQuestion::Issue(number),
        None => DuplicateQuestion::Text {
            title: arguments.title.clone().unwrap_or_default(),
            body: issue_body::read(arguments.body.as_deref(), arguments.body_file.as_deref())?,
        },
    };
    let floor = setting("triage.duplicates.min_likeness", "--threshold", arguments.threshold.as_deref());
    let session = Session::start(global, floor.into_iter().collect())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let found = index.duplicates().find(
        &DuplicatesRequest {
            states: arguments.states.clone(),
            namespace: arguments.namespace.clone(),
            ..DuplicatesRequest::new(question)
        },
        &(),
    )?;
    if let Some(reason) = &found.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.model.as_deref().unwrap_or("words alone")));
    }
    if arguments.json {
        output.json(&found)?;
    } else {
        let mut out = output.paged();
        duplicates(&mut out, &found)?;
        out.flush()?;
    }
    Ok(Exit::found(!found.duplicates.is_empty()))
}
