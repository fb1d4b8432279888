//! The usage log: searches with their evidence, and the feedback on them.
//!
//! Of the unjudged searches the last [`RETAINED`](crate::RETAINED) stay, at 8 KB each for a pool of 200; judged ones stay
//! until they are forgotten. Passages are identified by their public identifiers, which survive a rebuilt index. The table
//! `usage_quality` has one small row for every query ([`QueryQuality`](crate::QueryQuality)), for statistics.
//!
//! This file has the log on any [`Database`], with the statements of each call; `rows` reads and adds the rows of each table.
//!
//! `embedded` keeps the log in a SQLite file: `usage.db` beside the index, a database of its own, so that a search never waits for an index
//! run, and the index can be rebuilt without losing feedback. The one in PostgreSQL is with the rest of that store.

#[cfg(test)]
pub(crate) mod contract_tests;
mod embedded;
pub(crate) mod rows;

use std::collections::HashSet;
use std::time::Duration;

use crate::error::{Result, StoreError};
use crate::session::{Lock, Row, Session, Value, all, first, read, values};
use crate::store::UsageLog;
use crate::usage_record::{
    JudgedSearch, Judgement, LoggedOpening, LoggedSearch, OpenedCount, Opening, Purged, QueryQuality, RETAINED,
    RETAINED_QUALITY, RecordedSearch, SearchSummary,
};
use rows::{COUNTS, SHOWN};

pub(crate) use embedded::FILE;
pub use embedded::{EmbeddedUsageLog, UsageCheck};

/// A database that keeps a log in the tables `usage_…`.
pub(crate) trait Database: Send + Sync {
    /// What a session fails with.
    type Error: From<StoreError>;

    /// Reads by single statements.
    fn ask<T: Default>(&self, work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>) -> Result<T>;

    /// Reads by several statements that see the same.
    fn read<T: Default>(&self, work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>) -> Result<T>;

    /// Writes all or nothing. `work` may run several times, and takes a lock before it writes.
    fn write<T>(
        &self,
        patience: Patience,
        work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>,
    ) -> Result<T>;

    /// Makes feedback as safe as it can be, once it is written.
    fn settle(&self) {}

    /// Makes deleted rows leave the disk too. Whoever reads now may delay that to the next time.
    fn shrink(&self);
}

/// How a writer waits for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// At most [`IMPATIENT`], as a search waits for it. What is written may be lost if the machine breaks down
    /// in the next moments.
    Short,
    /// [`PATIENT`].
    Long,
}

/// The time that recording a search waits for another process before it gives up.
pub(crate) const IMPATIENT: Duration = Duration::from_millis(50);

/// The time that everything else waits.
pub(crate) const PATIENT: Duration = Duration::from_secs(5);

/// Old records are deleted after this many new ones, so the number kept is exact to it.
const PURGE_EVERY: i64 = 64;

/// Searches of a caller that are looked through for one that showed a passage.
const LOOKED_THROUGH: i64 = 50;

/// Checks that a search can be recorded.
pub(crate) fn check(search: &RecordedSearch) -> Result<()> {
    if search.kept as usize > search.candidates.len() {
        let reason = format!("{} kept of {} candidates", search.kept, search.candidates.len());
        return Err(StoreError::Invalid { what: format!("search {}", search.id), reason });
    }
    Ok(())
}

