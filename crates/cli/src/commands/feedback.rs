//! `tamis feedback`: records judgements of answers.

use crate::command_line::{Global, at_least_one};
use crate::exit::Exit;
use crate::interrupt;
use crate::layout::Page;
use crate::output::Output;
use crate::print::table::Columns;
use crate::print::text::{ago, count, counted, label, visible};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tamis::Index;
use tamis::evaluate::EvaluationError;
use tamis::feedback::{ImportReport, Judged, Label, ListedSearch};

/// Flags of `tamis feedback`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tamis feedback [OPTIONS] QUERY_ID PASSAGE… --relevant\n       \
        tamis feedback [OPTIONS] QUERY_ID PASSAGE… --not\n       \
        tamis feedback [OPTIONS] --list | --import DIR | --forget QUERY_ID",
    after_help = "\
Examples:
  tamis search \"where are retries handled\"        prints the search's id at its end: [query 7k2m9qrt]
  tamis feedback 7k2m9qrt 1 2 --relevant          the first two results answer it
  tamis feedback 7k2m9qrt 3 --not                 the third does not
  tamis feedback 7k2m9qrt 3f9a1c --relevant       a passage by its id, shown or not
  tamis feedback --import judged/                 queries.jsonl and qrels/test.tsv, which name files by path

For the same question, results judged relevant come first, and those judged wrong move below the line.
`tamis search --guarantee recall=0.9` is calibrated on judgements. They stay in the index directory.
Exit status: 0 done, 1 nothing to list, 2 an error, and then nothing is recorded."
)]
pub struct FeedbackArguments {
    /// Id of the search, as its answer shows it
    #[arg(
        value_name = "QUERY_ID",
        required_unless_present_any = ["list", "import", "forget"],
        conflicts_with_all = ["list", "import", "forget"],
        requires_all = ["passages", "relevance"]
    )]
    pub query_id: Option<String>,
    /// Passages, by rank in that answer or by id
    #[arg(value_name = "PASSAGE", requires = "query_id")]
    pub passages: Vec<String>,
    /// Record that they answer the query
    #[arg(long, group = "relevance", requires = "query_id")]
    pub relevant: bool,
    /// Record that they do not answer the query
    #[arg(long, group = "relevance", requires = "query_id")]
    pub not: bool,
    /// List the last searches, with what was judged of each
    #[arg(long, conflicts_with_all = ["import", "forget"], help_heading = "Other actions")]
    pub list: bool,
    /// Search each judged query of a directory in BEIR's layout, and record its judgements
    #[arg(long, value_name = "DIR", conflicts_with = "forget", help_heading = "Other actions")]
    pub import: Option<PathBuf>,
    /// Delete a search with its judgements
    #[arg(long, value_name = "QUERY_ID", help_heading = "Other actions")]
    pub forget: Option<String>,
    /// With --import, read the judgements in qrels/NAME.tsv
    #[arg(long, value_name = "NAME", default_value = "test", requires = "import")]
    pub split: String,
    /// With --list, show at most N searches
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = at_least_one, requires = "list", allow_negative_numbers = true)]
    pub limit: usize,
    /// Print what was recorded, or the list, as JSON
    #[arg(long)]
    pub json: bool,
}

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
    let query_id = arguments.query_id.as_deref().unwrap_or_default();
    let judged = index.feedback().judge(query_id, &passages, relevance)?;
    output.answer(arguments.json, &judged, output.styled(), |out| print_judged(out, &judged))?;
    if !index.feedback().is_obeyed(query_id)? {
        output.note("searches of this kind ignore judgements; only `tamis search` with the same words obeys them");
    }
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
        print_searches(&mut out, &searches, SystemTime::now())?;
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
    output.answer(arguments.json, &report, output.styled(), |out| print_imported(out, &report))?;
    Ok(Exit::Found)
}

