//! The steps that every import shares: read the inputs, import them, publish and embed, and report.

use super::ImportFlags;
use crate::command_line::Global;
use crate::commands::refresh;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::report::embedded;
use crate::print::text::{count, counted, label, milliseconds, visible};
use crate::progress::Progress;
use crate::session::Session;
use crate::{background_embedding, interrupt};
use anyhow::{Context, Result, bail};
use owo_colors::OwoColorize;
use serde::Serialize;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use tamis::config::Config;
use tamis::import::{ImportCounts, ImportInput, ImportSummary};
use tamis::{Error, Index, RunOptions, RunReport};

/// The file name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// The name of standard input in messages.
pub const STANDARD_INPUT_NAME: &str = "standard input";

/// Reads the inputs.
pub fn inputs(files: &[PathBuf]) -> Result<Vec<ImportInput>> {
    let input = |file: &PathBuf| match stream(file)? {
        Some(stream) => Ok(ImportInput::stream(STANDARD_INPUT_NAME, stream)?),
        None => Ok(ImportInput::file(file)?),
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

/// The directories of the descriptors that a shell names for `<(COMMAND)`. Their numbers change from one import to the next.
const DESCRIPTORS: [&str; 2] = ["/dev/fd", "/proc/self/fd"];

/// Opens an input without a name of its own: standard input, which must not be a terminal, or a descriptor. `None` for a file.
pub fn stream(file: &Path) -> Result<Option<Box<dyn Read>>> {
    if file == Path::new(STANDARD_INPUT) {
        if io::stdin().is_terminal() {
            bail!("`-` reads standard input, which is a terminal: pipe something in, or name a file");
        }
        return Ok(Some(Box::new(io::stdin().lock())));
    }
    if !DESCRIPTORS.iter().any(|directory| file.starts_with(directory)) {
        return Ok(None);
    }
    let file = File::open(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    Ok(Some(Box::new(file)))
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
    pub fn from_flags(flags: &ImportFlags) -> Ending {
        Ending { json: flags.json, wait: flags.wait }
    }
}

/// Imports, publishes, embeds and reports.
pub fn import_and_report<I, F>(
    ending: Ending,
    global: &Global,
    output: &Output,
    read: impl FnOnce(&Config) -> Result<I>,
    import: F,
) -> Result<Exit>
where
    F: FnOnce(&Index, I, &Progress) -> Result<ImportSummary, Error>,
{
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
        print_summary(&mut out, &summary, completed.as_ref(), index.own_namespace())?;
        out.flush()?;
    }
    completed.iter().for_each(|report| refresh::warn_of_models(report, output));
    background_embedding::start(&index, completed.as_ref(), output);
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

/// The most records, or issues of comments, that are named; the rest is counted.
const NAMED: usize = 20;

/// Writes the result of an import, with the run that published and embedded it. `own` is the namespace that searches
/// read by default.
fn print_summary(
    out: &mut dyn Page,
    summary: &ImportSummary,
    run: Option<&RunReport>,
    own: Option<&str>,
) -> io::Result<()> {
    let times = summary.timings_ms.values().chain(run.iter().flat_map(|run| run.timings_ms.values()));
    let elapsed: f64 = times.sum();
    writeln!(out, "{} in {}", changes(summary).bold(), milliseconds(elapsed))?;
    if let Some(run) = run {
        embedded(out, run)?;
    }
    let ImportSummary { origin, namespace, collection, .. } = summary;
    let changed = summary.records.iter().filter(|(_, counts)| counts.added + counts.updated > 0);
    for (kind, counts) in changed {
        let parts = [(counts.added, "added"), (counts.updated, "updated"), (counts.unchanged, "unchanged")];
        let parts = parts
            .iter()
            .filter(|(records, _)| *records > 0)
            .map(|(records, what)| format!("{} {what}", count(*records)));
        writeln!(out, "  {kind}: {}", parts.collect::<Vec<_>>().join(", "))?;
    }
    let into = format!("{}, namespace {}, collection {collection}", label(origin), label(namespace));
    writeln!(out, "  from {into}")?;
    if !summary.without_issue.is_empty() {
        let numbers = summary.without_issue.keys().take(NAMED).map(|number| format!("#{number}"));
        let more = match summary.without_issue.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {} more", count(more as u64)),
        };
        let left_out = counted(summary.without_issue.values().sum(), "comment");
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        writeln!(out, "  {} whose issue is missing: {numbers}{more}", format!("{left_out} left out").yellow())?;
    }
    if !summary.left_out.is_empty() {
        let kinds = summary.left_out.iter().map(|(kind, records)| left_out(kind, *records));
        writeln!(out, "  left out: {}", kinds.collect::<Vec<_>>().join(", "))?;
    }
    if !summary.bad.is_empty() {
        writeln!(out, "  {}:", format!("{} left out", counted(summary.bad.len() as u64, "bad record")).yellow())?;
        for record in summary.bad.iter().take(NAMED) {
            writeln!(out, "    {}", visible(&record.to_string()))?;
        }
        if summary.bad.len() > NAMED {
            writeln!(out, "    and {} more", count((summary.bad.len() - NAMED) as u64))?;
        }
    }
    if summary.dry_run {
        writeln!(out, "  nothing was changed; an import would do this")?;
    } else if own.is_some_and(|own| own != namespace) {
        writeln!(out, "  search it with --namespace {}", label(namespace))?;
    }
    Ok(())
}

/// A kind of record that is not imported, with its number.
fn left_out(kind: &str, records: u64) -> String {
    let (one, several) = match kind {
        "redirect" => ("redirect", "redirects"),
        "other_namespace" => ("page of another namespace", "pages of other namespaces"),
        "other_model" => ("page without text", "pages without text"),
        "no_turn" => ("record other than a turn", "records other than turns"),
        "repeated" => ("repeated turn", "repeated turns"),
        "unfinished" => ("last line that is still being written", "last lines that are still being written"),
        other => (other, other),
    };
    format!("{} {}", count(records), if records == 1 { one } else { several })
}

/// The number of documents and what became of them, in one line.
fn changes(summary: &ImportSummary) -> String {
    let ImportSummary { counts: ImportCounts { added, updated, older, comments, passages, .. }, .. } = summary;
    let noun = match summary.collection.as_str() {
        "issues" => "issue",
        "wiki" => "page",
        "sessions" => "session",
        "commits" => "commit",
        "evidence" => "record",
        _ => "document",
    };
    let documents = counted(summary.documents(), noun);
    let parts = [(added, "added"), (updated, "updated"), (older, "older than the indexed ones")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(documents, _)| **documents > 0)
        .map(|(documents, what)| format!("{} {what}", count(**documents)))
        .collect();
    if parts.is_empty() {
        return format!("{documents}, none changed");
    }
    let comments = match comments {
        0 => String::new(),
        comments => format!(", {}", counted(*comments, "new comment")),
    };
    match summary.changed_anything() {
        true => format!("{documents}: {}{comments}; {} written", parts.join(", "), counted(*passages, "passage")),
        false => format!("{documents}: {}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;
    use tamis::import::UnreadableRecord;

    fn sample() -> ImportSummary {
        ImportSummary {
            origin: "github:ada/engine".into(),
            namespace: "engine".into(),
            collection: "issues".into(),
            counts: ImportCounts { added: 1200, updated: 3, unchanged: 40, older: 1, comments: 2500, passages: 9000 },
            timings_ms: [("split".into(), 300.0), ("commit".into(), 700.0)].into(),
            ..ImportSummary::default()
        }
    }

    #[test]
    fn what_was_left_out_is_named() {
        let bad = |at| UnreadableRecord { position: format!("a.json: record {at}"), reason: "no number".into() };
        let summary_of = ImportSummary {
            bad: (1..=22).map(bad).collect(),
            left_out: [("redirect".into(), 1200), ("other_model".into(), 1)].into(),
            without_issue: [(7, 2), (9, 1)].into(),
            dry_run: true,
            ..sample()
        };
        let text = plain(|out| print_summary(out, &summary_of, None, Some("other")));
        assert!(text.contains("  3 comments left out whose issue is missing: #7, #9\n"), "{text}");
        assert!(text.contains("  left out: 1 page without text, 1,200 redirects\n"), "{text}");
        assert!(text.contains("  22 bad records left out:\n    a.json: record 1: no number\n"), "{text}");
        assert!(text.contains("3 updated, 1 older than the indexed ones, "), "{text}");
        assert!(text.contains("record 20: no number\n    and 2 more\n  nothing was changed"), "{text}");
        let elsewhere = plain(|out| print_summary(out, &sample(), None, Some("here")));
        assert!(elsewhere.ends_with("\n  search it with --namespace engine\n"), "{elsewhere}");
    }
}
