//! Matches among claims and fragments.

use super::text::{counted, label, visible};
use crate::page::Page;
use owo_colors::OwoColorize;
use std::io;
use tamis::evidence::{RankedEvidence, RankedFragment, VectorMatches};

/// The most characters of a text; `--json` prints all.
const SHOWN: usize = 160;

/// Writes the claim, its fragments, and the reason the list ends there.
///
/// # Errors
/// `out` cannot be written.
pub fn ranked(out: &mut dyn Page, found: &RankedEvidence) -> io::Result<()> {
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
///
/// # Errors
/// `out` cannot be written.
pub fn matches(out: &mut dyn Page, found: &VectorMatches) -> io::Result<()> {
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
