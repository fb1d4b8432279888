//! Many clients over HTTP, using the protocol's streamable transport.
//!
//! [`connections`] accepts them and passes each request to the [`router`]. Its layers are the checks of the [`gate`], and its routes those
//! of [`mcp`] and, with the JSON API, those of [`routes`] and [`sign_in`](mod@sign_in).

mod connections;
mod gate;
mod headers;
mod mcp;
mod routes;
mod sessions;
mod sign_in;
mod tokens;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, on};
use axum::{Extension, Router};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

use crate::api::problem::{Kind, Problem};
use crate::api::{ENDPOINTS, EVENTS, OPENAPI};
use crate::process::ServeError;
use crate::server::Server;
use crate::web_page::ASSETS;
use connections::{Acceptor, Connections};
use gate::{AGENTS, AGENTS_SLASH, Gate, HEALTH, Identity, LoggedCall};
use sign_in::{SIGN_IN, sign_in};

pub use tokens::{Token, fresh_token};

/// Most bytes of a message.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Longest time for the head of a request, and for waiting on the next request of a connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest time for the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Time that calls in progress get when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// Options of a server over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address to listen on; port 0 picks a free port.
    pub address: SocketAddr,
    /// Tokens that let a client in. An empty list lets everybody in, which only a loopback address allows.
    pub tokens: Vec<Token>,
    /// Host names that the server answers to besides its own.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may call the server besides its own.
    pub allowed_origins: Vec<String>,
    /// Most requests a minute for a token, or for an address without one; `None` sets no limit.
    pub requests_per_minute: Option<u32>,
    /// Most connections at a time.
    pub max_connections: usize,
    /// Longest time until an answer begins.
    pub request_timeout: Duration,
    /// True if the log holds the arguments of calls.
    pub log_queries: bool,
    /// True to serve the JSON API besides the protocol.
    pub api: bool,
}