/// A limit as SQL takes it.
pub(crate) fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The values for a condition on a period and a limit.
pub(crate) fn period(since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> [Value; 3] {
    [since_ms.unwrap_or(i64::MIN), until_ms.unwrap_or(i64::MAX), at_most(limit)].map(Value::Integer)
}

impl<D: Database> UsageLog for D {
    fn record_query(&self, search: &RecordedSearch, quality: Option<&QueryQuality>) -> Result<()> {
        check(search)?;
        let (number, of_quality) = self.write(Patience::Short, async |session| {
            session.lock(Lock::Searches(&[&search.id])).await?;
            let Some(number) = rows::insert_search(session, search).await? else {
                let reason = "a search with this identifier is recorded already".to_owned();
                return Err(StoreError::Invalid { what: format!("search {}", search.id), reason }.into());
            };
            let of_quality = match quality {
                Some(quality) => rows::insert_quality(session, quality).await?,
                None => None,
            };
            Ok((number, of_quality))
        })?;
        // The search is recorded. What goes wrong here is made up for the next time.
        if number % PURGE_EVERY == 0 {
            let _ = self.write(Patience::Short, async |session| {
                rows::old_searches(session, at_most(RETAINED), rows::AT_ONCE).await
            });
        }
        if let Some(last) = of_quality.filter(|number| number % PURGE_EVERY == 0) {
            let _ = self.write(Patience::Short, async |session| {
                rows::old_quality(session, last - at_most(RETAINED_QUALITY)).await
            });
        }
        Ok(())
    }

    fn judge(&self, id: &str, judged: &[(&str, bool)], at_ms: i64) -> Result<Option<Vec<Judgement>>> {
        let recorded = self.write(Patience::Long, async |session| {
            session.lock(Lock::Labels).await?;
            // Once it is changed, the search stays until the transaction ends.
            let found = match judged {
                [] => "SELECT namespace, number, candidate_ids FROM usage_searches WHERE id = $1",
                _ => "UPDATE usage_searches SET judged = true WHERE id = $1 RETURNING namespace, number, candidate_ids",
            };
            let found: Option<(String, i64, Vec<String>)> =
                first(session, found, values![id], |row| Ok((row.next()?, row.next()?, row.next()?))).await?;
            let Some((namespace, number, candidates)) = found else { return Ok(None) };
            let candidates: HashSet<&str> = candidates.iter().map(String::as_str).collect();
            let mut recorded = Vec::with_capacity(judged.len());
            for &(passage, relevant) in judged {
                let (passage, in_pool) = (passage.to_owned(), candidates.contains(passage));
                let judgement = Judgement { passage, relevant, in_pool, at_ms };
                rows::insert_judgement(session, &namespace, number, &judgement).await?;
                recorded.push(judgement);
            }
            Ok(Some(recorded))
        })?;
        self.settle();
        Ok(recorded)
    }

    fn unjudge(&self, id: &str, passages: &[&str]) -> Result<Option<u64>> {
        let removed = self.write(Patience::Long, async |session| {
            session.lock(Lock::Labels).await?;
            let select = "SELECT namespace, query_hash FROM usage_searches WHERE id = $1";
            let found: Option<(String, [u8; 32])> =
                first(session, select, values![id], |row| Ok((row.next()?, row.next()?))).await?;
            let Some((namespace, query_hash)) = found else { return Ok(None) };
            let mut removed = 0;
            for &passage in passages {
                let delete = "DELETE FROM usage_judgements WHERE namespace = $1 AND passage = $2 AND search IN \
                     (SELECT number FROM usage_searches WHERE namespace = $1 AND query_hash = $3 AND judged)";
                removed += session.execute(delete, values![&namespace, passage, query_hash.as_slice()]).await?;
            }
            let unjudged = "UPDATE usage_searches SET judged = false WHERE namespace = $1 AND query_hash = $2 AND judged \
                 AND NOT EXISTS (SELECT 1 FROM usage_judgements j WHERE j.namespace = $1 AND j.search = usage_searches.number)";
            session.execute(unjudged, values![&namespace, query_hash.as_slice()]).await?;
            Ok(Some(removed))
        })?;
        self.settle();
        Ok(removed)
    }

    fn record_opened(&self, opening: &Opening<'_>) -> Result<u64> {
        let &Opening { passages, caller, entry_point, at_ms, since_ms } = opening;
        if passages.is_empty() {
            return Ok(0);
        }
        self.write(Patience::Short, async |session| {
            let select = format!(
                "{SHOWN} WHERE caller = $1 AND at_ms >= $2 AND shown IS NOT NULL ORDER BY number DESC LIMIT $3"
            );
            let recent = values![caller.bytes(), since_ms, LOOKED_THROUGH];
            let searches = all(session, &select, recent, |row| rows::shown(row, passages)).await?;
            // Most openings follow no search, and those write nothing.
            let Some(search) = searches.into_iter().find(|search| !search.passages.is_empty()) else { return Ok(0) };
            session.lock(Lock::Labels).await?;
            // The search may be deleted at the same time. It is then waited for, and nothing is added.
            let select = format!(
                "SELECT number FROM usage_searches WHERE namespace = $1 AND number = $2{}",
                session.dialect().stays
            );
            let number = first(session, &select, values![&search.namespace, search.number], Row::next::<i64>).await?;
            let Some(number) = number else { return Ok(0) };
            let mut added = 0;
            for passage in search.passages {
                let opening = LoggedOpening { passage, entry_point: entry_point.to_owned(), at_ms };
                added += rows::insert_opening(session, &search.namespace, number, &opening).await?;
            }
            Ok(added)
        })
    }

    fn narrow_shown(&self, id: &str, passages: &[&str]) -> Result<()> {
        self.write(Patience::Short, async |session| {
            session.lock(Lock::Rows).await?;
            let select = format!("{SHOWN} WHERE id = $1 AND shown IS NOT NULL");
            if let Some(search) = first(session, &select, values![id], |row| rows::shown(row, passages)).await? {
                let update = "UPDATE usage_searches SET shown = $3 WHERE namespace = $1 AND number = $2";
                session.execute(update, values![&search.namespace, search.number, search.positions]).await?;
            }
            Ok(())
        })
    }

    fn opened_count(
        &self,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
        namespace: Option<&str>,
    ) -> Result<OpenedCount> {
        let select = "SELECT count(DISTINCT search), count(*) FROM usage_openings WHERE at_ms >= $1 AND at_ms < $2 \
             AND (CAST($3 AS text) IS NULL OR namespace = $3)";
        let [since, until, _] = period(since_ms, until_ms, 0);
        let values = &[since, until, namespace.into()];
        let count = |row: &mut Row| Ok(read!(row => OpenedCount { searches, passages }));
        self.ask(async |session| Ok(first(session, select, values, count).await?.unwrap_or_default()))
    }

    fn forget(&self, id: &str) -> Result<bool> {
        self.write(Patience::Long, async |session| {
            session.lock(Lock::Rows).await?;
            Ok(session.execute("DELETE FROM usage_searches WHERE id = $1", values![id]).await? > 0)
        })
    }

    fn purge(&self) -> Result<u64> {
        self.write(Patience::Long, async |session| rows::old_searches(session, at_most(RETAINED), i64::MAX).await)
    }

    fn purge_telemetry(&self, judged: bool) -> Result<Purged> {
        let purged = self.write(Patience::Long, async |session| {
            session.lock(Lock::Labels).await?;
            let count =
                async |select: &str| first(session, select, &[], Row::next::<u64>).await.map(Option::unwrap_or_default);
            let judgements = if judged { count("SELECT count(*) FROM usage_judgements").await? } else { 0 };
            let queries = session.execute("DELETE FROM usage_quality", &[]).await?;
            let searches =
                session.execute("DELETE FROM usage_searches WHERE NOT judged OR $1", values![judged]).await?;
            let judged_kept = count("SELECT count(*) FROM usage_searches WHERE judged").await?;
            session.execute("DELETE FROM usage_openings", &[]).await?;
            Ok(Purged { queries, searches, judgements, judged_kept })
        })?;
        self.shrink();
        Ok(purged)
    }

    fn search(&self, id: &str) -> Result<Option<RecordedSearch>> {
        self.ask(async |session| {
            Ok(rows::searches(session, "id = $1", values![id]).await?.pop().map(|found| found.search))
        })
    }

    fn recent(&self, limit: usize) -> Result<Vec<SearchSummary>> {
        let select = "SELECT number, namespace, id, at_ms, entry_point, query_text, model, method, kept, candidates, 0, 0 \
             FROM usage_searches ORDER BY number DESC LIMIT $1";
        let read = |row: &mut Row| {
            let search: (i64, String) = (row.next()?, row.next()?);
            let summary = read!(row => SearchSummary {
                id, at_ms, entry_point, query, model, method, kept, candidates, relevant, not_relevant,
            });
            Ok((search, summary))
        };
        self.read(async |session| {
            let mut summaries = all(session, select, values![at_most(limit)], read).await?;
            let searches = summaries.iter().map(|((number, namespace), _)| (*number, namespace.as_str()));
            let judged = rows::judgements(session, searches, COUNTS).await?;
            for ((number, _), summary) in &mut summaries {
                let judgements = judged.get(number).map_or(&[][..], Vec::as_slice);
                summary.relevant = judgements.iter().filter(|judgement| judgement.relevant).count() as u32;
                summary.not_relevant = judgements.len() as u32 - summary.relevant;
            }
            Ok(summaries.into_iter().map(|(_, summary)| summary).collect())
        })
    }

    fn search_ids(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<String>> {
        let select = "SELECT id FROM usage_searches WHERE at_ms >= $1 AND at_ms < $2 ORDER BY number DESC LIMIT $3";
        let period = period(since_ms, until_ms, limit);
        let mut ids: Vec<String> = self.ask(async |session| all(session, select, &period, Row::next).await)?;
        ids.reverse();
        Ok(ids)
    }

    fn judged(&self) -> Result<Vec<JudgedSearch>> {
        self.read(async |session| rows::judged_searches(session, "judged", &[]).await)
    }

    fn judged_as(&self, query_hash: &[u8; 32], namespace: &str) -> Result<Vec<JudgedSearch>> {
        let condition = "judged AND query_hash = $1 AND namespace = $2";
        let values = values![query_hash.as_slice(), namespace];
        self.read(async |session| rows::judged_searches(session, condition, values).await)
    }

    fn judgements(&self, id: &str) -> Result<Vec<Judgement>> {
        let select = "SELECT number, namespace FROM usage_searches WHERE id = $1";
        self.read(async |session| {
            let search: Option<(i64, String)> =
                first(session, select, values![id], |row| Ok((row.next()?, row.next()?))).await?;
            let search = search.iter().map(|(number, namespace)| (*number, namespace.as_str()));
            Ok(rows::judgements(session, search, COUNTS).await?.into_values().next().unwrap_or_default())
        })
    }

    fn judgement_version(&self) -> Result<(i64, i64)> {
        let select = "SELECT count(*), coalesce(max(number), 0) FROM usage_judgements";
        let version = |row: &mut Row| Ok((row.next()?, row.next()?));
        self.ask(async |session| Ok(first(session, select, &[], version).await?.unwrap_or_default()))
    }

    fn quality(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<QueryQuality>> {
        let condition = "at_ms >= $1 AND at_ms < $2 ORDER BY at_ms DESC, number DESC LIMIT $3";
        let period = period(since_ms, until_ms, limit);
        let found = self.ask(async |session| rows::quality(session, condition, &period).await)?;
        Ok(found.into_iter().rev().map(|(_, quality)| quality).collect())
    }

    fn logged_searches(&self, after: i64, limit: usize) -> Result<Vec<LoggedSearch>> {
        let condition = "number > $1 ORDER BY number LIMIT $2";
        let values = values![after, at_most(limit)];
        self.read(async |session| rows::logged(session, condition, values).await)
    }

    fn logged(&self, ids: &[&str]) -> Result<Vec<Option<LoggedSearch>>> {
        let mut found = self.read(async |session| rows::find_logged(session, ids).await)?;
        Ok(ids.iter().map(|id| found.remove(*id)).collect())
    }

    fn add_searches(&self, searches: &[LoggedSearch]) -> Result<u64> {
        searches.iter().try_for_each(|logged| check(&logged.search))?;
        let ids: Vec<&str> = searches.iter().map(|logged| logged.search.id.as_str()).collect();
        self.write(Patience::Long, async |session| {
            session.lock(Lock::Labels).await?;
            // Whoever records a search with one of these identifiers waits, and finds it taken.
            session.lock(Lock::Searches(&ids)).await?;
            rows::add_missing(session, searches, &rows::find_logged(session, &ids).await?).await
        })
    }

    fn logged_quality(&self, after: i64, limit: usize) -> Result<Vec<(i64, QueryQuality)>> {
        let condition = "number > $1 ORDER BY number LIMIT $2";
        self.ask(async |session| rows::quality(session, condition, values![after, at_most(limit)]).await)
    }

    fn add_quality(&self, rows: &[QueryQuality]) -> Result<()> {
        self.write(Patience::Long, async |session| {
            session.lock(Lock::Rows).await?;
            for row in rows {
                rows::insert_quality(session, row).await?;
            }
            Ok(())
        })
    }
}
