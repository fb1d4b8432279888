//! `tamis evidence search`: finds the claims or fragments closest to a text.

use crate::args::{EvidenceSearchArguments, Global};
use crate::commands::refresh;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::evidence::matches;
use crate::session::Session;
use anyhow::{Context, Result};
use std::io::Write;
use tamis::evidence::VectorSearchRequest;

/// Prints the matches, or why there are none.
///
/// # Errors
/// A value out of range, an unknown cut, no index, or no vectors.
pub fn run(arguments: &EvidenceSearchArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let cut = arguments.cut.as_deref().map(|cut| anyhow::Ok(session.config()?.cut(cut).context("--cut")?));
    let cut = cut.transpose()?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let found = index.evidence().vector_search(&VectorSearchRequest {
        target: arguments.target.parse()?,
        task: arguments.task.clone(),
        top_k: arguments.top_k,
        min_similarity: arguments.min_similarity,
        cut,
        namespace: arguments.namespace.clone(),
        entry_point: Some("cli".into()),
        ..VectorSearchRequest::new(arguments.query.join(" "))
    })?;
    if let Some(reason) = &found.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.model));
    }
    found.warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&found)?;
    } else {
        let mut out = output.paged();
        matches(&mut out, &found)?;
        out.flush()?;
    }
    Ok(Exit::found(!found.matches.is_empty()))
}
