//! `tamis eval --pools`: writes the candidates of judged queries, for fitting a cut elsewhere.

use crate::args::EvalArguments;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use anyhow::Result;
use std::path::Path;
use tamis::config::Config;
use tamis::evaluate::{EvaluationError, TestCollection, pools};

/// Writes one line a query to `file`, collection after collection.
///
/// # Errors
/// An unreadable or unwritable file, or an index that fails.
pub fn run(file: &Path, arguments: &EvalArguments, config: &Config, cache: &Path, output: &Output) -> Result<Exit> {
    interrupt::install()?;
    let mut lines = Vec::new();
    for directory in &arguments.directories {
        let test = TestCollection::read(directory, &arguments.split)?;
        super::note_own_documents(&test, arguments, output)?;
        let progress = Progress::at_once(output);
        let own_id = arguments.own_id.as_ref();
        let found = pools(&test, config, cache, own_id, arguments.limit_queries, &progress);
        drop(progress);
        let records = match found {
            Err(error @ EvaluationError::Interrupted) => {
                output.note(&error.to_string());
                return Ok(Exit::Interrupted);
            }
            records => records?,
        };
        for record in &records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        output.note(&format!("{}: {} queries", test.name, records.len()));
    }
    tamis::file::write_bytes(file, &lines)?;
    output.note(&format!("wrote {}", file.display()));
    Ok(Exit::Found)
}
