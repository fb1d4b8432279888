//! `tamis import evidence`: imports claims, and the evidence for and against them.

use super::import_and_report::{Ending, import_and_report, inputs};
use crate::args::{Global, ImportEvidenceArguments};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use tamis::config::Config;
use tamis::evidence::EvidenceImport;

/// Imports the records of files.
///
/// # Errors
/// An unreadable file, a malformed line or one that refers to a missing record, an index that cannot be written, or a model
/// that fails.
pub fn run(arguments: &ImportEvidenceArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let read = |_: &Config| {
        let import = EvidenceImport::read(&inputs(&arguments.files)?, flags.origin.as_deref());
        let namespace = flags.namespace.clone();
        Ok(EvidenceImport { namespace, skip_bad: flags.skip_bad, dry_run: flags.dry_run, ..import })
    };
    import_and_report(Ending::of(flags), global, output, read, |index, import, progress| {
        index.evidence().import(&import, progress)
    })
}
