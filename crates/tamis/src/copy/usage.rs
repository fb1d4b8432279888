//! Copying recorded searches, what people said of them, and the quality figures of queries.

use super::report::{Compared, CopyReport};
use crate::Error;
use crate::progress::{Observer, Stage};
use std::collections::HashSet;
use tamis_store::{Judgement, LoggedOpening, LoggedSearch, QueryQuality, UsageLog};

/// Searches of one transaction.
const SEARCHES: usize = 100;
/// Quality figures of one transaction.
const ROWS: usize = 1_000;

/// Copies a log, or what concerns these namespaces alone, and compares both. Returns `false` if the observer stopped it.
pub(super) fn copy(
    from: &dyn UsageLog,
    to: &dyn UsageLog,
    namespaces: &[String],
    observer: &dyn Observer,
    report: &mut CopyReport,
) -> Result<bool, Error> {
    observer.stage(Stage::Copy("recorded searches".to_owned()), 0);
    let all = all_searches(from)?;
    let searches: Vec<&LoggedSearch> = all.iter().filter(|one| concerns(&one.search.namespace, namespaces)).collect();
    for batch in searches.chunks(SEARCHES) {
        if observer.cancelled() {
            return Ok(false);
        }
        let there = named(to, batch)?;
        let missing: Vec<LoggedSearch> = batch
            .iter()
            .zip(there)
            .filter(|(search, there)| !there.as_ref().is_some_and(|there| holds_labels(there, search)))
            .map(|(search, _)| (*search).clone())
            .collect();
        if !missing.is_empty() {
            report.written.searches += to.add_searches(&missing)?;
        }
        observer.advance(batch.len() as u64);
    }
    report.searches = compare_searches(to, &searches)?;
    copy_quality(from, to, namespaces, observer, report)
}

/// True if a search named nothing but these namespaces; none stands for all.
fn concerns(named: &str, namespaces: &[String]) -> bool {
    namespaces.is_empty() || named.split(',').all(|name| namespaces.iter().any(|wanted| wanted == name))
}

fn all_searches(log: &dyn UsageLog) -> Result<Vec<LoggedSearch>, Error> {
    let mut all: Vec<LoggedSearch> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last.number);
        let batch = log.logged_searches(after, SEARCHES)?;
        if batch.is_empty() {
            return Ok(all);
        }
        all.extend(batch);
    }
}

fn named(log: &dyn UsageLog, searches: &[&LoggedSearch]) -> Result<Vec<Option<LoggedSearch>>, Error> {
    Ok(log.logged(&searches.iter().map(|one| one.search.id.as_str()).collect::<Vec<_>>())?)
}

/// True if a search has all judgements and openings of another one.
fn holds_labels(there: &LoggedSearch, search: &LoggedSearch) -> bool {
    let judgements: HashSet<&Judgement> = there.judgements.iter().collect();
    let openings: HashSet<&str> = there.openings.iter().map(|opening| opening.passage.as_str()).collect();
    let is_opened = |opening: &LoggedOpening| openings.contains(opening.passage.as_str());
    search.judgements.iter().all(|one| judgements.contains(one)) && search.openings.iter().all(is_opened)
}

fn compare_searches(to: &dyn UsageLog, searches: &[&LoggedSearch]) -> Result<Compared, Error> {
    let mut compared = Compared { from: searches.len() as u64, ..Compared::default() };
    for batch in searches.chunks(SEARCHES) {
        for (search, there) in batch.iter().zip(named(to, batch)?) {
            let Some(there) = there else {
                compared.different += 1;
                continue;
            };
            compared.to += 1;
            compared.different += u64::from(there.search != search.search || !holds_labels(&there, search));
        }
    }
    Ok(compared)
}

/// What tells the figures of two queries apart.
type QueryKey = (i64, [u8; 32], String, String, Option<String>);

fn query_key(row: &QueryQuality) -> QueryKey {
    (row.at_ms, row.query_hash, row.entry_point.clone(), row.namespace.clone(), row.search_id.clone())
}

fn all_quality(log: &dyn UsageLog, namespaces: &[String]) -> Result<Vec<QueryQuality>, Error> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let batch = log.logged_quality(after, ROWS)?;
        let Some((last, _)) = batch.last() else { return Ok(all) };
        after = *last;
        all.extend(batch.into_iter().map(|(_, row)| row).filter(|row| concerns(&row.namespace, namespaces)));
    }
}

fn copy_quality(
    from: &dyn UsageLog,
    to: &dyn UsageLog,
    namespaces: &[String],
    observer: &dyn Observer,
    report: &mut CopyReport,
) -> Result<bool, Error> {
    let rows = all_quality(from, namespaces)?;
    let keys = |rows: &[QueryQuality]| -> HashSet<QueryKey> { rows.iter().map(query_key).collect() };
    let there = keys(&all_quality(to, namespaces)?);
    let missing: Vec<QueryQuality> = rows.iter().filter(|row| !there.contains(&query_key(row))).cloned().collect();
    for batch in missing.chunks(ROWS) {
        if observer.cancelled() {
            return Ok(false);
        }
        to.add_quality(batch)?;
        report.written.queries += batch.len() as u64;
    }
    let found = all_quality(to, namespaces)?;
    let there = keys(&found);
    let different = rows.iter().filter(|row| !there.contains(&query_key(row))).count() as u64;
    report.queries = Compared { from: rows.len() as u64, to: found.len() as u64, different };
    Ok(true)
}
