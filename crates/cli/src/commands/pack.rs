//! `tamis pack`: the relevant results as one text for a prompt.

use super::refresh;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::{count, visible};
use crate::session::Session;
use crate::working_directory::WorkingDirectory;
use anyhow::Result;
use clap::Args;
use std::io::{IsTerminal, Write};
use tamis::pack::PackRequest;
use tamis::search::{Asker, SearchCaller};

/// Flags of `tamis pack`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis pack \"how are retries scheduled\" --budget-tokens 4000 | pbcopy
  tamis pack session expiry --lang rust --path 'src/**'

Prints the relevant results of a search in reading order, each section under its location, without repetition. The last line names what \
did not fit.

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct PackArguments {
    /// A question, or some words
    #[arg(required = true, value_name = "QUERY")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub request: PackRequest,
    /// Print the text, its sections and what was left out as JSON
    #[arg(long)]
    pub json: bool,
    /// Use the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Prints the text.
///
/// # Errors
/// A flag that is not allowed, no index to search, or an index or model that fails.
pub fn run(arguments: &PackArguments, global: &Global, output: &Output) -> Result<Exit> {
    let mut request = PackRequest {
        query: arguments.words.join(" "),
        asker: Asker::at("cli").called_by(SearchCaller::command_line()),
        ..arguments.request.clone()
    };
    // A question that cannot be asked must not cost a run.
    let namespaces = request.search()?.filters.named_namespaces();
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_or_make(session, arguments.no_refresh, &namespaces, output)? else {
        return Ok(Exit::Interrupted);
    };
    let directory = WorkingDirectory::from_index(&index);
    for path in &mut request.paths {
        *path = directory.index_glob(path);
    }
    let pack = index.pack(&request)?;
    let exit = Exit::found(!pack.sections.is_empty());
    pack.warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&pack)?;
        return Ok(exit);
    }
    if std::io::stdout().is_terminal() {
        let mut out = output.paged().verbatim();
        write!(out, "{}", visible(&pack.text))?;
        out.flush()?;
    } else {
        let mut out = output.plain();
        write!(out, "{}", pack.text)?;
        out.flush()?;
    }
    let query = pack.query_id.map(|id| format!(" [query {id}]")).unwrap_or_default();
    output.note(&format!("about {} tokens{query}", count(pack.tokens as u64)));
    Ok(exit)
}
