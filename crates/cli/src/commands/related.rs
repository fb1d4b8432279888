//! `tamis related`: what is like a result, what it uses, what uses it.

use super::fresh;
use crate::args::{Global, RelatedArguments};
use crate::exit::Exit;
use crate::here::Here;
use crate::output::Output;
use crate::print::related::related;
use crate::session::Session;
use anyhow::Result;
use std::io::Write;
use tamis::related::RelatedRequest;

/// Prints what is related to the passage that an identifier or a place names.
///
/// # Errors
/// There is no index, or nothing of that name in it.
pub fn run(arguments: &RelatedArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = fresh::existing(session, arguments.no_refresh, output)? else { return Ok(Exit::Interrupted) };
    let here = Here::of(&index);
    let mut found = index.related().find(&RelatedRequest {
        by: arguments.by.as_deref().map(str::parse).transpose()?,
        limit: arguments.limit,
        metadata: arguments.metadata.filter(),
        ..RelatedRequest::new(here.meant(&arguments.wanted))
    })?;
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
        place.path = here.written(&place.namespace, &place.path);
    }
    let mut out = output.styled();
    related(&mut out, &found)?;
    out.flush()?;
    for note in &found.notes {
        output.note(note);
    }
    Ok(exit)
}
