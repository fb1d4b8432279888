//! Likely duplicates, for people.

use super::text::{label, visible};
use owo_colors::OwoColorize;
use std::io::{self, Write};
use tamis::duplicates::Duplicates;

/// Each with its likeness, and why there are so many.
///
/// # Errors
/// `out` cannot be written.
pub fn duplicates(out: &mut dyn Write, found: &Duplicates) -> io::Result<()> {
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
    match (found.duplicates.is_empty(), &found.query_id) {
        (true, _) => writeln!(out, "No duplicate: {reason}."),
        (false, Some(id)) => writeln!(out, "\n{} likely: {reason}. [query {id}]", found.duplicates.len()),
        (false, None) => writeln!(out, "\n{} likely: {reason}.", found.duplicates.len()),
    }
}
