//! The body of an issue from a flag, a file or standard input.

use anyhow::{Context, Result};
use std::io::Read;
use std::path::Path;

/// Reads the body; `None` where none is given. Bytes that are not UTF-8 become U+FFFD.
pub fn read(text: Option<&str>, file: Option<&Path>) -> Result<Option<String>> {
    let bytes = match (text, file) {
        (Some(text), _) => return Ok(Some(text.to_owned())),
        (None, None) => return Ok(None),
        (None, Some(file)) if file == Path::new("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).context("standard input: cannot be read")?;
            bytes
        }
        (None, Some(file)) => std::fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?,
    };
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
