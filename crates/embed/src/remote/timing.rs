//! The timing of requests: waits after failures, and a limit on the number that start in a minute.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Exponential backoff with jitter. Each wait is drawn from the upper half of a span that doubles.
#[derive(Debug)]
pub(super) struct Backoff {
    span: Duration,
    longest: Duration,
    state: u64,
}

impl Backoff {
    pub(super) fn new(first: Duration, longest: Duration, seed: u64) -> Self {
        Self { span: first.min(longest), longest, state: seed }
    }

    /// Returns the next wait: the one the endpoint asked for, else the next of the series. `None` when the endpoint asked for
    /// more than the longest wait.
    pub(super) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let span = self.span;
        self.span = span.saturating_mul(2).min(self.longest);
        match asked {
            Some(asked) => (asked <= self.longest).then_some(asked),
            None => Some(span.mul_f64(0.5 + self.random() / 2.0)),
        }
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014), as a number in `0..1`.
    fn random(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Spaces the starts of requests evenly.
#[derive(Debug)]
pub(super) struct Limiter {
    gap: Duration,
    next: Mutex<Option<Instant>>,
}

impl Limiter {
    pub(super) fn new(per_minute: Option<u32>) -> Self {
        let gap = per_minute.and_then(|rate| Duration::from_secs(60).checked_div(rate)).unwrap_or_default();
        Self { gap, next: Mutex::new(None) }
    }

    /// Sleeps until this request may start. Returns `false` at once if it may not start within `longest`.
    pub(super) fn wait(&self, longest: Option<Duration>) -> bool {
        if self.gap.is_zero() {
            return true;
        }
        let wait = self.reserve(Instant::now(), longest);
        if let Some(wait) = wait {
            std::thread::sleep(wait);
        }
        wait.is_some()
    }

    /// Reserves the next free start and returns the time until then. Reserves nothing if that is longer than `longest`.
    fn reserve(&self, now: Instant, longest: Option<Duration>) -> Option<Duration> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let start = next.map_or(now, |next| next.max(now));
        let wait = start - now;
        if longest.is_some_and(|longest| wait > longest) {
            return None;
        }
        *next = Some(start + self.gap);
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_double_with_jitter_up_to_the_longest() {
        let waits = |seed| {
            let mut backoff = Backoff::new(SECOND, SECOND * 5, seed);
            std::array::from_fn::<_, 6, _>(|_| backoff.next(None).unwrap())
        };
        for (wait, span) in waits(7).iter().zip([1, 2, 4, 5, 5, 5]) {
            assert!(*wait >= SECOND * span / 2 && *wait <= SECOND * span, "{wait:?} of {span} s");
        }
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
    }

    #[test]
    fn the_endpoint_may_ask_for_a_wait_but_not_for_any() {
        let mut backoff = Backoff::new(SECOND, SECOND * 5, 0);
        assert_eq!(backoff.next(Some(SECOND * 5)), Some(SECOND * 5));
        assert_eq!(backoff.next(Some(SECOND * 6)), None);
    }

    #[test]
    fn starts_are_spaced_evenly() {
        let limiter = Limiter::new(Some(120));
        let now = Instant::now();
        let reserve = |limiter: &Limiter, now| limiter.reserve(now, None);
        assert_eq!([0, 1, 2].map(|_| reserve(&limiter, now)), [Duration::ZERO, SECOND / 2, SECOND].map(Some));
        assert_eq!(limiter.reserve(now, Some(SECOND)), None, "the next start is too late, and stays free");
        assert_eq!(reserve(&limiter, now), Some(SECOND * 3 / 2));
        assert_eq!(reserve(&limiter, now + SECOND * 10), Some(Duration::ZERO));
        let unlimited = Limiter::new(None);
        assert_eq!([0, 1].map(|_| reserve(&unlimited, now)), [Some(Duration::ZERO); 2]);
    }
}
