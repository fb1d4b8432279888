//! How many calls are being worked on, for what waits until there are none.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The calls that are being worked on or wait for their turn.
#[derive(Debug, Default)]
pub(crate) struct Load {
    calls: AtomicUsize,
    /// Milliseconds from the first use of this to the end of the last call.
    ended: AtomicU64,
}

/// One call; it is over when this is dropped.
#[derive(Debug)]
pub(crate) struct Working(Arc<Load>);

/// The time from which the ends of calls are counted.
fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

fn now() -> u64 {
    u64::try_from(start().elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Load {
    /// A call begins.
    pub fn enter(self: &Arc<Self>) -> Working {
        self.calls.fetch_add(1, SeqCst);
        Working(self.clone())
    }

    /// How many there are.
    pub fn calls(&self) -> usize {
        self.calls.load(SeqCst)
    }

    /// Whether there is none, and there was none for as long.
    pub fn is_quiet(&self, pause: Duration) -> bool {
        let ended = self.ended.load(SeqCst);
        self.calls() == 0 && (ended == 0 || u128::from(now().saturating_sub(ended)) >= pause.as_millis())
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.ended.store(now().max(1), SeqCst);
        self.0.calls.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_quiet_before_the_first_call_and_a_while_after_the_last() {
        let load = Arc::new(Load::default());
        assert!(load.is_quiet(Duration::from_secs(60)));
        let working = load.enter();
        assert!(!load.is_quiet(Duration::ZERO));
        drop(working);
        assert!(load.is_quiet(Duration::ZERO) && !load.is_quiet(Duration::from_secs(60)));
    }
}
