//! Time, waiting and randomness behind a trait, so that tests neither wait nor vary.

use jiff::Timestamp;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Gives the time, waits, and draws numbers.
pub trait Clock: Send + Sync {
    /// Returns the present time.
    fn now(&self) -> Timestamp;

    /// Waits for this long.
    fn sleep(&self, duration: Duration);

    /// Returns a number in `0..1`, evenly distributed.
    fn random(&self) -> f64;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        crate::dates::present()
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }

    fn random(&self) -> f64 {
        // The standard library draws the keys of its hash maps at random, which is random enough for jitter.
        let drawn = RandomState::new().hash_one(());
        (drawn >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_lies_in_its_range_and_differs() {
        let drawn: Vec<f64> = (0..50).map(|_| SystemClock.random()).collect();
        assert!(drawn.iter().all(|number| (0.0..1.0).contains(number)), "{drawn:?}");
        assert!(drawn.iter().any(|number| *number != drawn[0]), "{drawn:?}");
    }
}
