//! `tamis import`: imports content that isn't a file, lists the imports, and removes them.

mod conversations;
mod evidence;
mod github;
mod import_and_report;
mod issues;
mod wiki;

pub use import_and_report::{Ending, import_and_report};

use crate::args::{Global, ImportArguments, ImportSource};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::import;
use crate::print::text::label;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use std::io::Write;

/// Imports, lists the imports, or removes one.
///
/// # Errors
/// An unreadable input, an index that cannot be written or that another process is writing, or a model that fails.
pub fn run(arguments: &ImportArguments, global: &Global, output: &Output) -> Result<Exit> {
    match (&arguments.source, &arguments.remove) {
        (Some(ImportSource::Issues(issues)), _) => issues::run(issues, global, output),
        (Some(ImportSource::Wiki(wiki)), _) => wiki::run(wiki, global, output),
        (Some(ImportSource::Conversations(logs)), _) => conversations::run(logs, global, output),
        (Some(ImportSource::Evidence(graph)), _) => evidence::run(graph, global, output),
        (Some(ImportSource::Github(github)), _) => github::run(github, global, output),
        (None, Some(origin)) => remove(origin, arguments, global, output),
        (None, None) => list(arguments, global, output),
    }
}

/// Lists the imports by origin.
fn list(arguments: &ImportArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let imported = session.open_existing(config)?.imports().list()?;
    if arguments.json {
        output.json(&imported)?;
    } else if imported.is_empty() {
        output.note("nothing has been imported yet; `tamis import --help` lists the sources");
    } else {
        let mut out = output.paged();
        import::list(&mut out, &imported)?;
        out.flush()?;
    }
    Ok(Exit::found(!imported.is_empty()))
}

/// Shows what will be removed, then removes it.
fn remove(origin: &str, arguments: &ImportArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let namespace = arguments.namespace.as_deref();
    let found = index.imports().list_from(origin, namespace)?;
    if !arguments.json {
        let mut out = output.styled();
        import::list(&mut out, &found)?;
        out.flush()?;
    }
    if arguments.dry_run {
        if arguments.json {
            output.json(&found)?;
        }
        output.note("nothing was changed; without --dry-run these are removed");
        return Ok(Exit::Found);
    }
    interrupt::install()?;
    let removed = index.imports().remove(origin, namespace, &Progress::at_once(output))?;
    if arguments.json {
        output.json(&removed)?;
    } else {
        let mut out = output.styled();
        writeln!(out, "removed {} from the index", label(origin))?;
        out.flush()?;
    }
    Ok(Exit::Found)
}
