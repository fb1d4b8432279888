//! Recorded searches and the feedback on them.

use crate::error::Result;
use crate::usage_record::{JudgedSearch, Judgement, PastQuery, Purged, QueryQuality, RecordedSearch, SearchSummary};

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

    /// Returns the judgements that count for a search; empty if the search does not exist.
    fn judgements(&self, id: &str) -> Result<Vec<Judgement>>;

    /// Returns the number of judgements and the number of the last one. The pair changes with every judgement that is
    /// added or deleted.
    fn judgement_count(&self) -> Result<(i64, i64)>;

    /// Returns coverage drop and evidence of the last `limit` searches of a namespace with this model, each query once.
    fn profile(&self, namespace: &str, model: Option<&str>, limit: usize) -> Result<Vec<PastQuery>>;

    /// Returns the quality rows of queries from `since_ms` up to before `until_ms` (milliseconds since 1970; `None`:
    /// unbounded): the last `limit`, earliest first. A log of an older version has none.
    fn quality(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<QueryQuality>>;
}
