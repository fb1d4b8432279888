//! `tamis related`: shows passages like a result, what it uses, and what uses it.

use super::refresh;
use crate::args::{Global, RelatedArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::related::related;
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use std::io::Write;
use tamis::related::RelatedRequest;
use tamis::search::SearchCaller;

/// Prints everything related to one passage.
///
/// # Errors
/// There is no index, or nothing of that name in it.
pub fn run(arguments: &RelatedArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let directory = WorkingDirectory::of(&index);
    let id = directory.index_path(&arguments.request.id);
    let mut found = index.related().find(&RelatedRequest { id, ..arguments.request.clone() }, &())?;
    index.feedback().opened(&found, &SearchCaller::command_line(), "cli related");
    let exit = Exit::found(!found.is_empty());
    if arguments.json {
        output.json(&found)?;
        return Ok(exit);
    }
    let places = std::iter::once(&mut found.passage)
        .chain(found.similar.iter_mut().map(|one| &mut one.passage))
        .chain(found.references.iter_mut().flat_map(|one| &mut one.definitions))
        .chain(found.referenced_by.iter_mut().map(|one| &mut one.passage));
    for place in places {
        place.path = directory.display_path(&place.namespace, &place.path);
    }
    let mut out = output.paged();
    related(&mut out, &found)?;
    out.flush()?;
    for note in &found.notes {
        output.note(note);
    }
    Ok(exit)
}
