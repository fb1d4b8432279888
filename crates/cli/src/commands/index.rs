//! `tamis index`: brings the index up to date, once or after every change.

use super::refresh;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::report;
use crate::print::text::{counted, label};
use crate::progress::Progress;
use crate::session::Session;
use crate::{background_embedding, interrupt};
use anyhow::{Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use tamis::config::{Config, FileCollection};
use tamis::index::{Preview, try_file, watch};
use tamis::{Index, RunOptions, RunReport, SourceSettings};

/// Flags of `tamis index`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis index               index what changed since the last run
  tamis index --wait        the same, and wait for the slower models too
  tamis index --dry-run     say what would be read and left out
  tamis index --watch       keep running, and index after every change
  tamis index api web       add these repositories, each as a namespace
  tamis index ../notes --collection notes   add a directory whose prose is notes
  tamis index --remove web  remove a namespace

Ctrl-C stops at a whole step, and the next run continues there. A second Ctrl-C stops at once, which is safe too.")]
pub struct IndexArguments {
    #[command(flatten)]
    pub add: AddedSources,
    /// Remove a namespace with all its documents
    #[arg(long, value_name = "NAME", conflicts_with_all = ["directories", "watch", "wait", "full"])]
    pub remove: Option<String>,
    /// Confirm that the namespace's tree has moved to this location
    #[arg(long, conflicts_with = "remove")]
    pub moved: bool,
    /// Embed with every model before ending; without it, the rest is embedded in the background
    #[arg(long)]
    pub wait: bool,
    /// Embed what lacks a vector, without reading the tree; a process of its own does, which other commands start
    #[arg(long, hide = true, conflicts_with_all = ["directories", "remove", "moved", "wait", "watch", "full", "json"])]
    pub background: bool,
    /// Read this file alone, and keep nothing: a run tries so what may have ended the run before
    #[arg(long, hide = true, value_name = "FILE")]
    pub try_file: Option<PathBuf>,
    /// Keep running, index after every change, and embed with the slower models in between
    #[arg(long)]
    pub watch: bool,
    /// Read every file again, changed or not
    #[arg(long)]
    pub full: bool,
    /// Say what would be read, how long that takes and what is left out, and change nothing
    #[arg(long, conflicts_with_all = ["remove", "moved", "wait", "watch", "full"])]
    pub dry_run: bool,
    /// Index more than 200,000 files or 5 GB without being asked
    #[arg(long, conflicts_with = "dry_run")]
    pub any_size: bool,
    /// Print the report as JSON; with --watch, one line for each run
    #[arg(long)]
    pub json: bool,
}

/// Directories to add, and their settings.
#[derive(Debug, Args)]
pub struct AddedSources {
    /// Directories to add to the index, each as a namespace of its name
    #[arg(value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Name the owner of the directories; an owner's shared namespaces are searched from all of the owner's others
    #[arg(long, value_name = "NAME", requires = "directories")]
    pub owner: Option<String>,
    /// Share the directories with the owner's other namespaces
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        requires = "directories")]
    pub shared: Option<bool>,
    /// Put the prose of the directories into this collection: docs, wiki, or notes; code and data stay in code
    #[arg(long = "collection", value_name = "NAME", value_parser = PossibleValuesParser::new(FileCollection::NAMES),
        hide_possible_values = true, requires = "directories")]
    pub collection: Option<String>,
}

