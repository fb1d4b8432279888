//! `tamis files`: finds files of the index by name.

use super::refresh;
use crate::args::{FilesArguments, Global};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::tree;
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use std::io::Write;

/// Prints the paths of the files that a pattern names.
///
/// # Errors
/// There is no index, or a glob is invalid.
pub fn run(arguments: &FilesArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_or_make(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let directory = WorkingDirectory::of(&index);
    let mut found = index.tree().files(&arguments.request)?;
    let exit = Exit::found(found.total > 0);
    if arguments.json {
        output.json(&found)?;
        return Ok(exit);
    }
    for file in &mut found.results {
        file.path = directory.display_path(&file.namespace, &file.path);
    }
    let mut out = output.paged().verbatim();
    tree::files(&mut out, &found, arguments.long)?;
    out.flush()?;
    output.note(&tree::files_total(&found));
    found.notes.iter().filter(|_| found.total == 0 || output.verbose()).for_each(|note| output.note(note));
    Ok(exit)
}
