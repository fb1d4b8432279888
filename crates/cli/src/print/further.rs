//! The lines below a result: its other relevant passages, and its near-copies in other documents.

use super::passage_text::{highlighted, origin_of};
use super::text::label;
use crate::page::{Page, shortened};
use owo_colors::OwoColorize;
use std::fmt::Write as _;
use std::io;
use tamis::Hit;
use tamis::kind_in_words;
use tamis::search::FurtherPassage;

/// Number of other passages that are shown; the rest is counted.
const SHOWN: usize = 2;

/// Longer lines are shortened if the terminal sets no limit.
const LONGEST_LINE: usize = 160;

/// Writes the other passages of a result and its near-copies. Passages of an issue are named by author and day, since its line
/// numbers mean little.
pub(super) fn further(out: &mut dyn Page, hit: &Hit, is_issue: bool) -> io::Result<()> {
    let columns = out.columns_after(0, LONGEST_LINE);
    for passage in hit.passages.iter().take(SHOWN) {
        writeln!(out, "{}", shortened(&one_line(hit, passage, is_issue), columns))?;
    }
    match hit.passages.len().saturating_sub(SHOWN) {
        0 => {}
        1 => writeln!(out, "   {}", "and 1 more passage".dimmed())?,
        more => writeln!(out, "   {}", format_args!("and {more} more passages").dimmed())?,
    }
    if let Some(first) = hit.copies.first() {
        let more = match hit.copies.len() {
            1 => String::new(),
            copies => format!(" and {} more", copies - 1),
        };
        let copies = format!("   {} {}{}", "also in".dimmed(), label(&first.path).purple(), more.dimmed());
        out.line(&copies, 5)?;
    }
    Ok(())
}

/// Returns place, name and best line of a passage.
fn one_line(hit: &Hit, passage: &FurtherPassage, is_issue: bool) -> String {
    let mut line = "   + ".to_owned();
    // Writing to a string cannot fail.
    let _ = match is_issue {
        true => write!(
            line,
            "{}",
            origin_of(kind_in_words(&passage.kind, None), passage.author.as_deref(), passage.dated_at.as_deref())
        ),
        false => write!(line, "{}", format_args!("{}-{}", passage.start_line, passage.end_line).green()),
    };
    let heading = || passage.title.as_deref().filter(|_| !is_issue && passage.title != hit.title);
    let name = passage.symbol.as_deref().or_else(|| heading()?.rsplit(" > ").next());
    if let Some(name) = name {
        let _ = write!(line, "  {}", label(name).bold());
    }
    let start = passage.snippet.len() - passage.snippet.trim_start().len();
    let text = highlighted(&passage.snippet, start..passage.snippet.len(), &passage.highlights);
    let _ = write!(line, "  {}", text.replace('\t', " "));
    line
}

#[cfg(test)]
mod tests {
    use super::super::{plain, plain_in};
    use super::*;
    use crate::print::samples::{copy, further_passage, hit};

    #[test]
    fn two_more_passages_are_shown_and_the_others_counted() {
        let mut found = hit("src/lock.rs", 8, 12);
        let passage = |line: u32, symbol: &str| FurtherPassage {
            symbol: Some(symbol.into()),
            snippet: "    fn release(&mut self) {".into(),
            ..further_passage(line, line + 3)
        };
        found.passages = vec![passage(40, "Lock::release"), passage(80, "Lock::drop"), passage(90, "Lock::wait")];
        found.copies = vec![copy("vendor/lock.rs"), copy("old/lock.rs")];
        insta::assert_snapshot!(plain(|out| further(out, &found, false)), @r"
           + 40-43  Lock::release  fn release(&mut self) {
           + 80-83  Lock::drop  fn release(&mut self) {
           and 1 more passage
           also in vendor/lock.rs and 1 more
        ");
        found.passages.push(passage(99, "Lock::try"));
        assert!(plain(|out| further(out, &found, false)).contains("and 2 more passages"));
        let narrow = plain_in(30, |out| further(out, &found, false));
        assert!(narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
    }

    #[test]
    fn comments_of_an_issue_are_named_by_who_wrote_them() {
        let mut found = hit("issue:12", 1, 4);
        found.title = Some("Crash when the window is closed".into());
        found.passages = vec![FurtherPassage {
            kind: "comment".into(),
            author: Some("alice".into()),
            dated_at: Some("2024-03-01T09:30:00Z".into()),
            title: found.title.clone(),
            snippet: "It was the driver.".into(),
            ..further_passage(8, 12)
        }];
        assert_eq!(plain(|out| further(out, &found, true)), "   + comment by alice, 2024-03-01  It was the driver.\n");
    }

    #[test]
    fn a_section_is_named_by_its_own_heading_where_it_differs() {
        let mut found = hit("guide.md", 1, 4);
        found.title = Some("Guide > Install".into());
        let section = |title: &str| FurtherPassage { title: Some(title.into()), ..further_passage(8, 12) };
        found.passages = vec![section("Guide > Remove"), section("Guide > Install")];
        assert_eq!(plain(|out| further(out, &found, false)), "   + 8-12  Remove  \n   + 8-12  \n");
    }
}
