//! `tamis evidence rank`: ranks the fragments about a claim.

use crate::args::{EvidenceRankArguments, Global};
use crate::commands::refresh;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::evidence::ranked;
use crate::session::{Session, setting};
use anyhow::Result;
use std::io::Write;
use tamis::evidence::RankRequest;

/// Prints the fragments, and with `--link` stores edges for them.
///
/// # Errors
/// An unknown cut, no index, no claim of that name in it, no vectors, or edges that cannot be stored.
pub fn run(arguments: &EvidenceRankArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = setting("evidence.cut", "--cut", arguments.cut.as_deref());
    let session = Session::start(global, flags.into_iter().collect())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
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
        let mut out = output.paged();
        ranked(&mut out, &found)?;
        out.flush()?;
    }
    Ok(Exit::found(!found.fragments.is_empty()))
}
