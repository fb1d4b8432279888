//! `tamis import issues`: files of a tracker.

use super::run::{inputs, run_import};
use crate::args::{Global, ImportIssuesArguments};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use tamis::config::Config;
use tamis::import::IssueImport;

/// Imports the issues of files.
///
/// # Errors
/// A file cannot be read or is in none of the formats, the index cannot be written, or a model fails.
pub fn run(arguments: &ImportIssuesArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let read = |_: &Config| {
        let import = IssueImport::read(&inputs(&arguments.files)?, flags.origin.as_deref())?;
        let namespace = flags.namespace.clone();
        Ok(IssueImport { namespace, skip_bad: flags.skip_bad, dry_run: flags.dry_run, ..import })
    };
    run_import(flags.json, global, output, read, |index, import, progress| index.imports().issues(&import, progress))
}
