//! `tamis evidence rank`: the fragments that have to do with a claim.

use crate::args::{EvidenceRankArguments, Global};
use crate::commands::fresh;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::evidence::ranked;
use crate::session::{Session, setting};
use anyhow::Result;
use std::io::Write;
use tamis::evidence::RankRequest;

/// Prints the fragments, and stores edges for them where that is asked for.
///
/// # Errors
/// A cut that is not one, no index, no claim of that name in it, nothing that has vectors, or edges that cannot be stored.
pub fn run(arguments: &EvidenceRankArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = setting("evidence.cut", "--cut", arguments.cut.as_deref());
    let session = Session::start(global, flags.into_iter().collect())?;
    let Some(index) = fresh::existing(session, arguments.no_refresh, output)? else { return Ok(Exit::Interrupted) };
    let found = index.evidence().rank(&RankRequest {
        tasks: arguments.tasks.clone(),
        limit: arguments.limit,
        link: arguments.link,
        namespace: arguments.namespace.clone(),
        entry_point: Some("cli".into()),
        ..RankRequest::new(&arguments.claim)
    })?;
    if let Some(reason) = &found.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.model));
    }
    found.warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&found)?;
    } else {
        let mut out = output.styled();
        ranked(&mut out, &found)?;
        out.flush()?;
    }
    Ok(Exit::found(!found.fragments.is_empty()))
}
