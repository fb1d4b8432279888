//! `tamis evidence export`: writes all records as JSON Lines.

use crate::args::{EvidenceExportArguments, Global};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::{counted, label};
use crate::session::Session;
use anyhow::Result;
use std::io::Write;

/// Writes the records of a namespace; a file is written whole or not at all.
///
/// # Errors
/// There is no index or no such namespace, or the file cannot be written.
pub fn run(arguments: &EvidenceExportArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let namespace = arguments.namespace.as_deref();
    let Some(file) = &arguments.file else {
        let mut out = output.exact();
        let records = index.evidence().export(namespace, &mut out)?;
        return Ok(Exit::found(records > 0));
    };
    let records = index.evidence().export_to(namespace, file)?;
    let mut out = output.plain();
    writeln!(out, "{} in {}", counted(records, "record"), label(&file.to_string_lossy()))?;
    out.flush()?;
    Ok(Exit::found(records > 0))
}
