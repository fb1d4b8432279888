//! What every import does: read what is named, import it, publish and embed it, and say what was done.

use super::super::fresh;
use crate::args::Global;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::import;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, bail};
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use tamis::config::Config;
use tamis::import::{ImportInput, ImportSummary};
use tamis::{Error, Index, RunOptions, RunReport};

/// The name by which standard input is asked for.
const STANDARD_INPUT: &str = "-";

/// What standard input is called in messages.
pub const STANDARD_INPUT_NAME: &str = "standard input";

/// Reads what was named, each once.
pub fn inputs(files: &[PathBuf]) -> Result<Vec<ImportInput>> {
    let input = |file: &PathBuf| match is_standard_input(file)? {
        true => Ok(ImportInput::stream(STANDARD_INPUT_NAME, io::stdin().lock())?),
        false => Ok(ImportInput::file(file)?),
    };
    once(files)?;
    files.iter().map(input).collect()
}

/// Refuses to read standard input twice.
pub fn once(files: &[PathBuf]) -> Result<()> {
    let streams = files.iter().filter(|file| file.as_path() == Path::new(STANDARD_INPUT)).count();
    if streams > 1 {
        bail!("`-` is named {streams} times: standard input can be read once");
    }
    Ok(())
}

/// Whether standard input is named, and there is something to be read.
pub fn is_standard_input(file: &Path) -> Result<bool> {
    let named = file == Path::new(STANDARD_INPUT);
    if named && io::stdin().is_terminal() {
        bail!("`-` reads standard input, which is a terminal: pipe something in, or name a file");
    }
    Ok(named)
}

/// What is printed as JSON: what the import did, and the run that published and embedded it.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a ImportSummary,
    /// None where nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'a RunReport>,
}

/// Imports, publishes and embeds, and says what was done.
pub fn run_import<I>(
    json: bool,
    global: &Global,
    output: &Output,
    read: impl FnOnce(&Config) -> Result<I>,
    import: impl FnOnce(&Index, I, &Progress) -> Result<ImportSummary, Error>,
) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    // What cannot be read makes no index.
    let given = read(&config)?;
    let index = session.open(config)?;
    interrupt::install()?;
    let progress = Progress::at_once(output);
    let summary = import(&index, given, &progress)?;
    // Also when nothing changed: an earlier import may have been stopped before it was published.
    let completed = match summary.dry_run || summary.interrupted {
        true => None,
        false => Some(index.complete(RunOptions::WHOLE, &progress)?),
    };
    progress.clear();
    if json {
        output.json(&Report { summary: &summary, index: completed.as_ref() })?;
    } else {
        let mut out = output.styled();
        import::summary(&mut out, &summary, completed.as_ref(), index.own_namespace())?;
        out.flush()?;
    }
    completed.iter().for_each(|report| fresh::unusable(report, output));
    if summary.interrupted {
        output.note("stopped before anything was changed");
        return Ok(Exit::Interrupted);
    }
    if completed.is_some_and(|report| report.interrupted) {
        output.note("stopped; what was imported is kept, and the next run of `tamis index` embeds the rest");
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Found)
}
