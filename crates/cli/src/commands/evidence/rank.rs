//! `tamis evidence rank`: ranks the fragments about a claim.

use crate::args::{EvidenceRankArguments, Global};
use crate::commands::refresh;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::evidence::ranked;
use crate::session::Session;
use anyhow::Result;
use tamis::evidence::RankRequest;

/// Prints the fragments, and with `--link` stores edges for them.
///
/// # Errors
/// An unknown cut, no index, no claim of that name in it, no vectors, or edges that cannot be stored.
pub fn run(arguments: &EvidenceRankArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let request = RankRequest { entry_point: Some("cli".into()), ..arguments.request.clone() };
    let found = index.evidence().rank(&request)?;
    if let Some(reason) = &found.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.model));
    }
    found.warnings.iter().for_each(|warning| output.warn(warning));
    output.answer(arguments.json, &found, output.paged(), |out| ranked(out, &found))?;
    Ok(Exit::found(!found.fragments.is_empty()))
}
