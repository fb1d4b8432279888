//! `tamis get`: prints the text of a result.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::visible;
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use clap::Args;
use std::io::{IsTerminal, Write};
use tamis::GetRequest;
use tamis::search::SearchCaller;

/// Flags of `tamis get`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis get src/lock.rs            the whole file, as indexed
  tamis get src/lock.rs:10-40      some of its lines
  tamis get src/lock.rs:40 --context 10
  tamis get 3f9a1c                 a passage, by its id or the beginning of it
  tamis get '#233'                 an imported issue, by its number; 233 alone works too")]
pub struct GetArguments {
    #[command(flatten)]
    pub request: GetRequest,
    /// Print the text and its place as JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints the text that a path, lines or an identifier names.
///
/// # Errors
/// There is no index, or nothing of that name in it.
pub fn run(arguments: &GetArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let id = WorkingDirectory::from_index(&index).index_path(&arguments.request.id);
    let excerpt = index.read(&GetRequest { id, ..arguments.request.clone() })?;
    index.feedback().opened(&excerpt, &SearchCaller::command_line(), "cli get");
    if arguments.json {
        output.json(&excerpt)?;
        return Ok(Exit::Found);
    }
    let end = if excerpt.text.ends_with('\n') { "" } else { "\n" };
    if std::io::stdout().is_terminal() {
        // The text must not control the terminal.
        let mut out = output.paged().verbatim();
        write!(out, "{}{end}", visible(&excerpt.text))?;
        out.flush()?;
    } else {
        let mut out = output.exact();
        write!(out, "{}{end}", excerpt.text)?;
        out.flush()?;
    }
    Ok(Exit::Found)
}
