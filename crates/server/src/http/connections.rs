//! Connections: how many there may be, how many requests a client may send, and the log of them.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::RETRY_AFTER;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use serde_json::Value;
use tamis::search::SearchCaller;
use tokio_util::sync::CancellationToken;

use crate::api::problem::{Kind, Problem};

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub peer: SocketAddr,
    pub local: SocketAddr,
    /// The client, where neither a session nor a token says who it is.
    pub client: SearchCaller,
    /// `None` while a call is in progress, or its answer has not been sent yet.
    idle_since: Mutex<Option<Instant>>,
    /// Cancelled to close the connection at once.
    pub closed: CancellationToken,
}

/// The request on a connection stays active until this is dropped.
#[derive(Debug)]
pub(crate) struct PendingAnswer(Arc<Connection>);

impl Connection {
    /// Marks an accepted request: from now on the connection is not closed for another.
    pub fn mark_active(&self) {
        *self.idle_since() = None;
    }

    pub fn pending_answer(self: &Arc<Self>) -> PendingAnswer {
        PendingAnswer(self.clone())
    }

    fn idle_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.idle_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        // HTTP/1 handles the requests of a connection one after another.
        *self.0.idle_since() = Some(Instant::now());
    }
}

/// All open connections.
pub(crate) struct Connections {
    max: usize,
    open: Mutex<Vec<Arc<Connection>>>,
}

impl Connections {
    pub fn new(max: usize) -> Arc<Connections> {
        Arc::new(Connections { max: max.max(1), open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    pub fn has_active(&self) -> bool {
        self.open().iter().any(|connection| connection.idle_since().is_none())
    }

    /// Adds a connection, closing the longest idle one where needed; `None` when all are active.
    pub fn add(&self, peer: SocketAddr, local: SocketAddr) -> Option<Arc<Connection>> {
        let mut open = self.open();
        while open.len() >= self.max {
            close_longest_idle(&mut open)?;
        }
        let connection = Arc::new(Connection {
            peer,
            local,
            client: SearchCaller::connection(),
            idle_since: Mutex::new(Some(Instant::now())),
            closed: CancellationToken::new(),
        });
        open.push(connection.clone());
        Some(connection)
    }

    /// Closes the longest idle connection, whose descriptor another one needs.
    pub fn make_room(&self) {
        close_longest_idle(&mut self.open());
    }

    /// Closes all connections.
    pub fn close_all(&self) {
        self.open().iter().for_each(|connection| connection.closed.cancel());
    }

    pub fn remove(&self, connection: &Arc<Connection>) {
        self.open().retain(|other| !Arc::ptr_eq(other, connection));
    }
}

/// Closes the longest idle connection; `None` when all are active.
fn close_longest_idle(open: &mut Vec<Arc<Connection>>) -> Option<()> {
    let idle = open.iter().enumerate().filter_map(|(position, one)| Some(((*one.idle_since())?, position)));
    let (_, position) = idle.min()?;
    open.swap_remove(position).closed.cancel();
    Some(())
}

// Limits the rate of requests, by token, or by address without one.

/// Requests between two clean-ups of clients that have been quiet for a while.
const CLEAN_UP_EVERY: usize = 4096;

/// The client that requests are counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClientKey {
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
pub(crate) struct RateLimit {
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

// One log line for each request: the tool, the token and the outcome. Arguments are left out unless the user asks for them.

/// Most bytes of a logged name.
const MAX_NAME: usize = 64;

/// Most bytes of logged arguments.
const MAX_ARGUMENTS: usize = 2000;

/// The log line of a request. It is written when this is dropped: when the answer has been sent, or the client has left.
#[derive(Debug)]
pub(crate) struct RequestLog {
    started: Instant,
    http: String,
    path: String,
    call: LoggedCall,
    pub status: u16,
}

/// What the log says of the call inside a request. Whoever reads the call notes it here.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoggedCall(Arc<Mutex<CallDetails>>);

#[derive(Debug, Default)]
struct CallDetails {
    method: String,
    tool: String,
    arguments: Option<String>,
    token: Option<String>,
}

impl RequestLog {
    /// The line of a request, by its method and its route.
    pub fn new(http: &str, path: &str, call: LoggedCall) -> RequestLog {
        let http = start(http, MAX_NAME).to_owned();
        RequestLog { started: Instant::now(), http, path: path.to_owned(), call, status: 0 }
    }

    /// The time since the request arrived.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl LoggedCall {
    fn details(&self) -> MutexGuard<'_, CallDetails> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the name of the caller's token.
    pub fn token(&self, name: Option<&str>) {
        self.details().token = name.map(str::to_owned);
    }

    /// Notes the method and the tool that a message calls.
    pub fn message(&self, body: &[u8], with_arguments: bool) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Value>(body) else { return };
        let (called, params) = (&message["method"], &message["params"]);
        let name = |value: &Value| start(value.as_str().unwrap_or_default(), MAX_NAME).to_owned();
        let mut details = self.details();
        details.method = name(called);
        if called == "tools/call" || called == "prompts/get" {
            details.tool = name(&params["name"]);
        }
        if with_arguments {
            let arguments = params.get("arguments").map(Value::to_string);
            details.arguments = arguments.map(|arguments| start(&arguments, MAX_ARGUMENTS).to_owned());
        }
    }

    /// Notes the operation of the API.
    pub fn operation(&self, name: &str) {
        name.clone_into(&mut self.details().tool);
    }

    /// Notes the parameters of an operation.
    pub fn parameters(&self, parameters: &str) {
        self.details().arguments = Some(start(parameters, MAX_ARGUMENTS).to_owned());
    }
}

/// The first bytes of a text, in whole characters.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        let call = self.call.details();
        let ms = (self.started.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        // Text from clients is written with `?`, which escapes characters that could end the line or control a terminal.
        tracing::info!(
            target: "tamis::http",
            http = ?self.http,
            path = self.path,
            method = ?call.method,
            tool = ?call.tool,
            token = call.token.as_deref().unwrap_or("-"),
            status = self.status,
            ms,
            arguments = call.arguments.as_ref().map(tracing::field::debug),
            "request"
        );
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

    #[test]
    fn long_names_are_cut_in_whole_characters() {
        assert_eq!(start("abc", 64), "abc");
        assert_eq!(start("a\u{20ac}\u{20ac}", 3), "a");
        assert_eq!(start("a\u{20ac}\u{20ac}", 4), "a\u{20ac}");
    }
}
