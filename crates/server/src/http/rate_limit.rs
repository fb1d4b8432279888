//! Limits the rate of requests, by token, or by address without one.

use crate::api::problem::{Kind, Problem};
use axum::http::header::RETRY_AFTER;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Requests between two clean-ups of clients that have been quiet for a while.
const CLEAN_UP_EVERY: usize = 4096;

/// The client that requests are counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ClientKey {
    /// The holder of the token at this position.
    Token(usize),
    /// A client without a token. IPv6 addresses that share their first half count as one, since they belong to one network.
    Address(IpAddr),
}

impl ClientKey {
    pub fn at(address: IpAddr) -> ClientKey {
        ClientKey::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
            address => address,
        })
    }
}

/// Counts requests against a limit.
pub(super) struct RateLimit {
    limiter: Option<DefaultKeyedRateLimiter<ClientKey>>,
    clock: DefaultClock,
    counted: AtomicUsize,
}

impl RateLimit {
    /// A limit per minute, all of which may arrive at once; `None` sets no limit.
    pub fn new(requests_per_minute: Option<u32>) -> RateLimit {
        let requests = requests_per_minute.and_then(NonZeroU32::new);
        let limiter = requests.map(|requests| RateLimiter::keyed(Quota::per_minute(requests)));
        RateLimit { limiter, clock: DefaultClock::default(), counted: AtomicUsize::new(0) }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The request exceeds the limit. The problem names the seconds to wait.
    pub fn count(&self, client: ClientKey) -> Result<(), Problem> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        if self.counted.fetch_add(1, Relaxed) % CLEAN_UP_EVERY == CLEAN_UP_EVERY - 1 {
            limiter.retain_recent();
        }
        limiter.check_key(&client).map_err(|early| {
            let wait = early.wait_time_from(self.clock.now());
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0).max(u64::from(wait.is_zero()));
            Problem::new(Kind::TooMany, "too many requests; mcp.requests_per_minute sets the limit")
                .with(RETRY_AFTER, seconds)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;

    #[test]
    fn each_client_is_counted_alone_and_learns_how_long_to_wait() {
        let rate = RateLimit::new(Some(3));
        for _ in 0..3 {
            assert_eq!(rate.count(ClientKey::Token(0)), Ok(()));
        }
        let refused = rate.count(ClientKey::Token(0)).unwrap_err().into_response();
        let wait: u64 = refused.headers()[RETRY_AFTER].to_str().unwrap().parse().unwrap();
        assert!((1..=20).contains(&wait), "{wait}");
        assert_eq!(rate.count(ClientKey::Token(1)), Ok(()));
        assert_eq!(rate.count(ClientKey::at("10.0.0.1".parse().unwrap())), Ok(()));
    }

    #[test]
    fn one_network_is_one_client() {
        let at = |text: &str| ClientKey::at(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:2"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
    }
}
