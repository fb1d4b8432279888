//! An outage of the server: calls wait through a short one and fail at once in a long one.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::mutex::lock;

/// The longest that calls wait for a server that went away. A restart is shorter; the election of another primary may be longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Pause between two attempts to connect.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Time after a failed attempt to connect in which who reads goes to a standby at once.
const RECENT: Duration = Duration::from_secs(1);

/// The state of a server, as the attempts to connect to it show.
#[derive(Debug, Default)]
pub(super) struct Outage(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// The last failed attempt since a connection was made.
    failed: Option<Instant>,
}

#[derive(Debug, Default)]
enum Phase {
    /// No connection was made yet. The address may be wrong, so nobody waits.
    #[default]
    Unknown,
    Up,
    DownSince(Instant),
}

impl Outage {
    /// Notes a connection.
    pub fn ended(&self) {
        *lock(&self.0) = State { phase: Phase::Up, failed: None };
    }

    /// Notes a failed attempt to connect, and whether the server answered it. Returns true if another one is worth waiting for.
    pub fn is_short(&self, answered: bool) -> bool {
        self.is_short_at(Instant::now(), answered)
    }

    /// True if an attempt failed a moment ago and none succeeded since.
    pub fn is_recent(&self) -> bool {
        lock(&self.0).failed.is_some_and(|failed| failed.elapsed() < RECENT)
    }

    fn is_short_at(&self, now: Instant, answered: bool) -> bool {
        let mut state = lock(&self.0);
        state.failed = Some(now);
        match state.phase {
            Phase::Unknown if !answered => false,
            Phase::Unknown | Phase::Up => {
                state.phase = Phase::DownSince(now);
                true
            }
            Phase::DownSince(since) => now.saturating_duration_since(since) < PATIENCE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_outage_is_waited_for_and_a_long_one_is_not() {
        let (outage, start) = (Outage::default(), Instant::now());
        assert!(!outage.is_short_at(start, false), "a server that never answered");
        outage.ended();
        assert!(outage.is_short_at(start, false));
        assert!(outage.is_short_at(start + PATIENCE / 2, false));
        assert!(!outage.is_short_at(start + PATIENCE, false));
        // Another call in the same outage fails at once.
        assert!(!outage.is_short_at(start + PATIENCE + PAUSE, false));
        outage.ended();
        assert!(outage.is_short_at(start + PATIENCE * 2, false));
    }

    #[test]
    fn a_server_that_starts_is_waited_for_from_the_first_attempt_on() {
        let (outage, start) = (Outage::default(), Instant::now());
        assert!(outage.is_short_at(start, true));
        assert!(outage.is_short_at(start + PATIENCE / 2, false));
        assert!(!outage.is_short_at(start + PATIENCE, true));
    }
}
