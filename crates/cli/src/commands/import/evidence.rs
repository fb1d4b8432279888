//! `tamis import evidence`: claims and what speaks for and against them.

use super::run::{inputs, run_import};
use crate::args::{Global, ImportEvidenceArguments};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use tamis::config::Config;
use tamis::evidence::EvidenceImport;

/// Imports the records of files.
///
/// # Errors
/// A file cannot be read, a line is no record or refers to what is not there, the index cannot be written, or a model fails.
pub fn run(arguments: &ImportEvidenceArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let read = |_: &Config| {
        let import = EvidenceImport::read(&inputs(&arguments.files)?, flags.origin.as_deref());
        let namespace = flags.namespace.clone();
        Ok(EvidenceImport { namespace, skip_bad: flags.skip_bad, dry_run: flags.dry_run, ..import })
    };
    run_import(flags.json, global, output, read, |index, import, progress| index.evidence().import(&import, progress))
}