/// Brings the index up to date with the first model, or with every model if the user waits for that.
///
/// # Errors
/// The index cannot be written, another process is writing it, or a model fails.
pub fn run(arguments: &IndexArguments, global: &Global, output: &Output) -> Result<Exit> {
    if let Some(file) = &arguments.try_file {
        try_file(file)?;
        return Ok(Exit::Found);
    }
    if arguments.background {
        tamis_server::detach_process();
    }
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    if arguments.background {
        session.open_existing(config)?.embed_alone(&())?;
        return Ok(Exit::Found);
    }
    if let Some(namespace) = &arguments.remove {
        return remove(session.open_existing(config)?, namespace, arguments, output);
    }
    if arguments.dry_run {
        return preview(session, config, arguments, output);
    }
    // The directories named are indexed, and not the one around them.
    let is_around = !arguments.add.directories.is_empty();
    let mut index = if is_around { session.open_anywhere(config)? } else { session.open(config)? };
    if !arguments.add.directories.is_empty() {
        let AddedSources { directories, owner, shared, collection } = &arguments.add;
        let collection = collection.as_deref().map(str::parse).transpose()?;
        index.add_sources(directories, &SourceSettings { owner: owner.clone(), shared: *shared, collection })?;
    }
    if arguments.moved {
        index.take_over_namespaces()?;
    }
    interrupt::install()?;
    let options = if arguments.wait { RunOptions::WHOLE } else { RunOptions::FIRST_MODEL };
    let options = RunOptions { reread: arguments.full, any_size: arguments.any_size, ..options };
    if arguments.watch {
        return keep_watching(&index, options, arguments, output);
    }
    let report = refresh::of_any_size(options, |options| {
        let progress = Progress::at_once(output);
        index.refresh_with(options, &progress)
    })?;
    output.answer(arguments.json, &report, output.styled(), |out| report::report(out, &report, output.verbose()))?;
    refresh::warn_of_models(&report, output);
    background_embedding::start(&index, Some(&report), output);
    Ok(ended(&report, output))
}

/// Says what a run would read. Nothing is made or changed.
fn preview(session: Session, config: Config, arguments: &IndexArguments, output: &Output) -> Result<Exit> {
    let directory = session.location.directory.clone();
    let directories = match arguments.add.directories.as_slice() {
        [] if session.has_index(&config) => {
            let index = session.open_existing(config.clone())?;
            index.sources().into_iter().map(|source| source.root.clone()).collect()
        }
        [] => vec![session.location.root.clone()],
        named => named.to_vec(),
    };
    if let Some(missing) = directories.iter().find(|directory| !directory.is_dir()) {
        bail!("{}: not a directory; name the directories to index", missing.display());
    }
    let preview = Preview::new(&directories, &directory, &config)?;
    output.answer(arguments.json, &preview, output.styled(), |out| report::preview(out, &preview))?;
    Ok(Exit::Found)
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

/// Runs after every change until Ctrl-C, which ends a watch and is not a failure. A second thread embeds with the slower models, so
/// that changes are found meanwhile.
fn keep_watching(index: &Index, options: RunOptions, arguments: &IndexArguments, output: &Output) -> Result<Exit> {
    let watched = match index.is_of_one_tree() {
        true => index.root().display().to_string(),
        false => counted(index.sources().len() as u64, "namespace"),
    };
    output.note(&format!("watching {watched}; press Ctrl-C to end"));
    let progress = Progress::at_once(output);
    let watcher =
        Watcher { arguments, output, progress: &progress, failed: Mutex::default(), last_warning: Mutex::default() };
    let (more, rest) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for () in rest {
                watcher.ended(index.embed_missing(&progress));
            }
        });
        let watched = watch(index, options, &progress, |run| {
            let pending = run.as_ref().is_ok_and(|report| !report.embedding.pending.is_empty());
            watcher.ended(run);
            if pending {
                // The thread waits until this end is dropped.
                let _ = more.send(());
            }
        });
        drop(more);
        watched
    })?;
    watcher.failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(Exit::Found), Err)
}

/// Prints each run of a watch.
struct Watcher<'a> {
    arguments: &'a IndexArguments,
    output: &'a Output,
    progress: &'a Progress,
    failed: Mutex<Option<anyhow::Error>>,
    /// A reason that stays, such as a lock, is worth one line.
    last_warning: Mutex<String>,
}

impl Watcher<'_> {
    fn ended(&self, run: Result<RunReport, tamis::Error>) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        self.progress.clear();
        let printed = match &run {
            Ok(report) => {
                refresh::warn_of_models(report, self.output);
                print(report, self.arguments, self.output)
            }
            Err(error) => {
                let warning = format!("{error}; the next change tries again");
                let mut last = self.last_warning.lock().unwrap_or_else(PoisonError::into_inner);
                if *last != warning {
                    self.output.warn(&warning);
                    *last = warning;
                }
                Ok(())
            }
        };
        // Without a reader there is nothing to watch for.
        if let Err(error) = printed {
            failed.get_or_insert(error);
            interrupt::stop();
        }
    }
}

fn print(report: &RunReport, arguments: &IndexArguments, output: &Output) -> Result<()> {
    if report.files() == 0 && !arguments.json {
        let mut out = output.styled();
        report::embedded(&mut out, report)?;
        return Ok(out.flush()?);
    }
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
