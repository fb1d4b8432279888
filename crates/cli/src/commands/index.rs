//! `tamis index`: brings the index up to date, once or after every change.

use super::refresh;
use crate::args::{Global, IndexArguments};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::report;
use crate::print::text::{counted, label};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use std::io::Write;
use tamis::index::watch;
use tamis::{Index, RunOptions, RunReport, SourceSettings};

/// Brings the index up to date with every model.
///
/// # Errors
/// The index cannot be written, another process is writing it, or a model fails.
pub fn run(arguments: &IndexArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    if let Some(namespace) = &arguments.remove {
        return remove(session.open_existing(config)?, namespace, arguments, output);
    }
    let mut index = session.open(config)?;
    if !arguments.directories.is_empty() {
        let collection = arguments.collection.as_deref().map(str::parse).transpose()?;
        let settings = SourceSettings { owner: arguments.owner.clone(), shared: arguments.shared, collection };
        index.add_sources(&arguments.directories, &settings)?;
    }
    interrupt::install()?;
    let options = RunOptions { reread: arguments.full, ..RunOptions::WHOLE };
    if arguments.watch {
        return keep_watching(&index, options, arguments, output);
    }
    let report = {
        let progress = Progress::at_once(output);
        index.refresh_with(options, &progress)?
    };
    if arguments.json {
        output.json(&report)?;
    } else {
        let mut out = output.styled();
        report::report(&mut out, &report, output.verbose())?;
        out.flush()?;
    }
    refresh::warn_of_models(&report, output);
    Ok(ended(&report, output))
}

/// Removes a namespace from the index.
fn remove(mut index: Index, namespace: &str, arguments: &IndexArguments, output: &Output) -> Result<Exit> {
    let documents = index.remove_source(namespace)?;
    if arguments.json {
        output.json(&serde_json::json!({ "removed": namespace, "documents": documents }))?;
    } else {
        let mut out = output.plain();
        writeln!(out, "removed {} from the index, with {}", label(namespace), counted(documents, "document"))?;
        out.flush()?;
    }
    Ok(Exit::Found)
}

fn ended(report: &RunReport, output: &Output) -> Exit {
    if !report.interrupted {
        return Exit::Found;
    }
    output.note("stopped; the finished part of the index is kept, and the next run continues there");
    Exit::Interrupted
}

/// Runs after every change until Ctrl-C, which ends a watch and is not a failure.
fn keep_watching(index: &Index, options: RunOptions, arguments: &IndexArguments, output: &Output) -> Result<Exit> {
    let watched = match index.is_of_one_tree() {
        true => index.location().root.display().to_string(),
        false => counted(index.sources().len() as u64, "namespace"),
    };
    output.note(&format!("watching {watched}; press Ctrl-C to end"));
    let progress = Progress::at_once(output);
    let mut failed = None;
    watch(index, options, &progress, |run| {
        progress.clear();
        let printed = match &run {
            Ok(report) => {
                refresh::warn_of_models(report, output);
                print(report, arguments, output)
            }
            Err(error) => {
                output.warn(&format!("{error}; the next change tries again"));
                Ok(())
            }
        };
        // Without a reader there is nothing to watch for.
        if let Err(error) = printed {
            failed.get_or_insert(error);
            interrupt::stop();
        }
    })?;
    failed.map_or(Ok(Exit::Found), Err)
}

fn print(report: &RunReport, arguments: &IndexArguments, output: &Output) -> Result<()> {
    let mut out = output.plain();
    if arguments.json {
        serde_json::to_writer(&mut out, report)?;
        writeln!(out)?;
    } else if report.changed_anything() {
        writeln!(out, "{}", report::line(report))?;
    }
    out.flush()?;
    Ok(())
}
