//! `tamis evidence search`: the claims or fragments that are like a text.

use crate::args::{EvidenceSearchArguments, Global};
use crate::commands::fresh;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::evidence::matches;
use crate::session::{Session, setting};
use anyhow::{Context, Result};
use std::io::Write;
use tamis::evidence::VectorSearchRequest;

/// Prints what is like the text, or why nothing is.
///
/// # Errors
/// A value out of its range, a cut that is not one, no index, or nothing that has vectors.
pub fn run(arguments: &EvidenceSearchArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = setting("evidence.top_k", "--top-k", arguments.top_k.as_deref());
    let session = Session::start(global, flags.into_iter().collect())?;
    let cut = arguments.cut.as_deref().map(|cut| anyhow::Ok(session.config()?.cut(cut).context("--cut")?));
    let cut = cut.transpose()?;
    let Some(index) = fresh::existing(session, arguments.no_refresh, output)? else { return Ok(Exit::Interrupted) };
    let found = index.evidence().vector_search(&VectorSearchRequest {
        target: arguments.target.parse()?,
        task: arguments.task.clone(),
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
        let mut out = output.styled();
        matches(&mut out, &found)?;
        out.flush()?;
    }
    Ok(Exit::found(!found.matches.is_empty()))
}
