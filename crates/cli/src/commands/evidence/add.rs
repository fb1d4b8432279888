//! `tamis evidence add`: one record.

use crate::args::{EvidenceAddArguments, Global};
use crate::commands::import::run_import;
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use tamis::evidence::EvidenceImport;

/// Adds a record, or replaces it, and has it found at once: an import of one.
///
/// # Errors
/// A value that is not allowed, a record that refers to what is not there, an index that cannot be written, or a model that
/// fails.
pub fn run(arguments: &EvidenceAddArguments, global: &Global, output: &Output) -> Result<Exit> {
    let import = EvidenceImport {
        namespace: arguments.namespace.clone(),
        ..EvidenceImport::new(arguments.origin.as_str(), [arguments.record.record()])
    };
    run_import(
        arguments.json,
        global,
        output,
        |_| Ok(import),
        |index, import, progress| index.evidence().import(&import, progress),
    )
}