impl HttpOptions {
    /// The default options at an address.
    pub fn at(address: SocketAddr) -> HttpOptions {
        HttpOptions {
            address,
            tokens: Vec::new(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            requests_per_minute: Some(1200),
            max_connections: 512,
            request_timeout: Duration::from_secs(60),
            log_queries: false,
            api: false,
        }
    }
}

/// Poll interval while the last calls finish.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Time for finished answers to be sent when the server stops.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Serves over HTTP until `stop`, then lets calls in progress finish. Calls `listening` with the address in use.
///
/// # Errors
/// Others can reach the address and there is no token, the address cannot be bound, or the clock is beyond what HTTP can write.
pub async fn serve_http(
    server: Server,
    options: HttpOptions,
    stop: CancellationToken,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    if !options.address.ip().to_canonical().is_loopback() && options.tokens.is_empty() {
        return Err(ServeError::TokenRequired { address: options.address });
    }
    if !has_http_date(SystemTime::now()) {
        return Err(ServeError::Clock);
    }
    let bound = TcpListener::bind(options.address).await.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = bound.map_err(|error| {
        let is_taken = error.kind() == std::io::ErrorKind::AddrInUse;
        let way_out = if is_taken { " (another program listens there; port 0 takes a free one)" } else { "" };
        ServeError::io(format!("{}{way_out}", options.address), error)
    })?;

    if options.tokens.len() > 1 {
        server.share_processors();
    }
    let stop_streams = CancellationToken::new();
    let sessions = sessions::Sessions::new(&server);
    let protocol = mcp::protocol(&server, &sessions, MAX_BODY_BYTES, stop_streams.clone());
    let gate = Arc::new(Gate {
        origins: headers::OriginPolicy { hosts: options.allowed_hosts, origins: options.allowed_origins },
        tokens: options.tokens,
        rate_limit: gate::RateLimit::new(options.requests_per_minute),
        bodies: headers::BodyReader::new(MAX_BODY_BYTES, BODY_TIMEOUT),
        request_timeout: options.request_timeout,
        log_queries: options.log_queries,
        sessions,
        server: server.clone(),
        protocol,
        stop_streams: stop_streams.clone(),
        serves_api: options.api,
    });
    let most = raised_limit().map_or(usize::MAX, |limit| limit / 2);
    if most < options.max_connections {
        tracing::warn!(target: "tamis::http", most, "fewer connections than mcp.max_connections: too few file descriptors");
    }
    let connections = Connections::new(options.max_connections.min(most));
    let acceptor =
        Acceptor { router: router(gate), connections: connections.clone(), header_timeout: HEADER_TIMEOUT, stop };
    listening(address);
    acceptor.run(listener).await;

    // Calls end first, then the streams, which would never end by themselves.
    wait_until(GRACE, || server.active_calls().count() == 0 && !connections.has_active()).await;
    stop_streams.cancel();
    wait_until(FLUSH_TIMEOUT, || connections.is_empty()).await;
    connections.close_all();
    Ok(())
}

/// True if HTTP can write the time. Its library panics at any other, in each connection.
fn has_http_date(time: SystemTime) -> bool {
    const END: Duration = Duration::from_secs(253_402_300_800);
    time.duration_since(UNIX_EPOCH).is_ok_and(|since| since < END)
}

async fn wait_until(timeout: Duration, done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() && started.elapsed() < timeout {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

// All routes, and the layers around them.

type Routes = Router<Arc<Gate>>;

/// Shorter answers are sent as they are.
const LEAST_COMPRESSED: u64 = 1024;

/// Level of compression: JSON shrinks about as well as at the highest, in a fraction of the time.
const LEVEL: i32 = 4;

/// The server's routes behind its checks.
pub(crate) fn router(gate: Arc<Gate>) -> Router {
    let mut open = Routes::new().route(HEALTH, get(async || "ok\n"));
    let agents = get(mcp::answer).post(mcp::answer).delete(mcp::answer);
    let mut guarded = Routes::new().route(AGENTS, agents.clone()).route(AGENTS_SLASH, agents);
    if gate.serves_api {
        let compression = CompressionLayer::new()
            .quality(CompressionLevel::Precise(LEVEL))
            .compress_when(SizeAbove::new(LEAST_COMPRESSED).and(NotForContentType::SSE));
        open = open.merge(open_routes().layer(compression.clone()));
        guarded = guarded.merge(api_routes().layer(compression));
    } else {
        open = open.fallback(async || Problem::new(Kind::Route, "not found; the server is at /mcp"));
    }
    open.merge(guarded.layer(from_fn_with_state(gate.clone(), gate::admit)))
        .method_not_allowed_fallback(refuse_method)
        .layer(from_fn_with_state(gate.clone(), gate::check_origin))
        .layer(from_fn_with_state(gate.clone(), gate::log))
        .with_state(gate)
}

/// What tells nothing of the index, so that no token is needed. A browser loads the page before it can send one.
fn open_routes() -> Routes {
    let routes = Routes::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(routes::readiness))
        .route("/v1", any(routes::lead_to_page))
        .route("/v1/", any(routes::lead_to_page))
        .route(SIGN_IN, get(sign_in).post(sign_in).delete(sign_in));
    ASSETS.iter().fold(routes, |routes, asset| {
        routes.route(asset.path, get(async |headers: HeaderMap| routes::page(&headers, asset)))
    })
}

fn api_routes() -> Routes {
    let routes = Routes::new()
        .route("/metrics", get(routes::metrics))
        .route(OPENAPI, get(routes::document))
        .route(EVENTS, get(routes::events))
        .fallback(async |uri: Uri| crate::api::unknown(uri.path()));
    ENDPOINTS.iter().fold(routes, |routes, endpoint| {
        let call = async |State(gate): State<Arc<Gate>>,
                          Extension(identity): Extension<Identity>,
                          Extension(log): Extension<LoggedCall>,
                          inside: Result<RawPathParams, RawPathParamsRejection>,
                          request: Request| {
            routes::call(&gate, endpoint, identity, &log, inside, request).await
        };
        routes.route(endpoint.path, on(endpoint.verbs.filter(), call))
    })
}

/// Refuses a method that a route does not have, whoever asks.
async fn refuse_method(method: Method, path: MatchedPath) -> Problem {
    let names = match path.as_str() {
        AGENTS | AGENTS_SLASH => "POST, GET, DELETE".to_owned(),
        SIGN_IN => "GET, HEAD, POST, DELETE".to_owned(),
        path => crate::api::methods(path),
    };
    Problem::method(&method, names)
}

// The file descriptors of the process. Connections take at most half of them, so that calls can still open the files of the index.

/// Raises the limit to the most that the system allows, and returns it; `None` where there is none that counts.
#[cfg(unix)]
pub(crate) fn raised_limit() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes into the structure that it is given.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return None;
    }
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: the call only reads the structure.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } == 0 {
        limit = raised;
    }
    usize::try_from(limit.rlim_cur).ok()
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn raised_limit() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_http_cannot_write_is_noticed() {
        let year = Duration::from_secs(366 * 86_400);
        assert!(has_http_date(SystemTime::now()));
        assert!(!has_http_date(UNIX_EPOCH - year) && !has_http_date(UNIX_EPOCH + year * 8100));
    }
}
