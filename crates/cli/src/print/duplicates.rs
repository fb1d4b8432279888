//! Likely duplicates of an issue.

use super::text::{label, visible};
use crate::page::Page;
use owo_colors::OwoColorize;
use std::io;
use tamis::duplicates::Duplicates;

/// Writes each with its likeness, and the reason the list ends there.
///
/// # Errors
/// `out` cannot be written.
pub fn duplicates(out: &mut dyn Page, found: &Duplicates) -> io::Result<()> {
    let width = found.duplicates.iter().map(|one| one.number.to_string().len()).max().unwrap_or_default();
    for one in &found.duplicates {
        let number = format!("#{:<width$}", one.number);
        write!(out, "{}  {:.2}  {}", number.purple(), one.likeness.green(), label(&one.title).bold())?;
        writeln!(out, "  {}", format_args!("({})", label(&one.state)).dimmed())?;
        if let Some(url) = &one.url {
            writeln!(out, "  {}", label(url).dimmed())?;
        }
    }
    let reason = visible(found.reason.trim_end_matches('.')).into_owned();
    // Those below the floor are there so that a person has a few to compare.
    let likely = found.duplicates.iter().filter(|one| one.likeness >= found.min_likeness).count();
    let likely = match (found.cut.keep, found.duplicates.len()) {
        (all, shown) if all > shown => format!("{all} likely, the first {shown} shown"),
        (_, shown) if shown > likely => format!("{likely} likely, and {} to compare", shown - likely),
        _ => format!("{likely} likely"),
    };
    match (found.duplicates.is_empty(), &found.query_id) {
        (true, _) => writeln!(out, "No likely duplicate: {reason}."),
        (false, Some(id)) => writeln!(out, "\n{likely}: {reason}. [query {id}]"),
        (false, None) => writeln!(out, "\n{likely}: {reason}."),
    }
}
