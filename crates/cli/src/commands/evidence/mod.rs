//! `tamis evidence`: claims, and the evidence for and against them.

pub mod sql;

use super::import::report::{Ending, import_and_report};
use super::refresh;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::text::{counted, label, visible};
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use sql::{SqlArguments, ViewArguments, ViewsArguments};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tamis::Error;
use tamis::evidence::{
    EvidenceImport, EvidenceRecord, RankRequest, RankedEvidence, RankedFragment, VectorMatches, VectorSearchRequest,
};
use tamis::search::Asker;

/// Flags of `tamis evidence`.
#[derive(Debug, Args)]
#[command(subcommand_value_name = "ACTION", subcommand_help_heading = "Actions")]
pub struct EvidenceArguments {
    /// The action.
    #[command(subcommand)]
    pub action: EvidenceAction,
}

/// An action on the evidence graph.
#[derive(Debug, Subcommand)]
pub enum EvidenceAction {
    /// Add one record, or replace it; searches find it at once
    Add(Box<EvidenceAddArguments>),
    /// List the fragments about a claim, best first, until a cut ends the list
    Rank(EvidenceRankArguments),
    /// Find the claims or fragments closest to a text, by meaning alone
    Search(EvidenceSearchArguments),
    /// Write all records as JSON Lines, which `tamis import evidence` reads
    Export(EvidenceExportArguments),
    /// Query the evidence graph in SQL
    Sql(SqlArguments),
    /// List the named queries
    Views(ViewsArguments),
    /// Run a named query
    View(ViewArguments),
}

/// Flags of `tamis evidence export`.
#[derive(Debug, Args)]
pub struct EvidenceExportArguments {
    /// File to write in place of standard output, which - is too; an existing file is replaced
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Export this namespace, in place of the current one
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
}

/// Flags of `tamis evidence add`.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "RECORD",
    subcommand_help_heading = "Records",
    after_help = "\
Examples:
  tamis evidence add task --id t1 --question \"Does folic acid help?\"
  tamis evidence add page --id p1 --url https://example.org/trial --title Trial
  tamis evidence add fragment --id f1 --page-id p1 --text \"The risk fell by a third.\"
  tamis evidence add claim --id c1 --task-id t1 --text \"Folic acid helps.\"
  tamis evidence add edge --source-id f1 --target-id c1 --relation supports

A record replaces the whole record of the same name: a flag that you leave out empties its field."
)]
pub struct EvidenceAddArguments {
    /// The record.
    #[command(subcommand)]
    pub record: EvidenceRecord,
    /// Add it to this namespace in place of the current one; a new one is made
    #[arg(long, value_name = "NAME", global = true)]
    pub namespace: Option<String>,
    /// Record this origin, by which `tamis import --remove` removes it again
    #[arg(long, value_name = "ORIGIN", global = true, default_value = "evidence add")]
    pub origin: String,
    /// Print what was done as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// Flags of `tamis evidence rank`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis evidence rank c1                     list the fragments about the claim c1
  tamis evidence rank c1 --cut auto --json | jq '.fragments[].id'
  tamis evidence rank c1 --link              and store them as neutral edges, to be judged

Exit status: 0 found some, 1 found none, 2 an error.")]
pub struct EvidenceRankArguments {
    #[command(flatten)]
    pub request: RankRequest,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Flags of `tamis evidence search`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis evidence search \"does folic acid prevent strokes\"
  tamis evidence search \"side effects\" --target fragments --task t1 --min-similarity 0.3
  tamis evidence search \"worms and soil\" --cut auto --json

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct EvidenceSearchArguments {
    /// Text to compare with
    #[arg(value_name = "TEXT", required = true)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub request: VectorSearchRequest,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Runs an action on the evidence graph.
///
/// # Errors
/// The index cannot be read or written, or an argument is not allowed.
pub fn run(arguments: &EvidenceArguments, global: &Global, output: &Output) -> Result<Exit> {
    match &arguments.action {
        EvidenceAction::Add(arguments) => add(arguments, global, output),
        EvidenceAction::Rank(arguments) => rank(arguments, global, output),
        EvidenceAction::Search(arguments) => search(arguments, global, output),
        EvidenceAction::Export(arguments) => export(arguments, global, output),
        EvidenceAction::Sql(sql) => sql::run(sql, global, output),
        EvidenceAction::Views(list) => sql::list_views(list, global, output),
        EvidenceAction::View(view) => sql::run_view(view, global, output),
    }
}

/// Imports one record, which searches find at once.
///
/// # Errors
/// A value that is not allowed, a reference to a missing record, an index that cannot be written, or a model that fails.
fn add(arguments: &EvidenceAddArguments, global: &Global, output: &Output) -> Result<Exit> {
    let import = EvidenceImport {
        namespace: arguments.namespace.clone(),
        ..EvidenceImport::new(arguments.origin.as_str(), [arguments.record.clone()])
    };
    let added = import_and_report(
        Ending { json: arguments.json, wait: false },
        global,
        output,
        |_| Ok(import),
        |index, import, progress| index.evidence().import(&import, progress),
    );
    // The only record has no line, and nothing is left without it.
    added.map_err(|error| match error.downcast_ref() {
        Some(Error::Unreadable { records }) => {
            anyhow!("{}", records.iter().map(|record| &*record.reason).collect::<String>())
        }
        _ => error,
    })
}

/// Prints the fragments, and with `--link` stores edges for them.
///
/// # Errors
/// An unknown cut, no index, no claim of that name in it, no vectors, or edges that cannot be stored.
fn rank(arguments: &EvidenceRankArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let request = RankRequest { asker: Asker::at("cli"), ..arguments.request.clone() };
    let found = index.evidence().rank(&request)?;
    if let Some(reason) = &found.search.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.search.model));
    }
    found.search.warnings.iter().for_each(|warning| output.warn(warning));
    output.answer(arguments.json, &found, output.paged(), |out| ranked(out, &found))?;
    Ok(Exit::found(!found.fragments.is_empty()))
}

