//! `tamis eval --compare`: compares two reports query by query.

use crate::args::EvalArguments;
use crate::exit::Exit;
use crate::output::Output;
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use tamis_eval::{Report, compare};

/// Compares two reports.
///
/// # Errors
/// An unreadable file, or one that does not have this version's report format.
pub fn run(files: &[PathBuf], arguments: &EvalArguments, output: &Output) -> Result<Exit> {
    let [before, after] = files else {
        bail!("--compare takes two files, the report before and the one after");
    };
    let comparison = compare(&read(before)?, &read(after)?);
    if arguments.json {
        output.json(&comparison)?;
    } else {
        let mut out = output.exact();
        out.write_all(comparison.markdown().as_bytes())?;
        out.flush()?;
    }
    Ok(Exit::Found)
}

fn read(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(Report::from_json(&path.to_string_lossy(), &text)?)
}
