//! The usage log in PostgreSQL: searches with their evidence, and the feedback on them, from all servers.
//!
//! It follows the embedded log, [`crate::usage`], and shares its rules. `recording` and `openings` hold what a search waits for: it gives
//! up soon, and does not wait for the server's disk. `judging`, `grades` and `deleting` write feedback, which waits and is on the disk
//! when it is acknowledged. `searches`, `judgements` and `quality` read it back. `exchange` hands a log's
//! records to another log.

mod deleting;
mod exchange;
mod judgements;
mod judging;
mod openings;
mod quality;
mod recording;
mod searches;
#[cfg(test)]
mod tests;
mod text;
mod transactions;

use super::PostgresStore;
use super::connection::Connections;
use crate::error::Result;
use crate::store::{Usage, UsageLog};
use crate::usage_record::{
    JudgedSearch, Judgement, LabelVersion, LoggedGrade, LoggedSearch, OpenedCount, OpenedSearch, Opening, Purged,
    QueryQuality, RecordedSearch, SearchSummary,
};

impl Usage for PostgresStore {
    fn usage(&self) -> Result<&dyn UsageLog> {
        Ok(&self.connections)
    }
}

/// The log needs nothing but connections.
impl UsageLog for Connections {
    fn record_query(&self, search: &RecordedSearch, quality: Option<&QueryQuality>) -> Result<()> {
        recording::record(self, search, quality)
    }

    fn judge(&self, id: &str, judged: &[(&str, bool)], at_ms: i64) -> Result<Option<Vec<Judgement>>> {
        judging::judge(self, id, judged, at_ms)
    }

    fn record_opened(&self, opening: &Opening<'_>) -> Result<u64> {
        openings::record(self, opening)
    }

    fn narrow_shown(&self, id: &str, passages: &[&str]) -> Result<()> {
        openings::narrow(self, id, passages)
    }

    fn opened(&self, limit: usize) -> Result<Vec<OpenedSearch>> {
        openings::list(self, limit)
    }

    fn opened_count(
        &self,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
        namespace: Option<&str>,
    ) -> Result<OpenedCount> {
        openings::count(self, since_ms, until_ms, namespace)
    }

    fn forget(&self, id: &str) -> Result<bool> {
        deleting::forget(self, id)
    }

    fn purge(&self) -> Result<u64> {
        deleting::purge(self, crate::RETAINED)
    }

    fn purge_telemetry(&self, judged: bool) -> Result<Purged> {
        deleting::purge_telemetry(self, judged)
    }

    fn search(&self, id: &str) -> Result<Option<RecordedSearch>> {
        searches::find(self, id)
    }

    fn recent(&self, limit: usize) -> Result<Vec<SearchSummary>> {
        searches::recent(self, limit)
    }

    fn search_ids(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<String>> {
        searches::ids(self, since_ms, until_ms, limit)
    }

    fn judged(&self) -> Result<Vec<JudgedSearch>> {
        searches::judged(self)
    }

    fn judged_as(&self, query_hash: &[u8; 32], namespace: &str) -> Result<Vec<JudgedSearch>> {
        searches::judged_as(self, query_hash, namespace)
    }

    fn judgements(&self, id: &str) -> Result<Vec<Judgement>> {
        judgements::of_search(self, id)
    }

    fn label_version(&self) -> Result<LabelVersion> {
        judgements::version(self)
    }

    fn quality(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<QueryQuality>> {
        quality::read(self, since_ms, until_ms, limit)
    }

    fn logged_searches(&self, after: i64, limit: usize) -> Result<Vec<LoggedSearch>> {
        exchange::searches(self, after, limit)
    }

    fn logged(&self, ids: &[&str]) -> Result<Vec<Option<LoggedSearch>>> {
        exchange::searches_named(self, ids)
    }

    fn add_searches(&self, searches: &[LoggedSearch]) -> Result<u64> {
        exchange::add_searches(self, searches)
    }

    fn logged_grades(&self, after: i64, limit: usize) -> Result<Vec<LoggedGrade>> {
        exchange::grades(self, after, limit)
    }

    fn add_grades(&self, grades: &[LoggedGrade]) -> Result<u64> {
        exchange::add_grades(self, grades)
    }

    fn logged_quality(&self, after: i64, limit: usize) -> Result<Vec<(i64, QueryQuality)>> {
        quality::numbered(self, after, limit)
    }

    fn add_quality(&self, rows: &[QueryQuality]) -> Result<()> {
        exchange::add_quality(self, rows)
    }
}
