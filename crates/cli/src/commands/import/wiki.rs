//! `tamis import wiki`: imports the pages of MediaWiki dumps.

use super::import_and_report::{
    Ending, STANDARD_INPUT_NAME, check_standard_input_once, import_and_report, is_standard_input,
};
use crate::args::{Global, ImportWikiArguments};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use std::io;
use tamis::config::Config;
use tamis::import::PageImport;
use tamis_text::WikiDumpOptions;

/// Imports the pages of dumps.
///
/// # Errors
/// A file is unreadable or not a dump, the index cannot be written, or a model fails.
pub fn run(arguments: &ImportWikiArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let options = WikiDumpOptions { namespaces: arguments.pages_of.clone() };
    let read = |_: &Config| {
        check_standard_input_once(&arguments.files)?;
        let mut import = PageImport {
            namespace: flags.namespace.clone(),
            skip_bad: flags.skip_bad,
            dry_run: flags.dry_run,
            ..PageImport::default()
        };
        for file in &arguments.files {
            let origin = flags.origin.as_deref();
            match is_standard_input(file)? {
                true => import.read(STANDARD_INPUT_NAME, io::stdin().lock(), origin, &options)?,
                false => import.read_file(file, origin, &options)?,
            }
        }
        Ok(import)
    };
    import_and_report(Ending::of(flags), global, output, read, |index, import, progress| {
        index.imports().pages(import, progress)
    })
}
