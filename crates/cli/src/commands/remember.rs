//! `tamis remember`: adds a note, which searches find at once.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::{label, line_range};
use crate::progress::Progress;
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::{Context, Result};
use clap::Args;
use std::io::{self, Read, Write};
use tamis::memory::RememberRequest;

/// Flags of `tamis remember`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis remember \"backups go to the second site at night\"
  tamis remember --topic backups \"they are kept for a year\"
  tamis remember --file MEMORY.md \"the staging database is called heron\"
  git log -1 --format=%B | tamis remember -

The note and its time go to memory/YYYY-MM-DD.md in the root, and searches find it at once. The files are yours to edit.")]
pub struct RememberArguments {
    /// Text of the note; - reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub request: RememberRequest,
    /// Print its place as JSON
    #[arg(long)]
    pub json: bool,
}

/// The most that is read from standard input, whatever the setting allows.
const MOST_BYTES: u64 = 8 << 20;

/// Adds a note and prints its place.
///
/// # Errors
/// A text, topic or file that is not allowed, several namespaces and none named, or a file or an index that cannot be
/// written.
pub fn run(arguments: &RememberArguments, global: &Global, output: &Output) -> Result<Exit> {
    let text = match arguments.words.as_slice() {
        [only] if only == "-" => standard_input()?,
        words => words.join(" "),
    };
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open(config)?;
    let directory = WorkingDirectory::from_index(&index);
    let asked = &arguments.request;
    let file =
        asked.file.as_ref().map(|file| if index.is_of_one_tree() { directory.index_path(file) } else { file.clone() });
    let request = RememberRequest { text, file, ..asked.clone() };
    let remembered = index.notes().remember(&request, &Progress::when_slow(output))?;
    if let Some(reason) = &remembered.not_indexed {
        output.warn(&format!("written, but searches find it only after the next run that can index it: {reason}"));
    }
    if arguments.json {
        output.json(&remembered)?;
        return Ok(Exit::Found);
    }
    let path = directory.display_path(&remembered.namespace, &remembered.path);
    let mut out = output.plain();
    writeln!(out, "{}:{}", label(&path), line_range(remembered.start_line, remembered.end_line))?;
    out.flush()?;
    Ok(Exit::Found)
}

fn standard_input() -> Result<String> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes).context("standard input cannot be read")?;
    String::from_utf8(bytes).context("standard input is not UTF-8")
}
