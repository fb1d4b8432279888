//! `tamis grep`: finds exact text in the files of the index.

use super::refresh;
use crate::args::{Global, GrepArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::tree;
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use std::io::{IsTerminal, Write};
use tamis::Error;
use tamis::tree::GrepRequest;

/// Prints the lines that match.
///
/// # Errors
/// There is no index, a named file is missing, or the pattern is not allowed.
pub fn run(arguments: &GrepArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_or_make(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let directory = WorkingDirectory::of(&index);
    let asked = &arguments.request;
    let listed = !(arguments.files_with_matches || arguments.count);
    let request = GrepRequest {
        paths: scope(&directory, &arguments.files, &asked.paths),
        limit: if listed { asked.limit } else { Some(0) },
        line_chars: Some(4000),
        ..asked.clone()
    };
    let mut found = index.tree().grep(&request, &()).map_err(|error| as_typed(error, &directory, &arguments.files))?;
    let exit = Exit::found(found.files > 0);
    if arguments.json {
        output.json(&found)?;
        return Ok(exit);
    }
    for file in &mut found.results {
        file.path = directory.display_path(&file.namespace, &file.path);
    }
    let mut out = output.paged().verbatim();
    if arguments.files_with_matches {
        tree::paths(&mut out, &found)?;
    } else if arguments.count {
        tree::counts(&mut out, &found)?;
    } else if arguments.vimgrep {
        tree::vimgrep(&mut out, &found)?;
    } else {
        tree::matches(&mut out, &found, std::io::stdout().is_terminal())?;
    }
    out.flush()?;
    output.note(&tree::total(&found));
    found.notes.iter().for_each(|note| output.note(note));
    Ok(exit)
}

/// The paths and globs of a scope. A path counts from the working directory and means itself.
pub(super) fn scope(directory: &WorkingDirectory, paths: &[String], globs: &[String]) -> Vec<String> {
    paths.iter().map(|path| tied(directory, path)).chain(globs.iter().cloned()).collect()
}

/// A path from the working directory as one that begins at the root.
fn tied(directory: &WorkingDirectory, path: &str) -> String {
    match directory.index_glob(path) {
        root if [".", "", "/"].contains(&root.as_str()) => "/*".to_owned(),
        path => format!("/{}", path.trim_start_matches('/')),
    }
}

/// An error about a path, which it names as the user typed it.
fn as_typed(mut error: Error, directory: &WorkingDirectory, paths: &[String]) -> Error {
    if let Error::NotFound { wanted, .. } | Error::LeftOut { wanted, .. } = &mut error
        && let Some(typed) = paths.iter().find(|path| tied(directory, path) == *wanted)
    {
        typed.clone_into(wanted);
    }
    error
}
