//! When a job that failed is tried again.

use std::time::Duration;

/// The longest wait between two tries.
pub const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// How long to wait before the next try: twice as long each time, up to [`LONGEST_WAIT`].
///
/// Exponential backoff, so that a service that is down is not asked again and again by every job at once.
pub fn backoff(tries: u32) -> Duration {
    let seconds = 2u64.saturating_pow(tries.min(16));
    Duration::from_secs(seconds).min(LONGEST_WAIT)
}

/// Whether a job is tried again after so many failures. The last one puts it aside for a person to look at.
pub fn may_retry(tries: u32, most: u32) -> bool {
    tries < most
}
