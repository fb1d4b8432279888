//! Counts the calls in progress, so that background work can wait until there are none.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The number of calls in progress or waiting for their turn.
#[derive(Debug, Default)]
pub(crate) struct ActiveCalls {
    count: AtomicUsize,
    /// Milliseconds from the first use of the clock to the end of the last call; 0 before any call has ended.
    last_end: AtomicU64,
}

/// A call in progress; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ActiveCall(Arc<ActiveCalls>);

/// Milliseconds since the first use of this clock.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl ActiveCalls {
    /// Begins a call.
    pub fn begin(self: &Arc<Self>) -> ActiveCall {
        self.count.fetch_add(1, SeqCst);
        ActiveCall(self.clone())
    }

    /// The number of calls.
    pub fn count(&self) -> usize {
        self.count.load(SeqCst)
    }

    /// True if no call has been in progress for at least `pause`.
    pub fn is_quiet(&self, pause: Duration) -> bool {
        let last_end = self.last_end.load(SeqCst);
        self.count() == 0 && (last_end == 0 || u128::from(now().saturating_sub(last_end)) >= pause.as_millis())
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.0.last_end.store(now().max(1), SeqCst);
        self.0.count.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_quiet_before_the_first_call_and_a_while_after_the_last() {
        let calls = Arc::new(ActiveCalls::default());
        assert!(calls.is_quiet(Duration::from_secs(60)));
        let call = calls.begin();
        assert!(!calls.is_quiet(Duration::ZERO));
        drop(call);
        assert!(calls.is_quiet(Duration::ZERO) && !calls.is_quiet(Duration::from_secs(60)));
    }
}
