//! `tamis import`: what is no file of the tree, listed, brought in and taken out.

mod conversations;
mod evidence;
mod github;
mod issues;
mod run;
mod wiki;

pub use run::run_import;

use crate::args::{Global, ImportArguments, ImportWhat};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::import;
use crate::print::text::label;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use std::io::Write;

/// Imports, lists what was imported, or takes it out.
///
/// # Errors
/// An input cannot be read, the index cannot be written, another process is writing it, or a model fails.
pub fn run(arguments: &ImportArguments, global: &Global, output: &Output) -> Result<Exit> {
    match (&arguments.what, &arguments.remove) {
        (Some(ImportWhat::Issues(issues)), _) => issues::run(issues, global, output),
        (Some(ImportWhat::Wiki(wiki)), _) => wiki::run(wiki, global, output),
        (Some(ImportWhat::Conversations(logs)), _) => conversations::run(logs, global, output),
        (Some(ImportWhat::Evidence(graph)), _) => evidence::run(graph, global, output),
        (Some(ImportWhat::Github(github)), _) => github::run(github, global, output),
        (None, Some(origin)) => remove(origin, arguments, global, output),
        (None, None) => list(arguments, global, output),
    }
}

/// What was imported, by where it came from.
fn list(arguments: &ImportArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let imported = session.open_existing(config)?.imports().list()?;
    if arguments.json {
        output.json(&imported)?;
    } else if imported.is_empty() {
        output.note("nothing was imported yet; `tamis import --help` says what can be");
    } else {
        let mut out = output.styled();
        import::list(&mut out, &imported)?;
        out.flush()?;
    }
    Ok(Exit::found(!imported.is_empty()))
}

/// Names what goes, then takes it out.
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
        output.note("nothing was changed; without --dry-run these are taken out");
        return Ok(Exit::Found);
    }
    interrupt::install()?;
    let removed = index.imports().remove(origin, namespace, &Progress::at_once(output))?;
    if arguments.json {
        output.json(&removed)?;
    } else {
        let mut out = output.styled();
        writeln!(out, "{} is out of the index", label(origin))?;
        out.flush()?;
    }
    Ok(Exit::Found)
}
