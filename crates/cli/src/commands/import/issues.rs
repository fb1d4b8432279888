//! `tamis import issues`: imports files of a tracker.

use super::import_and_report::{Ending, import_and_report, inputs};
use crate::args::{Global, ImportIssuesArguments};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use tamis::config::Config;
use tamis::import::IssueImport;

/// Imports the issues of files.
///
/// # Errors
/// A file is unreadable or in an unknown format, the index cannot be written, or a model fails.
pub fn run(arguments: &ImportIssuesArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let read = |_: &Config| {
        let import = IssueImport::read(&inputs(&arguments.files)?, flags.origin.as_deref())?;
        let namespace = flags.namespace.clone();
        Ok(IssueImport { namespace, skip_bad: flags.skip_bad, dry_run: flags.dry_run, ..import })
    };
    import_and_report(Ending::of(flags), global, output, read, |index, import, progress| {
        index.imports().issues(&import, progress)
    })
}