/// Prints the matches, or why there are none.
///
/// # Errors
/// A value out of range, an unknown cut, no index, or no vectors.
fn search(arguments: &EvidenceSearchArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let Some(index) = refresh::open_existing(session, arguments.no_refresh, output)? else {
        return Ok(Exit::Interrupted);
    };
    let query = arguments.words.join(" ");
    let request = VectorSearchRequest { query, asker: Asker::at("cli"), ..arguments.request.clone() };
    let found = index.evidence().vector_search(&request)?;
    if let Some(reason) = &found.search.fallback_reason {
        output.warn(&format!("compared with {}: {reason}", found.search.model));
    }
    found.search.warnings.iter().for_each(|warning| output.warn(warning));
    output.answer(arguments.json, &found, output.paged(), |out| matches(out, &found))?;
    Ok(Exit::found(!found.matches.is_empty()))
}

/// Writes the records of a namespace; a file is written whole or not at all.
///
/// # Errors
/// There is no index or no such namespace, or the file cannot be written.
fn export(arguments: &EvidenceExportArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let namespace = arguments.namespace.as_deref();
    let Some(file) = arguments.file.as_deref().filter(|file| *file != Path::new("-")) else {
        let mut out = output.exact();
        let records = index.evidence().export(namespace, &mut out)?;
        return Ok(Exit::found(records > 0));
    };
    let records = index.evidence().export_to(namespace, file)?;
    let mut out = output.plain();
    writeln!(out, "{} in {}", counted(records, "record"), label(&file.to_string_lossy()))?;
    out.flush()?;
    Ok(Exit::found(records > 0))
}

/// The most characters of a text; `--json` prints all.
const SHOWN: usize = 160;

/// Writes the claim, its fragments, and the reason the list ends there.
fn ranked(out: &mut dyn Page, found: &RankedEvidence) -> io::Result<()> {
    writeln!(out, "{}  {}\n", label(&found.claim.id).bold(), visible(&one_line(&found.claim.text)))?;
    found.fragments.iter().try_for_each(|one| fragment(out, one))?;
    if !found.fragments.is_empty() {
        writeln!(out)?;
    }
    // The cut knows only how the fragments compare with each other.
    if found.stands_out || found.fragments.is_empty() {
        writeln!(out, "{}", visible(&found.cut.sentence(found.fragments.len(), &[])))?;
    } else {
        let reason = found.stands_out_reason.trim_end_matches('.');
        writeln!(out, "{} {}.", "No fragment stands out for the claim:".yellow(), visible(reason))?;
    }
    if found.linked > 0 {
        writeln!(out, "{} stored.", counted(found.linked as u64, "neutral edge"))?;
    }
    Ok(())
}

fn fragment(out: &mut dyn Page, fragment: &RankedFragment) -> io::Result<()> {
    write!(out, "{:.2}  {}", fragment.similarity.green(), label(&fragment.id).purple())?;
    write!(out, "  {}", format_args!("page {}", visible(&fragment.page_id)).dimmed())?;
    let relation = fragment.relation.map(|relation| relation.to_string());
    let remark = match (relation, fragment.linked, fragment.is_origin) {
        (Some(relation), true, _) => Some(format!("{relation}, new")),
        (Some(relation), false, true) if relation != "origin" => Some(format!("{relation}, origin")),
        (relation, ..) => relation,
    };
    if let Some(remark) = remark {
        write!(out, "  {}", format_args!("[{remark}]").cyan())?;
    }
    writeln!(out, "\n      {}", visible(&one_line(&fragment.text)))
}

/// Writes the matches, and the reason the list ends there.
fn matches(out: &mut dyn Page, found: &VectorMatches) -> io::Result<()> {
    for one in &found.matches {
        writeln!(out, "{:.2}  {}", one.similarity.green(), label(&one.id).purple())?;
        writeln!(out, "      {}", visible(&one_line(&one.text_preview)))?;
    }
    if !found.matches.is_empty() {
        writeln!(out)?;
    }
    let sentence = found.cut.sentence(found.matches.len(), &[]);
    writeln!(out, "{} ({} compared)", visible(&sentence), counted(found.total_searched, "passage"))
}

/// The beginning of a text on one line.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}
