//! The report of a run.

use super::text::{bytes, count, counted, label, milliseconds, visible};
use crate::layout::Page;
use owo_colors::OwoColorize;
use std::collections::BTreeMap;
use std::io;
use tamis::RunReport;
use tamis::index::{FileCounts, Preview, SourceReport, UnreadDocument};

/// Writes the report. `verbose` adds the files left out, each with the reason, and the files that could not be read.
///
/// # Errors
/// `out` cannot be written.
pub fn report(out: &mut dyn Page, report: &RunReport, verbose: bool) -> io::Result<()> {
    writeln!(out, "{} in {}", changes(&report.counts).bold(), milliseconds(elapsed(report)))?;
    embedded(out, report)?;
    sources(out, &report.sources, verbose)?;
    skipped(out, &report.skipped, verbose)?;
    for (place, reason) in report.left_out.iter().filter(|_| verbose) {
        writeln!(out, "    {}: {}", label(place), visible(reason))?;
    }
    let named = report.left_out.len() as u64;
    if let Some(more) = report.skipped.values().sum::<u64>().checked_sub(named).filter(|more| verbose && *more > 0) {
        writeln!(out, "    and {} more", count(more))?;
    }
    unreadable(out, &report.unreadable, verbose)?;
    unread(out, &report.unread, report.sources.len() > 1, verbose)?;
    for remark in &report.remarks {
        writeln!(out, "  {}", visible(remark).yellow())?;
    }
    for reason in report.embedding.uncached.iter().filter(|_| verbose) {
        writeln!(out, "  the cache of vectors was not used: {}", visible(reason))?;
    }
    for reason in report.undated.iter().filter(|_| verbose) {
        writeln!(out, "  documents are dated by their files, not by their commits: {}", visible(reason))?;
    }
    Ok(())
}

/// Writes what a run would read.
///
/// # Errors
/// `out` cannot be written.
pub fn preview(out: &mut dyn Page, preview: &Preview) -> io::Result<()> {
    let read = format!("{}, {}", counted(preview.files, "file"), bytes(preview.bytes));
    writeln!(out, "{} would be read, in about {}", read.bold(), milliseconds(preview.seconds * 1000.0))?;
    for directory in &preview.directories {
        writeln!(out, "  in {}", label(&directory.to_string_lossy()))?;
    }
    skipped(out, &preview.skipped, true)?;
    for (place, reason) in &preview.left_out {
        writeln!(out, "    {}: {}", label(place), visible(reason))?;
    }
    let named = preview.left_out.len() as u64;
    if let Some(more) = preview.skipped.values().sum::<u64>().checked_sub(named).filter(|more| *more > 0) {
        writeln!(out, "    and {} more", count(more))?;
    }
    unreadable(out, &preview.unreadable, true)?;
    for remark in &preview.remarks {
        writeln!(out, "  {}", visible(remark).yellow())?;
    }
    writeln!(out, "  what ignore files name is not counted; files can still be left out for their content")
}

/// Writes the number of passages embedded with each model, taken from the cache, and left for later.
///
/// # Errors
/// `out` cannot be written.
pub fn embedded(out: &mut dyn Page, report: &RunReport) -> io::Result<()> {
    for (model, embedded) in &report.embedding.embedded {
        let time = report.timings_ms.get(&format!("embed_{model}")).copied().unwrap_or_default();
        let rate = if time > 0.0 { *embedded as f64 / time * 1000.0 } else { 0.0 };
        writeln!(
            out,
            "  {}: {} embedded in {}, {} a second",
            label(model),
            counted(*embedded, "passage"),
            milliseconds(time),
            count(rate as u64)
        )?;
    }
    for (model, cached) in &report.embedding.cached {
        writeln!(out, "  {}: {} embedded before, taken from the cache", label(model), counted(*cached, "passage"))?;
    }
    for (model, pending) in &report.embedding.pending {
        writeln!(out, "  {}", self::pending(model, *pending))?;
    }
    Ok(())
}

/// Returns the sentence on the passages that a model has left for later.
pub fn pending(model: &str, passages: u64) -> String {
    format!("{}: {} not embedded yet", label(model), counted(passages, "passage"))
}

