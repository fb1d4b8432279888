//! The checks that every request passes, each once and in this order: host and origin, token, rate, and then, for what carries a
//! message, the caller's load and the message's size and speed. Also the line in the log that each request leaves.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use axum::middleware::Next;
use axum::response::Response;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use serde_json::Value;
use tamis::search::SearchCaller;
use tokio_util::sync::CancellationToken;

use super::connections::Connection;
use super::headers::{BodyReader, OriginPolicy, ResponseBody};
use super::mcp::Protocol;
use super::sessions::Sessions;
use super::sign_in::of_cookie;
use super::tokens::{Token, find};
use crate::api::EVENTS;
use crate::api::problem::{Detail, Kind, Problem};
use crate::call_queue::Share;
use crate::caller::Caller;
use crate::server::Server;

/// Path of the protocol for agents.
pub(crate) const AGENTS: &str = "/mcp";

/// The same with a slash at its end, as some people write it.
pub(crate) const AGENTS_SLASH: &str = "/mcp/";

/// Path for process monitors, which is served without the API too.
pub(crate) const HEALTH: &str = "/health";

/// Most calls in progress or waiting. The calls of a session outlive the connection that brought them.
const MAX_CALLS: usize = 1024;

/// Most of them by one caller, so that others are still heard.
const MAX_CALLS_EACH: usize = MAX_CALLS / 4;

/// What the checks and the routes share.
pub(crate) struct Gate {
    pub origins: OriginPolicy,
    pub tokens: Vec<Token>,
    pub rate_limit: RateLimit,
    pub bodies: BodyReader,
    pub request_timeout: Duration,
    pub log_queries: bool,
    pub sessions: Sessions,
    pub server: Server,
    pub protocol: Protocol,
    /// Cancelled when streams, which would never end by themselves, have to.
    pub stop_streams: CancellationToken,
    /// True if the JSON API is served besides the protocol.
    pub serves_api: bool,
}

/// The sender of a request.
#[derive(Clone)]
pub(crate) struct Identity {
    pub client: ClientKey,
    pub caller: Caller,
    pub token: Option<String>,
    pub connection: Arc<Connection>,
}

impl Identity {
    /// The holder of the token or, without tokens, the connection.
    pub fn share(&self) -> Share {
        Share(match &self.token {
            Some(token) => SearchCaller::session(&["token", token]),
            None => self.connection.client,
        })
    }
}

/// Logs and counts a request, and ends its answer in time.
pub(crate) async fn log(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("other", MatchedPath::as_str);
    let path = if path == AGENTS_SLASH { AGENTS } else { path };
    let method = request.method().clone();
    let call = LoggedCall::default();
    request.extensions_mut().insert(call.clone());
    let mut log = RequestLog::new(method.as_str(), path, call);
    let mut response = next.run(request).await;
    log.status = response.status().as_u16();
    gate.server.metrics().request(path, method.as_str(), log.status, log.elapsed());
    if !gate.serves_api || [AGENTS, HEALTH].contains(&path) {
        response = in_plain_words(response);
    }
    let headers = response.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // The answer to a call has a time limit. A stream of the server's own messages goes on until its client leaves.
    let is_stream = path == EVENTS || (path == AGENTS && method != Method::POST);
    let deadline = (!is_stream).then(|| Box::pin(tokio::time::sleep(gate.request_timeout)));
    let until_sent = Some((log, connection.pending_answer()));
    response.map(|body| Body::new(ResponseBody { body, until_sent, deadline }))
}

/// A problem as agents read it: its text alone.
fn in_plain_words(mut response: Response) -> Response {
    if let Some(Detail(text)) = response.extensions_mut().remove::<Detail>() {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        *response.body_mut() = text.into();
    }
    response
}

/// Refuses a request to another host or by a page of another origin.
pub(crate) async fn check_origin(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Arc<Connection>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    gate.origins.check(request.uri(), request.headers(), connection.local.ip())?;
    Ok(next.run(request).await)
}

/// Admits the holder of a token within the limit of its rate.
pub(crate) async fn admit(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Arc<Connection>>,
    Extension(log): Extension<LoggedCall>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let is_agent = [AGENTS, AGENTS_SLASH].contains(&request.uri().path());
    let by_cookie = || if is_agent { None } else { of_cookie(&gate.tokens, headers) };
    let identity = gate.identify(find(&gate.tokens, headers).or_else(by_cookie), &connection)?;
    log.token(identity.token.as_deref());
    gate.rate_limit.count(identity.client)?;
    request.extensions_mut().insert(identity);
    Ok(next.run(request).await)
}

impl Gate {
    /// Identifies the sender by the position of its token. A client that tries tokens is counted by its address.
    pub fn identify(&self, given: Option<usize>, connection: &Arc<Connection>) -> Result<Identity, Problem> {
        let address = ClientKey::at(connection.peer.ip());
        let (client, caller, token) = match given.map(|position| (position, &self.tokens[position])) {
            _ if self.tokens.is_empty() => (address, self.server.anonymous().clone(), None),
            Some((position, token)) => (ClientKey::Token(position), token.caller.clone(), Some(token.name.clone())),
            None => {
                self.rate_limit.count(address)?;
                return Err(Problem::new(Kind::Unauthorized, "a token is needed: Authorization: Bearer TOKEN"));
            }
        };
        Ok(Identity { client, caller, token, connection: connection.clone() })
    }

    /// Reads the message of a call, unless too many are in progress or waiting.
    pub async fn accept(
        &self,
        share: Share,
        connection: &Connection,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Bytes, Problem> {
        if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Err(Problem::new(Kind::MediaType, "Content-Encoding: not supported; send the body uncompressed"));
        }
        if self.server.active_calls().count() >= MAX_CALLS || self.server.calls_of(share) >= MAX_CALLS_EACH {
            return Err(Problem::new(Kind::Unavailable, "too many calls at once; try again"));
        }
        let message = self.bodies.read(body).await?;
        connection.mark_active();
        Ok(message)
    }

    /// Waits for an answer to begin, as long as a request may take.
    pub async fn in_time<T>(&self, answering: impl Future<Output = T>) -> Result<T, Problem> {
        let too_long = "the request took longer than mcp.request_timeout_seconds allows";
        tokio::time::timeout(self.request_timeout, answering).await.map_err(|_| Problem::new(Kind::Timeout, too_long))
    }
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
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
        assert_eq!([start("abc", 64), start("a\u{20ac}\u{20ac}", 3)], ["abc", "a"]);
        assert_eq!(start("a\u{20ac}\u{20ac}", 4), "a\u{20ac}");
    }
}
