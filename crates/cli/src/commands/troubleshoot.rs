//! `tamis troubleshoot`: finds similar problems that were already solved.

use super::{issue_body, refresh};
use crate::args::{Global, TroubleshootArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::troubleshoot::troubleshooting;
use crate::session::{Session, setting};
use anyhow::Result;
use std::io::Write;
use tamis::troubleshoot::TroubleshootRequest;

/// Prints the solved problems, or that there are none.
///
/// # Errors
/// A value out of range, an unreadable body, no index, or no issue of that number in it.
pub fn run(arguments: &TroubleshootArguments, global: &Global, output: &Output) -> Result<Exit> {
    let body = issue_body::read(arguments.request.body.as_deref(), arguments.body_file.as_deref())?;
    let request = TroubleshootRequest { body, ..arguments.request.clone() };
    let keep_by = setting("triage.troubleshooting.keep_by", "--keep-by", arguments.keep_by.as_deref());
    let session = Session::start(global, keep_by.into_iter().collect())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let found = index.troubleshooting().answer(&request, &())?;
    if let Some(reason) = &found.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.model.as_deref().unwrap_or("words alone")));
    }
    found.warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&found)?;
    } else if arguments.markdown {
        let mut out = output.exact();
        out.write_all(found.markdown().as_bytes())?;
        out.flush()?;
        if found.is_empty() {
            output.note(&found.reason);
        }
    } else {
        let mut out = output.paged();
        troubleshooting(&mut out, &found)?;
        out.flush()?;
    }
    Ok(Exit::found(!found.is_empty()))
}
