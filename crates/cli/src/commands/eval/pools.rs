//! `tamis eval --pools`: writes the candidates of judged queries, for fitting a cut elsewhere.

use super::EvalArguments;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::text::counted;
use crate::progress::Progress;
use anyhow::Result;
use std::path::Path;
use tamis::config::Config;
use tamis::evaluate::{EvaluationError, TestCollection, pools};
use tamis_eval::{Forecast, Platt};

/// Writes one line a query to `file`, collection after collection.
///
/// # Errors
/// An unreadable or unwritable file, or an index that fails.
pub fn run(file: &Path, arguments: &EvalArguments, config: &Config, cache: &Path, output: &Output) -> Result<Exit> {
    interrupt::install()?;
    let (mut lines, mut forecasts) = (Vec::new(), Vec::new());
    for directory in &arguments.directories {
        let test = TestCollection::from_directory(directory, &arguments.queries.split)?;
        super::note_own_documents(&test, arguments, output)?;
        let progress = Progress::at_once(output);
        let own_id = arguments.queries.own_id.as_ref();
        let found = pools(&test, config, cache, own_id, arguments.queries.limit_queries, &progress);
        drop(progress);
        let records = match found {
            Err(error @ EvaluationError::Interrupted) => {
                output.note(&error.to_string());
                return Ok(Exit::Interrupted);
            }
            records => records?,
        };
        for record in &records {
            let judged = record.candidates.iter().filter_map(|found| Some((found.judged?, found.grade > 0)));
            forecasts.extend(judged);
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        output.note(&format!("{}: {} queries", test.name, records.len()));
    }
    tamis::file::write_bytes(file, &lines)?;
    if arguments.search.judge {
        output.note(&calibration(&forecasts, config));
    }
    output.note(&format!("wrote {}", file.display()));
    Ok(Exit::Found)
}

/// The settings that make the reranker's probabilities hold for these queries.
fn calibration(forecasts: &[Forecast], config: &Config) -> String {
    let read = counted(forecasts.len() as u64, "passage");
    match Platt::fit(forecasts) {
        None => format!("the reranker read {read}; a calibration needs relevant ones and others"),
        Some(_) if config.rerank.slope.is_some() || config.rerank.offset.is_some() => {
            format!("the reranker read {read}; to calibrate it, leave rerank.slope and rerank.offset at auto")
        }
        // The least slope that the setting takes.
        Some(Platt { slope, .. }) if slope < 0.01 => {
            format!("the reranker read {read}; its order contradicts the judgements, so no calibration helps")
        }
        Some(Platt { slope, offset }) => {
            format!("the reranker read {read}; rerank.slope = {slope:.2}, rerank.offset = {offset:.2}")
        }
    }
}
