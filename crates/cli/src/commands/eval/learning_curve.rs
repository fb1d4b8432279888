//! `tamis eval --judged`: measures how much the cut `auto` learns from judged queries.

use super::{EvalArguments, write_table};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use anyhow::{Result, bail};
use std::io::Write;
use std::path::Path;
use tamis::config::Config;
use tamis::evaluate::{EvaluationError, Learning, LearningCurve, TestCollection, learning_curve, learning_table};

/// Measures and prints the curve of each collection.
///
/// # Errors
/// No collection, an unreadable file, or an index that fails.
pub fn run(arguments: &EvalArguments, config: &Config, cache: &Path, output: &Output) -> Result<Exit> {
    if arguments.directories.is_empty() {
        bail!("--judged needs a collection: tamis eval DIR --judged 0,5,10");
    }
    let mut judged = arguments.judged.clone();
    judged.sort_unstable();
    judged.dedup();
    let learning = Learning {
        judged,
        draws: arguments.draws,
        seed: arguments.seed.unwrap_or_default(),
        own_id: arguments.own_id.clone(),
        limit: arguments.limit_queries,
    };
    interrupt::install()?;
    let mut curves: Vec<LearningCurve> = Vec::with_capacity(arguments.directories.len());
    for directory in &arguments.directories {
        let test = TestCollection::read(directory, &arguments.split)?;
        super::note_own_documents(&test, arguments, output)?;
        let progress = Progress::at_once(output);
        match learning_curve(&test, config, cache, &learning, &progress) {
            Err(error @ EvaluationError::Interrupted) => {
                drop(progress);
                output.note(&error.to_string());
                return Ok(Exit::Interrupted);
            }
            curve => curves.push(curve?),
        }
    }
    if arguments.json {
        output.json(&curves)?;
        return Ok(Exit::Found);
    }
    let table = learning_table(&curves, &learning.judged);
    if arguments.markdown {
        let mut out = output.exact();
        out.write_all(table.markdown().as_bytes())?;
        out.flush()?;
        return Ok(Exit::Found);
    }
    let mut out = output.paged();
    write_table(&mut out, &table)?;
    out.flush()?;
    Ok(Exit::Found)
}