/// Writes the changes in each repository. `verbose` adds the unchanged ones.
fn sources(out: &mut dyn Page, sources: &[SourceReport], verbose: bool) -> io::Result<()> {
    for source in sources {
        let SourceReport { namespace, counts, remark, .. } = source;
        match remark {
            Some(remark) => writeln!(out, "  {}: {}", label(namespace).cyan(), visible(remark).yellow())?,
            None if verbose || counts.changed_anything() => {
                writeln!(out, "  {}: {}", label(namespace).cyan(), changes(counts))?;
            }
            None => {}
        }
    }
    Ok(())
}

/// A run in one line.
pub fn line(report: &RunReport) -> String {
    format!("{} in {}", changes(&report.counts), milliseconds(elapsed(report)))
}

/// Writes the number of files left out, and with `verbose` their kinds.
///
/// # Errors
/// `out` cannot be written.
pub fn skipped(out: &mut dyn Page, skipped: &BTreeMap<String, u64>, verbose: bool) -> io::Result<()> {
    let total: u64 = skipped.values().sum();
    if total == 0 {
        return Ok(());
    }
    let kinds = skipped.iter().map(|(kind, files)| format!("{} {}", count(*files), kind.replace('_', " ")));
    let kinds = if verbose { format!(": {}", kinds.collect::<Vec<_>>().join(", ")) } else { " (-v says why)".into() };
    writeln!(out, "  {} left out{kinds}", counted(total, "file"))
}

/// Writes the documents without readable text, each with the reason; without `verbose` the first few.
///
/// # Errors
/// `out` cannot be written.
pub fn unread(out: &mut dyn Page, unread: &[UnreadDocument], several: bool, verbose: bool) -> io::Result<()> {
    const SHOWN: usize = 5;
    if unread.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {} without readable text:", counted(unread.len() as u64, "document"))?;
    let shown = if verbose { unread.len() } else { SHOWN };
    for UnreadDocument { namespace, path, reason, .. } in unread.iter().take(shown) {
        let place = if several { format!("{namespace}:{path}") } else { path.clone() };
        writeln!(out, "    {}: {}", label(&place), visible(reason))?;
    }
    match unread.len().saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, "    and {} more (-v lists them)", count(more as u64)),
    }
}

fn unreadable(out: &mut dyn Page, unreadable: &[String], verbose: bool) -> io::Result<()> {
    if unreadable.is_empty() {
        return Ok(());
    }
    let hint = if verbose { "" } else { " (-v lists them)" };
    writeln!(out, "  {} could not be read{hint}", counted(unreadable.len() as u64, "file"))?;
    for reason in unreadable.iter().filter(|_| verbose) {
        writeln!(out, "    {}", visible(reason))?;
    }
    Ok(())
}

fn changes(counts: &FileCounts) -> String {
    let FileCounts { added, changed, moved, removed, passages, .. } = counts;
    let parts = [(added, "added"), (changed, "changed"), (moved, "moved"), (removed, "removed")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(files, _)| **files > 0)
        .map(|(files, what)| format!("{} {what}", count(**files)))
        .collect();
    let files = counted(counts.listed(), "file");
    match parts.is_empty() {
        true => format!("{files}, none changed"),
        false => format!("{files}: {}; {} written", parts.join(", "), counted(*passages, "passage")),
    }
}

/// Milliseconds of all stages.
fn elapsed(report: &RunReport) -> f64 {
    report.timings_ms.iter().filter(|(stage, _)| *stage != "total").fold(0.0, |sum, (_, time)| sum + time)
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;

    #[test]
    fn what_was_left_out_or_could_not_be_read_is_counted_or_listed() {
        let run = RunReport {
            skipped: [("binary".into(), 12), ("too_large".into(), 1)].into(),
            left_out: [("logo.png".into(), "it is binary".into())].into(),
            unreadable: vec!["secret\u{7}.txt: permission denied".into()],
            ..RunReport::default()
        };
        let text = plain(|out| report(out, &run, false));
        assert!(text.contains("  13 files left out (-v says why)\n"), "{text}");
        assert!(text.contains("  1 file could not be read (-v lists them)\n"), "{text}");
        let text = plain(|out| report(out, &run, true));
        let left_out = "13 files left out: 12 binary, 1 too large\n    logo.png: it is binary\n    and 12 more\n";
        assert!(text.contains(left_out) && text.contains("    secret␇.txt: permission denied\n"), "{text}");
    }
}
