//! The steps that every import shares: read the inputs, import them, publish and embed, and report.

use super::super::refresh;
use crate::args::{Global, ImportFlags};
use crate::background;
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

/// The file name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// The name of standard input in messages.
pub const STANDARD_INPUT_NAME: &str = "standard input";

/// Reads the inputs.
pub fn inputs(files: &[PathBuf]) -> Result<Vec<ImportInput>> {
    let input = |file: &PathBuf| match is_standard_input(file)? {
        true => Ok(ImportInput::stream(STANDARD_INPUT_NAME, io::stdin().lock())?),
        false => Ok(ImportInput::file(file)?),
    };
    check_standard_input_once(files)?;
    files.iter().map(input).collect()
}

/// Refuses to read standard input twice.
pub fn check_standard_input_once(files: &[PathBuf]) -> Result<()> {
    let streams = files.iter().filter(|file| file.as_path() == Path::new(STANDARD_INPUT)).count();
    if streams > 1 {
        bail!("`-` is named {streams} times: standard input can be read once");
    }
    Ok(())
}

/// True if the name stands for standard input, which must not be a terminal.
pub fn is_standard_input(file: &Path) -> Result<bool> {
    let named = file == Path::new(STANDARD_INPUT);
    if named && io::stdin().is_terminal() {
        bail!("`-` reads standard input, which is a terminal: pipe something in, or name a file");
    }
    Ok(named)
}

/// The JSON form: what the import did, and the run that published and embedded it.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a ImportSummary,
    /// `None` where nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'a RunReport>,
}

/// The end of an import.
#[derive(Clone, Copy)]
pub struct Ending {
    /// True to report in JSON.
    pub json: bool,
    /// True to embed with every model first, in place of the first one.
    pub wait: bool,
}

impl Ending {
    /// Returns the one that flags ask for.
    pub fn of(flags: &ImportFlags) -> Ending {
        Ending { json: flags.json, wait: flags.wait }
    }
}

/// Imports, publishes, embeds and reports.
pub fn import_and_report<I>(
    ending: Ending,
    global: &Global,
    output: &Output,
    read: impl FnOnce(&Config) -> Result<I>,
    import: impl FnOnce(&Index, I, &Progress) -> Result<ImportSummary, Error>,
) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    // An unreadable input must not leave an empty index behind.
    let inputs = read(&config)?;
    let index = session.open(config)?;
    interrupt::install()?;
    let options = if ending.wait { RunOptions::WHOLE } else { RunOptions::FIRST_MODEL };
    let progress = Progress::at_once(output);
    let summary = import(&index, inputs, &progress)?;
    // An unchanged import is completed too: an earlier one may have been stopped before it was published.
    let completed = match summary.dry_run || summary.interrupted {
        true => None,
        false => Some(index.complete(options, &progress)?),
    };
    progress.clear();
    if ending.json {
        output.json(&Report { summary: &summary, index: completed.as_ref() })?;
    } else {
        let mut out = output.styled();
        import::summary(&mut out, &summary, completed.as_ref(), index.own_namespace())?;
        out.flush()?;
    }
    completed.iter().for_each(|report| refresh::warn_of_models(report, output));
    background::start(&index, completed.as_ref(), output);
    if summary.interrupted {
        output.note("stopped before anything was changed");
        return Ok(Exit::Interrupted);
    }
    if completed.is_some_and(|report| report.interrupted) {
        output.note("stopped; the import is kept, and the next run of `tamis index` embeds the rest");
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Found)
}
