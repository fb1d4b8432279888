//! What the commands on issues have in common: a body from a flag, a file or standard input, and an index brought up to date.

use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Context, Result};
use std::io::Read;
use std::path::Path;
use tamis::Index;

/// The body as it is given; empty where none is. Bytes that are no UTF-8 become U+FFFD.
pub fn body(text: Option<&str>, file: Option<&Path>) -> Result<String> {
    let bytes = match (text, file) {
        (Some(text), _) => return Ok(text.to_owned()),
        (None, None) => return Ok(String::new()),
        (None, Some(file)) if file == Path::new("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).context("standard input: cannot be read")?;
            bytes
        }
        (None, Some(file)) => std::fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The index that is there, brought up to date first unless that is not wanted.
pub fn refreshed(session: Session, no_refresh: bool, output: &Output) -> Result<Index> {
    let config = session.config()?;
    let refreshes = config.search.refresh && !no_refresh;
    let index = session.open_existing(config)?;
    if refreshes {
        let progress = Progress::when_slow(output);
        let freshness = index.refresh_for_search(&progress)?;
        if let Some(reason) = freshness.reason {
            output.warn(&format!("the index is used as it is: {reason}"));
        }
    }
    Ok(index)
}
