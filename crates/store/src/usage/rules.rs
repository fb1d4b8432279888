//! What holds for every usage log, whatever keeps it: waits, limits, and the form of what is recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::{Result, StoreError};
use crate::session::Value;
use crate::usage_record::RecordedSearch;

/// The time that recording a search waits for another process before it gives up.
pub(crate) const IMPATIENT: Duration = Duration::from_millis(50);

/// The time that everything else waits.
pub(crate) const PATIENT: Duration = Duration::from_secs(5);

/// Old records are deleted after this many new ones, so the number kept is exact to it.
pub(super) const PURGE_EVERY: i64 = 64;

/// Searches of a caller that are looked through for one that showed a passage.
pub(super) const LOOKED_THROUGH: i64 = 50;

/// Checks that a search can be recorded.
pub(super) fn check(search: &RecordedSearch) -> Result<()> {
    if search.kept as usize > search.candidates.len() {
        let reason = format!("{} kept of {} candidates", search.kept, search.candidates.len());
        return Err(StoreError::Invalid { what: format!("search {}", search.id), reason });
    }
    Ok(())
}

/// A figure, unless it is infinite or not a number.
pub(super) fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// The stages as JSON, in milliseconds, exact to the microsecond.
pub(super) fn stages(milliseconds: &BTreeMap<String, f64>) -> String {
    let known = milliseconds.iter().filter(|(_, value)| value.is_finite());
    let rounded = known.map(|(stage, value)| (stage.clone(), ((value * 1000.0).round() / 1000.0).into()));
    serde_json::Value::Object(rounded.collect()).to_string()
}

/// A limit as SQL takes it.
pub(super) fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The values for a condition on a period and a limit.
pub(super) fn period(since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> [Value; 3] {
    [since_ms.unwrap_or(i64::MIN), until_ms.unwrap_or(i64::MAX), at_most(limit)].map(Value::Integer)
}
