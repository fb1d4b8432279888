//! Exact matches, files and symbols of the tree.

use super::passage_text::highlighted;
use super::text::{bytes, count, counted, label, visible};
use crate::page::Page;
use owo_colors::OwoColorize;
use std::io::{self, Write};
use tamis::tree::{FilesAnswer, GrepAnswer, GrepLine, OutlineAnswer};

/// Writes the matching lines, under the path of each file or after it.
///
/// # Errors
/// `out` cannot be written.
pub fn matches(out: &mut dyn Write, found: &GrepAnswer, headings: bool) -> io::Result<()> {
    let has_context = found.results.iter().any(|file| file.hits.iter().any(|hit| hit.column.is_none()));
    for (at, file) in found.results.iter().filter(|file| !file.hits.is_empty()).enumerate() {
        let path = label(&file.path);
        if headings {
            writeln!(out, "{}{}", if at > 0 { "\n" } else { "" }, path.purple())?;
        } else if has_context && at > 0 {
            writeln!(out, "--")?;
        }
        let mut last: Option<u32> = None;
        for hit in &file.hits {
            if has_context && last.is_some_and(|last| hit.line > last + 1) {
                writeln!(out, "--")?;
            }
            last = Some(hit.line);
            let sign = if hit.column.is_some() { ':' } else { '-' };
            if !headings {
                write!(out, "{}{sign}", path.purple())?;
            }
            writeln!(out, "{}{sign}{}", hit.line.green(), text(hit))?;
        }
    }
    Ok(())
}

fn text(hit: &GrepLine) -> String {
    let text = highlighted(&hit.text, 0..hit.text.len(), &hit.spans);
    if hit.shortened { format!("{text} […]") } else { text }
}

/// Writes `PATH:LINE:COLUMN:TEXT` for each matching line.
///
/// # Errors
/// `out` cannot be written.
pub fn vimgrep(out: &mut dyn Write, found: &GrepAnswer) -> io::Result<()> {
    for file in &found.results {
        for hit in &file.hits {
            let Some(column) = hit.column else { continue };
            writeln!(out, "{}:{}:{column}:{}", label(&file.path), hit.line, visible(&hit.text))?;
        }
    }
    Ok(())
}

/// Writes the path of each file with a match.
///
/// # Errors
/// `out` cannot be written.
pub fn paths(out: &mut dyn Write, found: &GrepAnswer) -> io::Result<()> {
    found.results.iter().try_for_each(|file| writeln!(out, "{}", label(&file.path).purple()))
}

/// Writes the number of matching lines of each file.
///
/// # Errors
/// `out` cannot be written.
pub fn counts(out: &mut dyn Write, found: &GrepAnswer) -> io::Result<()> {
    found.results.iter().try_for_each(|file| writeln!(out, "{}:{}", label(&file.path).purple(), file.lines))
}

/// The totals in one line.
pub fn total(found: &GrepAnswer) -> String {
    let searched = format!("{} searched", counted(found.searched, "file"));
    if found.files == 0 {
        return format!("no match; {searched}");
    }
    let least = if found.complete { "" } else { "at least " };
    let listed = found.lines - found.unlisted;
    let listed =
        if found.unlisted > 0 && listed > 0 { format!("; the first {listed} lines are listed") } else { String::new() };
    let matches =
        if found.matches == found.lines { String::new() } else { format!("{} in ", counted_matches(found.matches)) };
    let lines = if matches.is_empty() { counted_matches(found.lines) } else { counted(found.lines, "line") };
    format!("{least}{matches}{lines} of {}{listed}; {searched}", counted(found.files, "file"))
}

fn counted_matches(number: u64) -> String {
    if number == 1 { "1 match".to_owned() } else { format!("{} matches", count(number)) }
}

/// Writes the path of each file, with its size, language and last change if asked.
///
/// # Errors
/// `out` cannot be written.
pub fn files(out: &mut dyn Write, found: &FilesAnswer, long: bool) -> io::Result<()> {
    for file in &found.results {
        let path = label(&file.path);
        if long {
            let day = file.changed_at.as_deref().and_then(|date| date.get(..10)).unwrap_or("-");
            let language = file.language.as_deref().unwrap_or("-");
            writeln!(out, "{:>9}  {day:<10}  {language:<12}  {}", bytes(file.bytes), path.purple())?;
        } else {
            writeln!(out, "{}", path.purple())?;
        }
    }
    Ok(())
}

/// The totals of the files in one line.
pub fn files_total(found: &FilesAnswer) -> String {
    let shown = found.results.len() as u64;
    let first = if shown < found.total { format!("; the first {} are listed", count(shown)) } else { String::new() };
    let how = if found.matched == "fuzzy" && found.total > 0 {
        ", by letters in order, since no path contains it"
    } else {
        ""
    };
    format!("{}, {}{how}{first}", counted(found.total, "file"), bytes(found.bytes))
}

/// Writes the symbols under the path of each file.
///
/// # Errors
/// `out` cannot be written.
pub fn outline(out: &mut dyn Page, found: &OutlineAnswer) -> io::Result<()> {
    for (at, file) in found.files.iter().enumerate() {
        let language = file.language.as_deref().unwrap_or("text");
        let about =
            format!("({language}, {}, {})", counted(file.lines.into(), "line"), counted(file.symbols, "symbol"));
        writeln!(out, "{}{}  {}", if at > 0 { "\n" } else { "" }, label(&file.path).purple(), about.dimmed())?;
        let width = file.lines.to_string().len();
        for entry in &file.entries {
            let indent = "  ".repeat(entry.depth);
            let lines = format!("{:>width$}-{:<width$}", entry.start_line, entry.end_line);
            out.line(&format!("{}  {indent}{}", lines.green(), label(&entry.signature)), 2 * width + 5)?;
        }
        if file.unlisted > 0 {
            writeln!(out, "{}", format_args!("and {} more", count(file.unlisted)).dimmed())?;
        }
    }
    Ok(())
}
