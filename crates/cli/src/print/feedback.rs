//! Judgements and recorded searches.

use super::table::Columns;
use super::text::{ago, count, counted, label, visible};
use crate::page::Page;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tamis::feedback::{ImportReport, Judged, Label, SearchSummary};

/// Writes a line for each passage: its judgement, its place, and whether it was a candidate.
///
/// # Errors
/// `out` cannot be written.
pub fn judged(out: &mut dyn Page, judged: &[Judged]) -> io::Result<()> {
    for Judged { passage, place, relevance, rank } in judged {
        let place = place.as_ref().map_or_else(|| passage.clone(), |(path, line)| format!("{}:{line}", label(path)));
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
///
/// # Errors
/// `out` cannot be written.
pub fn searches(out: &mut dyn Page, searches: &[SearchSummary], now: SystemTime) -> io::Result<()> {
    let mut table = Columns::new(&["query", "when", "from", ">kept", ">of", ">relevant", ">not", "cut", "text"]);
    for search in searches {
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
            search.query.as_deref().map(|text| visible(text).replace('\n', " ")).unwrap_or_default(),
        ]);
    }
    table.write(out)
}

/// Writes the result of an import.
///
/// # Errors
/// `out` cannot be written.
pub fn imported(out: &mut dyn Page, report: &ImportReport) -> io::Result<()> {
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
    use super::super::plain;
    use super::*;

    #[test]
    fn what_was_taken_down_says_where_and_whether_it_was_a_candidate() {
        let first = Judged {
            passage: "3f9a1c2b4d5e".into(),
            place: Some(("src/lock.rs".into(), 8)),
            relevance: Label::Relevant,
            rank: Some(1),
        };
        let gone = Judged { place: None, relevance: Label::NotRelevant, rank: None, ..first.clone() };
        insta::assert_snapshot!(plain(|out| judged(out, &[first, gone])), @r"
        relevant: src/lock.rs:8 (candidate 1)
        not relevant: 3f9a1c2b4d5e (outside the pool, so no cut could keep it)
        ");
    }

    #[test]
    fn searches_are_a_table() {
        let search = SearchSummary {
            id: "7k2m9qrt".into(),
            at_ms: 1_000_000,
            entry_point: "cli".into(),
            query: Some("two\nlines".into()),
            model: None,
            method: "background".into(),
            kept: 3,
            candidates: 1200,
            relevant: 2,
            not_relevant: 0,
        };
        let other =
            SearchSummary { id: "0abcdefg".into(), query: None, entry_point: "import".into(), ..search.clone() };
        let now = UNIX_EPOCH + Duration::from_secs(1000 + 7200);
        insta::assert_snapshot!(plain(|out| searches(out, &[search, other], now)), @r"
         query     when         from    kept     of  relevant  not  cut         text
         7k2m9qrt  2 hours ago  cli        3  1,200         2    0  background  two lines
         0abcdefg  2 hours ago  import     3  1,200         2    0  background
        ");
    }

    #[test]
    fn an_import_says_what_it_left_out() {
        let report = ImportReport { queries: 30, relevant: 31, not_relevant: 1, ..ImportReport::default() };
        let shown = plain(|out| imported(out, &report));
        assert_eq!(shown, "30 judged queries with 31 passages relevant and 1 that is not\n");
        let report = ImportReport { queries: 1, outside_pool: 2, skipped: 1, unknown_documents: 4, ..report };
        insta::assert_snapshot!(plain(|out| imported(out, &report)), @r"
        1 judged query with 31 passages relevant and 1 that is not; 2 of the relevant outside the pool
          1 query left out: no relevant document is in the index
          4 judgements left out: the document is not in the index
        ");
    }
}
