//! `tamis outline`: lists the symbols of a file or directory.

use super::refresh;
use crate::args::{Global, OutlineArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::tree;
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use std::io::Write;
use tamis::tree::OutlineRequest;

/// Prints the symbols with their lines.
///
/// # Errors
/// There is no index, or nothing of that name in it.
pub fn run(arguments: &OutlineArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_or_make(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let directory = WorkingDirectory::of(&index);
    let path = directory.index_glob(&arguments.request.path);
    let mut found = index.tree().outline(&OutlineRequest { path, ..arguments.request.clone() })?;
    let exit = Exit::found(found.symbols > 0);
    if arguments.json {
        output.json(&found)?;
        return Ok(exit);
    }
    for file in &mut found.files {
        file.path = directory.display_path(&file.namespace, &file.path);
    }
    let mut out = output.paged();
    tree::outline(&mut out, &found)?;
    out.flush()?;
    found.notes.iter().for_each(|note| output.note(note));
    Ok(exit)
}
