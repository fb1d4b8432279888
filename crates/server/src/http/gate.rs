//! The checks that every request passes, each once and in this order: host and origin, token, rate, and then, for what carries a
//! message, the caller's load and the message's size and speed.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::Next;
use axum::response::Response;
use tamis::search::SearchCaller;
use tokio_util::sync::CancellationToken;

use super::agents::Protocol;
use super::connections::{ClientKey, Connection, LoggedCall, RateLimit, RequestLog};
use super::headers::{BodyReader, OriginPolicy, ResponseBody};
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
    pub async fn accept(&self, share: Share, connection: &Connection, body: Body) -> Result<Bytes, Problem> {
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
