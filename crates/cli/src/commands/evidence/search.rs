//! `tamis evidence search`: finds the claims or fragments closest to a text.

use crate::args::{EvidenceSearchArguments, Global};
use crate::commands::refresh;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::evidence::matches;
use crate::session::Session;
use anyhow::Result;
use tamis::evidence::VectorSearchRequest;

/// Prints the matches, or why there are none.
///
/// # Errors
/// A value out of range, an unknown cut, no index, or no vectors.
pub fn run(arguments: &EvidenceSearchArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let query = arguments.words.join(" ");
    let request = VectorSearchRequest { query, entry_point: Some("cli".into()), ..arguments.request.clone() };
    let found = index.evidence().vector_search(&request)?;
    if let Some(reason) = &found.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.model));
    }
    found.warnings.iter().for_each(|warning| output.warn(warning));
    output.answer(arguments.json, &found, output.paged(), |out| matches(out, &found))?;
    Ok(Exit::found(!found.matches.is_empty()))
}
