//! `tamis get`: the text of a result.

use crate::args::{GetArguments, Global};
use crate::exit::Exit;
use crate::here::Here;
use crate::output::Output;
use crate::session::Session;
use anyhow::Result;
use std::io::Write;

/// Prints the text that a path, lines or an identifier name.
///
/// # Errors
/// There is no index, or nothing of that name in it.
pub fn run(arguments: &GetArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let wanted = Here::of(&index).meant(&arguments.wanted);
    let excerpt = index.get(&wanted)?;
    if arguments.json {
        output.json(&excerpt)?;
        return Ok(Exit::Found);
    }
    // A program gets the text as it is; a terminal is not to be steered by it.
    let mut out = output.exact();
    out.write_all(excerpt.text.as_bytes())?;
    if !excerpt.text.ends_with('\n') {
        writeln!(out)?;
    }
    out.flush()?;
    Ok(Exit::Found)
}