/// Writes a line for each passage: its judgement, its place, and whether it was a candidate.
fn print_judged(out: &mut dyn Page, judged: &[Judged]) -> io::Result<()> {
    for Judged { passage, place, title, relevance, rank } in judged {
        let place = place.as_ref().map_or_else(|| passage.clone(), |(path, line)| format!("{}:{line}", label(path)));
        let place = title.as_ref().map_or_else(|| place.clone(), |title| format!("{place}  {}", label(title)));
        let judgement = match relevance {
            Label::Relevant => "relevant",
            Label::NotRelevant => "not relevant",
            Label::Unjudged => "not judged any more",
        };
        match rank {
            Some(rank) => writeln!(out, "{judgement}: {place} (candidate {rank})")?,
            None => writeln!(out, "{judgement}: {place} (outside the pool, so no cut could keep it)")?,
        }
    }
    Ok(())
}

/// Writes the recorded searches as a table, the latest first.
fn print_searches(out: &mut dyn Page, searches: &[ListedSearch], now: SystemTime) -> io::Result<()> {
    let columns = ["query", "when", "from", ">kept", ">of", ">relevant", ">not", "cut", "judged", "text"];
    let mut table = Columns::new(&columns);
    for ListedSearch { search, judged } in searches {
        let at = Duration::from_millis(u64::try_from(search.at_ms).unwrap_or_default());
        table.row([
            search.id.clone(),
            ago(now.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(at)),
            search.entry_point.clone(),
            count(search.kept.into()),
            count(search.candidates.into()),
            count(search.relevant.into()),
            count(search.not_relevant.into()),
            search.method.clone(),
            first_judged(judged),
            search.query.as_deref().map(|text| visible(text).replace('\n', " ")).unwrap_or_default(),
        ]);
    }
    table.write(out)
}

/// The title of the first judged passage, or else its place, and the number of the others.
fn first_judged(judged: &[Judged]) -> String {
    let Some((Judged { passage, place, title, .. }, others)) = judged.split_first() else { return String::new() };
    let place = place.as_ref().map(|(path, _)| path);
    let first = label(title.as_ref().or(place).unwrap_or(passage));
    match others.len() {
        0 => first.into_owned(),
        more => format!("{first} and {more} more"),
    }
}

/// Writes the result of an import.
fn print_imported(out: &mut dyn Page, report: &ImportReport) -> io::Result<()> {
    write!(
        out,
        "{} with {} relevant and {} that {} not",
        counted(report.queries, "judged query"),
        counted(report.relevant, "passage"),
        count(report.not_relevant),
        if report.not_relevant == 1 { "is" } else { "are" }
    )?;
    if report.outside_pool > 0 {
        write!(out, "; {} of the relevant outside the pool", count(report.outside_pool))?;
    }
    writeln!(out)?;
    if report.skipped > 0 {
        writeln!(out, "  {} left out: no relevant document is in the index", counted(report.skipped, "query"))?;
    }
    if report.unknown_documents > 0 {
        let judgements = counted(report.unknown_documents, "judgement");
        writeln!(out, "  {judgements} left out: the document is not in the index")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;

    #[test]
    fn a_passage_that_was_no_candidate_is_said_to_be_none() {
        let passage = "3f9a".to_owned();
        let gone = Judged { passage, place: None, title: None, relevance: Label::NotRelevant, rank: None };
        let printed = plain(|out| print_judged(out, &[gone]));
        assert_eq!(printed, "not relevant: 3f9a (outside the pool, so no cut could keep it)\n");
    }

    #[test]
    fn an_import_says_what_it_left_out() {
        let report = ImportReport { queries: 30, relevant: 31, not_relevant: 1, ..ImportReport::default() };
        let shown = plain(|out| print_imported(out, &report));
        assert_eq!(shown, "30 judged queries with 31 passages relevant and 1 that is not\n");
        let report = ImportReport { queries: 1, outside_pool: 2, skipped: 1, unknown_documents: 4, ..report };
        insta::assert_snapshot!(plain(|out| print_imported(out, &report)), @r"
        1 judged query with 31 passages relevant and 1 that is not; 2 of the relevant outside the pool
          1 query left out: no relevant document is in the index
          4 judgements left out: the document is not in the index
        ");
    }
}
