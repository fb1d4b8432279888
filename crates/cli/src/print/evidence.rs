//! What was found among claims and fragments, for people.

use super::text::{counted, label, visible};
use owo_colors::OwoColorize;
use std::io::{self, Write};
use tamis::evidence::{RankedEvidence, RankedFragment, VectorMatches};

/// Characters of a text that are shown; `--json` gives it all.
const SHOWN: usize = 160;

/// The claim, its fragments, and why there are so many.
///
/// # Errors
/// `out` cannot be written.
pub fn ranked(out: &mut dyn Write, found: &RankedEvidence) -> io::Result<()> {
    writeln!(out, "{}  {}\n", label(&found.claim.id).bold(), visible(&one_line(&found.claim.text)))?;
    found.fragments.iter().try_for_each(|one| fragment(out, one))?;
    if !found.fragments.is_empty() {
        writeln!(out)?;
    }
    let shown = match found.cut.keep.saturating_sub(found.fragments.len()) {
        0 => String::new(),
        _ => format!(", the first {} shown", found.fragments.len()),
    };
    let proposed = counted(found.proposed as u64, "fragment");
    let reason = found.cut.reason.trim_end_matches('.');
    writeln!(out, "{} of {proposed} proposed by words{shown} ({}): {reason}.", found.cut.keep, found.cut.method)?;
    if !found.stands_out && !found.fragments.is_empty() {
        let reason = found.stands_out_reason.trim_end_matches('.');
        writeln!(out, "{} {}.", "Nothing here stands out for the claim:".yellow(), visible(reason))?;
    }
    if found.linked > 0 {
        writeln!(out, "{} stored.", counted(found.linked as u64, "neutral edge"))?;
    }
    Ok(())
}

fn fragment(out: &mut dyn Write, fragment: &RankedFragment) -> io::Result<()> {
    write!(out, "{:.2}  {}", fragment.similarity.green(), label(&fragment.id).purple())?;
    write!(out, "  {}", format_args!("page {}", visible(&fragment.page_id)).dimmed())?;
    let relation = fragment.relation.map(|relation| relation.to_string());
    let said = match (relation, fragment.linked, fragment.is_origin) {
        (Some(relation), true, _) => Some(format!("{relation}, new")),
        (Some(relation), false, true) if relation != "origin" => Some(format!("{relation}, origin")),
        (relation, ..) => relation,
    };
    if let Some(said) = said {
        write!(out, "  {}", format_args!("[{said}]").cyan())?;
    }
    writeln!(out, "\n      {}", visible(&one_line(&fragment.text)))
}

/// What is like the text, and why there is so much.
///
/// # Errors
/// `out` cannot be written.
pub fn matches(out: &mut dyn Write, found: &VectorMatches) -> io::Result<()> {
    for one in &found.matches {
        writeln!(out, "{:.2}  {}", one.similarity.green(), label(&one.id).purple())?;
        writeln!(out, "      {}", visible(&one_line(&one.text_preview)))?;
    }
    if !found.matches.is_empty() {
        writeln!(out)?;
    }
    let reason = found.cut.reason.trim_end_matches('.');
    let searched = counted(found.total_searched, "passage");
    let shown = match found.cut.keep.saturating_sub(found.matches.len()) {
        0 => String::new(),
        _ => format!(", the first {} shown", found.matches.len()),
    };
    match found.cut.keep {
        0 => writeln!(out, "Nothing like it in {searched} ({}): {reason}.", found.cut.method),
        keep => writeln!(out, "{keep} like it in {searched}{shown} ({}): {reason}.", found.cut.method),
    }
}

/// The beginning of a text in one line.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}
