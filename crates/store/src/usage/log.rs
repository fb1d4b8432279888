//! The log, whatever database keeps it.

use super::database::{Database, Patience};
use super::rules::{PURGE_EVERY, at_most, check};
use super::{deleting, exchange, judgements, openings, quality, searches};
use crate::error::{Result, StoreError};
use crate::session::{Lock, values};
use crate::store::UsageLog;
use crate::usage_record::{
    JudgedSearch, Judgement, LabelVersion, LoggedSearch, OpenedCount, OpenedSearch, Opening, Purged, QueryQuality,
    RETAINED, RETAINED_QUALITY, RecordedSearch, SearchSummary,
};

impl<D: Database> UsageLog for D {
    fn record_query(&self, search: &RecordedSearch, quality: Option<&QueryQuality>) -> Result<()> {
        check(search)?;
        let (number, of_quality) = self.write(Patience::Short, async |session| {
            session.lock(Lock::Searches(&[&search.id])).await?;
            let Some(number) = searches::insert(session, search).await? else {
                let reason = "a search with this identifier is recorded already".to_owned();
                return Err(StoreError::Invalid { what: format!("search {}", search.id), reason }.into());
            };
            let of_quality = match quality {
                Some(quality) => quality::insert(session, quality).await?,
                None => None,
            };
            Ok((number, of_quality))
        })?;
        // The search is recorded. What goes wrong here is made up for the next time.
        if number % PURGE_EVERY == 0 {
            let _ = self.write(Patience::Short, async |session| {
                deleting::old_searches(session, at_most(RETAINED), deleting::AT_ONCE).await
            });
        }
        if let Some(last) = of_quality.filter(|number| number % PURGE_EVERY == 0) {
            let _ = self.write(Patience::Short, async |session| {
                deleting::old_quality(session, last - at_most(RETAINED_QUALITY)).await
            });
        }
        Ok(())
    }

    fn judge(&self, id: &str, judged: &[(&str, bool)], at_ms: i64) -> Result<Option<Vec<Judgement>>> {
        let recorded = self.write(Patience::Long, async |session| judgements::add(session, id, judged, at_ms).await)?;
        self.settle();
        Ok(recorded)
    }

    fn unjudge(&self, id: &str, passages: &[&str]) -> Result<Option<u64>> {
        let removed = self.write(Patience::Long, async |session| judgements::remove(session, id, passages).await)?;
        self.settle();
        Ok(removed)
    }

    fn record_opened(&self, opening: &Opening<'_>) -> Result<u64> {
        match opening.passages {
            [] => Ok(0),
            _ => self.write(Patience::Short, async |session| openings::record(session, opening).await),
        }
    }

    fn narrow_shown(&self, id: &str, passages: &[&str]) -> Result<()> {
        self.write(Patience::Short, async |session| openings::narrow(session, id, passages).await)
    }

    fn opened(&self, limit: usize) -> Result<Vec<OpenedSearch>> {
        self.read(async |session| openings::last(session, at_most(limit)).await)
    }

    fn opened_count(
        &self,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
        namespace: Option<&str>,
    ) -> Result<OpenedCount> {
        self.ask(async |session| openings::count(session, since_ms, until_ms, namespace).await)
    }

    fn forget(&self, id: &str) -> Result<bool> {
        self.write(Patience::Long, async |session| {
            session.lock(Lock::Rows).await?;
            Ok(session.execute("DELETE FROM usage_searches WHERE id = $1", values![id]).await? > 0)
        })
    }

    fn purge(&self) -> Result<u64> {
        self.write(Patience::Long, async |session| deleting::old_searches(session, at_most(RETAINED), i64::MAX).await)
    }

    fn purge_telemetry(&self, judged: bool) -> Result<Purged> {
        let purged = self.write(Patience::Long, async |session| deleting::everything(session, judged).await)?;
        self.shrink();
        Ok(purged)
    }

    fn search(&self, id: &str) -> Result<Option<RecordedSearch>> {
        self.ask(async |session| searches::named(session, id).await)
    }

    fn recent(&self, limit: usize) -> Result<Vec<SearchSummary>> {
        self.read(async |session| searches::recent(session, at_most(limit)).await)
    }

    fn search_ids(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<String>> {
        self.ask(async |session| searches::ids(session, since_ms, until_ms, limit).await)
    }

    fn judged(&self) -> Result<Vec<JudgedSearch>> {
        self.read(async |session| searches::judged(session, "judged", &[]).await)
    }

    fn judged_as(&self, query_hash: &[u8; 32], namespace: &str) -> Result<Vec<JudgedSearch>> {
        let condition = "judged AND query_hash = $1 AND namespace = $2";
        let values = values![query_hash.as_slice(), namespace];
        self.read(async |session| searches::judged(session, condition, values).await)
    }

    fn judgements(&self, id: &str) -> Result<Vec<Judgement>> {
        self.read(async |session| judgements::of_search(session, id).await)
    }

    fn label_version(&self) -> Result<LabelVersion> {
        self.ask(async |session| judgements::version(session).await)
    }

    fn quality(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<QueryQuality>> {
        self.ask(async |session| quality::last(session, since_ms, until_ms, limit).await)
    }

    fn logged_searches(&self, after: i64, limit: usize) -> Result<Vec<LoggedSearch>> {
        let condition = "number > $1 ORDER BY number LIMIT $2";
        let values = values![after, at_most(limit)];
        self.read(async |session| exchange::logged(session, condition, values).await)
    }

    fn logged(&self, ids: &[&str]) -> Result<Vec<Option<LoggedSearch>>> {
        let mut found = self.read(async |session| exchange::named(session, ids).await)?;
        Ok(ids.iter().map(|id| found.remove(*id)).collect())
    }

    fn add_searches(&self, searches: &[LoggedSearch]) -> Result<u64> {
        searches.iter().try_for_each(|logged| check(&logged.search))?;
        self.write(Patience::Long, async |session| exchange::add_searches(session, searches).await)
    }

    fn logged_quality(&self, after: i64, limit: usize) -> Result<Vec<(i64, QueryQuality)>> {
        self.ask(async |session| quality::after(session, after, at_most(limit)).await)
    }

    fn add_quality(&self, rows: &[QueryQuality]) -> Result<()> {
        self.write(Patience::Long, async |session| {
            session.lock(Lock::Rows).await?;
            for row in rows {
                quality::insert(session, row).await?;
            }
            Ok(())
        })
    }
}
