//! `tamis calibrate`: similarity thresholds by language.

use crate::args::{CalibrateArguments, Global};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::calibrate::calibrated;
use crate::print::text::counted;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};
use tamis::Index;
use tamis::calibrate::CalibrateRequest;

/// Measures thresholds and writes them, or deletes them.
///
/// # Errors
/// No symbol has a vector of the model, the model is unknown, or the index cannot be read or written.
pub fn run(arguments: &CalibrateArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    if !session.has_index(&config) {
        // Nothing to calibrate is not a failure, and no reason to make an index.
        if arguments.json {
            output.json(&json!({ "languages": [] }))?;
        }
        output.note("no symbols to calibrate: nothing is indexed here yet; run `tamis index` first");
        return Ok(Exit::Found);
    }
    let index = session.open(config)?;
    if arguments.clear {
        return clear(&index, arguments, output);
    }
    let mut request = CalibrateRequest {
        method: arguments.method.parse().unwrap_or_default(),
        seed: arguments.seed,
        force: arguments.force,
        dry_run: !arguments.write,
        languages: arguments.languages.clone(),
        model: arguments.model.clone(),
    };
    interrupt::install()?;
    let measured = |request: &CalibrateRequest| index.calibration().run(request, &Progress::when_slow(output));
    let mut report = measured(&request)?;
    let calibrates = report.languages.iter().any(|language| language.measured.is_some());
    if request.dry_run && calibrates && !(report.interrupted || arguments.dry_run || arguments.json) {
        let mut out = output.styled();
        calibrated(&mut out, &report)?;
        out.flush()?;
        drop(out);
        if !agrees()? {
            output.note("nothing was written; `tamis calibrate --write` writes the thresholds");
            return Ok(Exit::Found);
        }
        request.dry_run = false;
        report = measured(&request)?;
    }
    report.warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&report)?;
    }
    if report.interrupted {
        output.note("stopped; nothing was written");
        return Ok(Exit::Interrupted);
    }
    if report.languages.is_empty() {
        output.note("no symbols to calibrate");
    } else if !arguments.json {
        let mut out = output.styled();
        calibrated(&mut out, &report)?;
        out.flush()?;
    }
    Ok(Exit::Found)
}

fn clear(index: &Index, arguments: &CalibrateArguments, output: &Output) -> Result<Exit> {
    let (cleared, warnings) = index.calibration().clear()?;
    warnings.iter().for_each(|warning| output.warn(warning));
    if arguments.json {
        output.json(&json!({ "cleared": cleared }))?;
    } else {
        output.note(&format!("deleted {}", counted(cleared, "calibrated threshold")));
    }
    Ok(Exit::Found)
}

/// Asks if the thresholds should be written. Without a terminal they are not.
fn agrees() -> Result<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(false);
    }
    let mut terminal = io::stderr().lock();
    write!(terminal, "Write the thresholds? [y/N] ")?;
    terminal.flush()?;
    drop(terminal);
    let mut said = String::new();
    io::stdin().lock().read_line(&mut said)?;
    Ok(matches!(said.trim().to_lowercase().as_str(), "y" | "yes"))
}
