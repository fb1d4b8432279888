//! Many clients over HTTP, by the protocol's streamable transport.
//!
//! A connection ([`accept`]) brings requests to the [`gate`], which holds them to [`names`], [`token`], [`rate`], [`body`] and
//! [`sessions`] before the protocol sees them, and writes each down ([`record`]).

mod accept;
mod batch;
mod body;
mod gate;
mod names;
mod rate;
mod record;
mod sessions;
mod token;

pub use token::{Token, fresh_token};

use crate::error::ServeError;
use crate::service::Server;
use accept::{Links, accept};
use gate::Gate;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How a server over HTTP behaves.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where it listens; port 0 takes a free one.
    pub address: SocketAddr,
    /// The tokens of which one is needed; none: nobody needs one, which only a loopback address allows.
    pub tokens: Vec<Token>,
    /// Names that it is called by besides its own.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may ask besides its own.
    pub allowed_origins: Vec<String>,
    /// Most requests a minute of a token, or of an address without; `None`: any number.
    pub requests_per_minute: Option<u32>,
    /// Most connections at a time.
    pub max_connections: usize,
    /// Most bytes of a message.
    pub max_body_bytes: usize,
    /// How long the head of a request may take, and how long a connection may wait for the next one.
    pub header_timeout: Duration,
    /// How long the message of a request may take.
    pub body_timeout: Duration,
    /// How long the answer may take until it begins.
    pub request_timeout: Duration,
    /// How long calls may go on when the server is to end.
    pub grace: Duration,
    /// Whether the arguments of calls are logged.
    pub log_queries: bool,
}

impl HttpOptions {
    /// The usual ones at an address.
    pub fn at(address: SocketAddr) -> HttpOptions {
        HttpOptions {
            address,
            tokens: Vec::new(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            requests_per_minute: Some(1200),
            max_connections: 512,
            max_body_bytes: 1 << 20,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(60),
            grace: Duration::from_secs(5),
            log_queries: false,
        }
    }
}

/// How often it is looked whether the last calls are done.
const POLL: Duration = Duration::from_millis(10);

/// Time allowed to send finished answers on shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Serves over HTTP until `stop`, then lets the calls that are worked on come to their end. `listening` is told the address.
///
/// # Errors
/// The address is open to others and there is no token, or nothing can be bound there.
pub async fn serve_http(
    server: Server,
    options: HttpOptions,
    stop: CancellationToken,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    if !options.address.ip().to_canonical().is_loopback() && options.tokens.is_empty() {
        return Err(ServeError::Open { address: options.address });
    }
    let bound = TcpListener::bind(options.address).await.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = bound.map_err(|error| ServeError::io(options.address.to_string(), error))?;

    let protocol_end = CancellationToken::new();
    let sessions = sessions::Sessions::new();
    let factory = server.clone();
    let protocol = StreamableHttpService::new(
        move || Ok(factory.clone()),
        sessions.manager.clone(),
        // The gate has looked at names and origins already, and read the body.
        StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(options.max_body_bytes)
            .with_cancellation_token(protocol_end.clone()),
    );
    let gate = Arc::new(Gate {
        names: names::Names { hosts: options.allowed_hosts, origins: options.allowed_origins },
        tokens: options.tokens,
        anyone: server.anyone().clone(),
        rate: rate::Rate::new(options.requests_per_minute),
        intake: body::Intake::new(options.max_body_bytes, options.body_timeout),
        request_timeout: options.request_timeout,
        log_queries: options.log_queries,
        sessions,
        server: server.clone(),
        protocol,
    });
    let links = Links::new(options.max_connections, options.header_timeout);
    let end = CancellationToken::new();
    listening(address);
    accept(listener, gate, links.clone(), stop, end.clone()).await;

    // Nothing new comes in. Calls end first, then the streams that would never end by themselves.
    wait(options.grace, || server.load().calls() == 0 && links.count().1 == 0).await;
    protocol_end.cancel();
    wait(DRAIN_TIMEOUT, || links.count().0 == 0).await;
    end.cancel();
    Ok(())
}

async fn wait(most: Duration, is_over: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_over() && started.elapsed() < most {
        tokio::time::sleep(POLL).await;
    }
}
