//! `tamis feedback`: records judgements of answers.

use crate::args::{FeedbackArguments, Global};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::feedback;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;
use tamis::Index;
use tamis::evaluate::EvaluationError;
use tamis::feedback::Label;

/// Records judgements, or lists, imports or deletes them.
///
/// # Errors
/// There is no index, no such search or passage, an unreadable file, or the log cannot be written.
pub fn run(arguments: &FeedbackArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    if arguments.list {
        return list(&index, arguments, output);
    }
    if let Some(directory) = &arguments.import {
        return import(&index, directory, arguments, output);
    }
    if let Some(query_id) = &arguments.forget {
        index.feedback().forget(query_id)?;
        output.note(&format!("deleted search {query_id} and its judgements"));
        return Ok(Exit::Found);
    }
    let relevance = if arguments.relevant { Label::Relevant } else { Label::NotRelevant };
    let passages: Vec<&str> = arguments.passages.iter().map(String::as_str).collect();
    let judged = index.feedback().judge(arguments.query_id.as_deref().unwrap_or_default(), &passages, relevance)?;
    output.answer(arguments.json, &judged, output.styled(), |out| feedback::judged(out, &judged))?;
    Ok(Exit::Found)
}

fn list(index: &Index, arguments: &FeedbackArguments, output: &Output) -> Result<Exit> {
    let searches = index.feedback().searches(arguments.limit)?;
    if arguments.json {
        output.json(&searches)?;
    } else if searches.is_empty() {
        let reason = match index.config().telemetry.record {
            true => "no search is recorded yet",
            false => "no search is recorded: telemetry is off",
        };
        output.note(reason);
    } else {
        let mut out = output.paged();
        feedback::searches(&mut out, &searches, SystemTime::now())?;
        out.flush()?;
    }
    Ok(Exit::found(!searches.is_empty()))
}

fn import(index: &Index, directory: &Path, arguments: &FeedbackArguments, output: &Output) -> Result<Exit> {
    interrupt::install()?;
    let progress = Progress::when_slow(output);
    let imported = index.feedback().import(directory, &arguments.split, &progress);
    drop(progress);
    let report = match imported {
        Err(EvaluationError::Interrupted) => {
            output.note("stopped; the judgements so far are kept, and importing again replaces them");
            return Ok(Exit::Interrupted);
        }
        report => report?,
    };
    report.notes.iter().for_each(|note| output.warn(note));
    output.answer(arguments.json, &report, output.styled(), |out| feedback::imported(out, &report))?;
    Ok(Exit::Found)
}
