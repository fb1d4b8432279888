//! Ages from dates.

/// Nanoseconds per day.
const DAY_NS: f64 = 86_400e9;

/// Days from `date_ns` to `now_ns`, both in nanoseconds since 1970; negative for a date in the future.
pub(crate) fn age_days(date_ns: i64, now_ns: i64) -> f64 {
    (now_ns as f64 - date_ns as f64) / DAY_NS
}
