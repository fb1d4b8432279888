//! Recorded searches and the feedback on them.

use crate::error::Result;
use crate::usage_record::{
    JudgedSearch, Judgement, LabelVersion, LoggedSearch, OpenedCount, OpenedSearch, Opening, Purged, QueryQuality,
    RecordedSearch, SearchSummary,
};

/// Gives access to a store's usage log.
pub trait Usage: Send + Sync {
    /// Returns the usage log, opened on first use. A log that could not be opened is tried again next time.
    fn usage(&self) -> Result<&dyn UsageLog>;
}

/// Records searches and what people said about their results.
///
/// Recording gives up rather than wait; judging waits, because feedback must not be lost. The log has no clock: callers
/// pass the time. All methods fail when the log cannot be read, and those that write also when it is read-only, busy or
/// full.
pub trait UsageLog: Send + Sync {
    /// Records a search and, if given, the quality row of its query: both or neither. Waits at most 50 ms for another
    /// process, so that a search is hardly delayed. Fails when the identifier is taken.
    fn record_query(&self, search: &RecordedSearch, quality: Option<&QueryQuality>) -> Result<()>;

    /// Records a search alone, as [`record_query`](UsageLog::record_query) does.
    fn record(&self, search: &RecordedSearch) -> Result<()> {
        self.record_query(search, None)
    }

    /// Records judgements of passages for the search called `id`. Each pair holds a passage's public identifier, and
    /// `true` if the passage answers the query. The last judgement of a passage counts. Returns the judgements as
    /// recorded, in the order given; `None` if the search does not exist.
    fn judge(&self, id: &str, judged: &[(&str, bool)], at_ms: i64) -> Result<Option<Vec<Judgement>>>;

    /// Takes back all judgements of passages, by their public identifiers, in the search called `id` and in the others of the same
    /// question under the same namespace label. Returns the number of judgements that are gone; `None` if the search does not exist.
    fn unjudge(&self, id: &str, passages: &[&str]) -> Result<Option<u64>>;

    /// Records that a caller opened passages, at its latest search that showed one of them, and returns how many are newly
    /// opened there. Opening a passage again changes nothing. Waits no longer than recording does.
    fn record_opened(&self, opening: &Opening<'_>) -> Result<u64>;

    /// Reduces what the search called `id` showed to these passages, where an answer was shown in part.
    fn narrow_shown(&self, id: &str, passages: &[&str]) -> Result<()>;

    /// Returns the last `limit` searches with an opened result, earliest first.
    fn opened(&self, limit: usize) -> Result<Vec<OpenedSearch>>;

    /// Returns the number of results opened from `since_ms` up to before `until_ms` (`None`: unbounded), of the searches of
    /// one namespace (`None`: all).
    fn opened_count(
        &self,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
        namespace: Option<&str>,
    ) -> Result<OpenedCount>;

    /// Deletes a search with its judgements. Returns `true` if it existed.
    fn forget(&self, id: &str) -> Result<bool>;

    /// Deletes unjudged searches except the last [`RETAINED`](crate::RETAINED), and returns their number. Recording
    /// does the same from time to time.
    fn purge(&self) -> Result<u64>;

    /// Deletes everything recorded about queries. Judged searches stay unless `judged` is set.
    fn purge_telemetry(&self, judged: bool) -> Result<Purged>;

    /// Returns the search called `id`.
    fn search(&self, id: &str) -> Result<Option<RecordedSearch>>;

    /// Returns the last `limit` searches, latest first, with the number of judgements of each.
    fn recent(&self, limit: usize) -> Result<Vec<SearchSummary>>;

    /// Returns the identifiers of the last `limit` searches from `since_ms` up to before `until_ms` (milliseconds since
    /// 1970; `None`: unbounded), earliest first.
    fn search_ids(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<String>>;

    /// Returns every judged search, earliest first, with the judgements that count.
    fn judged(&self) -> Result<Vec<JudgedSearch>>;

    /// Returns the judged searches of one query under one namespace label, earliest first, with the judgements that count.
    /// Without any it reads no search.
    fn judged_as(&self, query_hash: &[u8; 32], namespace: &str) -> Result<Vec<JudgedSearch>>;

    /// Returns the judgements that count for a search; empty if the search does not exist.
    fn judgements(&self, id: &str) -> Result<Vec<Judgement>>;

    /// Returns what changes with every judgement and opening that is added or deleted.
    fn label_version(&self) -> Result<LabelVersion>;

    /// Returns the quality rows of queries from `since_ms` up to before `until_ms` (milliseconds since 1970; `None`:
    /// unbounded): the last `limit`, earliest first.
    fn quality(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<QueryQuality>>;

    /// Returns searches with all that was recorded of them, in the order of recording: those after the number `after` (0: from
    /// the first), at most `limit`.
    fn logged_searches(&self, after: i64, limit: usize) -> Result<Vec<LoggedSearch>>;

    /// Returns searches by their identifiers with all that was recorded of them, in the order given; `None` for a missing one.
    fn logged(&self, ids: &[&str]) -> Result<Vec<Option<LoggedSearch>>>;

    /// Adds what another log recorded, in one transaction: searches whose identifier is new, and of the others the judgements
    /// and openings that are missing. Numbers are given anew, in the order given. Nothing is purged.
    /// Returns the number of searches that changed.
    fn add_searches(&self, searches: &[LoggedSearch]) -> Result<u64>;

    /// Returns the quality rows of queries with their numbers, in the order of recording: those after the number `after` (0:
    /// from the first), at most `limit`.
    fn logged_quality(&self, after: i64, limit: usize) -> Result<Vec<(i64, QueryQuality)>>;

    /// Adds quality rows of another log, in one transaction. Nothing is purged.
    fn add_quality(&self, rows: &[QueryQuality]) -> Result<()>;
}
