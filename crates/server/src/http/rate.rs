//! How often one may ask: by token, or by address without one.

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// After so many requests, those who have not asked for a while are forgotten.
const FORGET_EVERY: usize = 4096;

/// Who is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asker {
    /// One that has the token at this place.
    Token(usize),
    /// One without. Whoever has an IPv6 address has all that share its first half.
    Address(IpAddr),
}

impl Asker {
    pub fn at(address: IpAddr) -> Asker {
        Asker::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
            address => address,
        })
    }
}

/// Counts requests.
pub(super) struct Rate {
    limiter: Option<DefaultKeyedRateLimiter<Asker>>,
    clock: DefaultClock,
    asked: AtomicUsize,
}

impl Rate {
    /// So many a minute; `None`: any number. As many can come at once.
    pub fn new(requests_per_minute: Option<u32>) -> Rate {
        let requests = requests_per_minute.and_then(NonZeroU32::new);
        let limiter = requests.map(|requests| RateLimiter::keyed(Quota::per_minute(requests)));
        Rate { limiter, clock: DefaultClock::default(), asked: AtomicUsize::new(0) }
    }

    /// Counts a request; an error with the seconds to wait where it is one too many.
    pub fn count(&self, asker: Asker) -> Result<(), u64> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        if self.asked.fetch_add(1, Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            limiter.retain_recent();
        }
        limiter.check_key(&asker).map_err(|early| {
            let wait = early.wait_time_from(self.clock.now());
            wait.as_secs() + u64::from(wait.subsec_nanos() > 0).max(u64::from(wait.is_zero()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_one_is_counted_alone_and_told_how_long_to_wait() {
        let rate = Rate::new(Some(3));
        for _ in 0..3 {
            assert_eq!(rate.count(Asker::Token(0)), Ok(()));
        }
        let wait = rate.count(Asker::Token(0)).unwrap_err();
        assert!((1..=20).contains(&wait), "{wait}");
        assert_eq!(rate.count(Asker::Token(1)), Ok(()));
        assert_eq!(rate.count(Asker::at("10.0.0.1".parse().unwrap())), Ok(()));
    }

    #[test]
    fn one_network_is_one_asker() {
        let at = |text: &str| Asker::at(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:2"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
    }
}
