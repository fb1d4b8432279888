//! Answers an HTTP request, after checking its host, origin, path, token, rate, session, size and time.

use super::api::is_of_protocol;
use super::batch;
use super::body::{BodyReader, Outgoing, ResponseBody, text};
use super::connections::Connection;
use super::origin::{OriginPolicy, single};
use super::protocol::Protocol;
use super::rate_limit::{ClientKey, RateLimit};
use super::request_log::RequestLog;
use super::sessions::Sessions;
use super::token::{self, Token};
use crate::api::route::EVENTS;
use crate::caller::Caller;
use crate::lanes::Share;
use crate::messages::{self, Batch, batches_unsupported, supports_batches};
use crate::server::Server;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, InitializeRequestParams, JsonRpcMessage};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tamis::search::SearchCaller;
use tokio_util::sync::CancellationToken;

/// Most calls in progress or waiting. The calls of a session outlive the connection that brought them.
const MAX_CALLS: usize = 1024;

/// Most of them by one caller, so that others are still heard.
const MAX_CALLS_EACH: usize = MAX_CALLS / 4;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Checks requests and passes them to the protocol.
pub(super) struct Handler {
    pub origins: OriginPolicy,
    pub tokens: Vec<Token>,
    /// The caller of a request without a token, when no token is needed.
    pub anonymous: Caller,
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
pub(super) struct Identity {
    pub client: ClientKey,
    pub caller: Caller,
    pub token: Option<String>,
}

impl Identity {
    /// The holder of the token or, without tokens, the connection.
    pub fn share(&self, connection: &Connection) -> Share {
        Share(match &self.token {
            Some(token) => SearchCaller::session(&["token", token]),
            None => connection.client,
        })
    }
}

/// A request that may go to the protocol.
enum Accepted {
    /// Nothing to hand on: this is the answer.
    Answered(Response<Outgoing>),
    /// One message, or a request without a body. `opens`: what it opens a session with.
    One {
        opens: Option<Box<InitializeRequestParams>>,
    },
    Batch(Batch, Vec<ClientJsonRpcMessage>),
}

/// An answer given instead of the protocol's, and its reason.
pub(super) struct Rejection(pub Box<Response<Outgoing>>, pub Bytes);

impl Rejection {
    fn with(mut self, name: HeaderName, value: impl Into<HeaderValue>) -> Rejection {
        self.0.headers_mut().insert(name, value.into());
        self
    }
}

pub(super) fn reject(status: StatusCode, reason: impl Into<Bytes>) -> Rejection {
    let reason = reason.into();
    Rejection(Box::new(plain(status, reason.clone())), reason)
}

pub(super) fn plain(status: StatusCode, reason: impl Into<Bytes>) -> Response<Outgoing> {
    response(status, reason, "text/plain; charset=utf-8")
}

fn json(status: StatusCode, message: &serde_json::Value) -> Response<Outgoing> {
    response(status, message.to_string(), "application/json")
}

pub(super) fn response(status: StatusCode, body: impl Into<Bytes>, content_type: &'static str) -> Response<Outgoing> {
    let mut response = Response::new(text(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

impl Handler {
    /// Answers a request.
    pub async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        connection: Arc<Connection>,
    ) -> Response<Outgoing> {
        let path = match request.uri().path() {
            "/mcp" => "/mcp",
            "/health" => "/health",
            _ => "other",
        };
        let method = request.method().clone();
        let is_api = self.serves_api && !is_of_protocol(path);
        let is_stream = request.uri().path() == EVENTS;
        let has_deadline = method == Method::POST || (is_api && !is_stream);
        let mut log = RequestLog::new(method.as_str(), path);
        let mut response = match is_api {
            true => self.answer_api(request, &connection, &mut log).await,
            false => match self.respond(request, path, &connection, &mut log).await {
                Ok(response) => response,
                Err(Rejection(response, _)) => *response,
            },
        };
        log.status = response.status().as_u16();
        self.server.metrics().request(log.path(), method.as_str(), log.status, log.elapsed());
        let headers = response.headers_mut();
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // The answer to a call has a time limit. A stream of the server's own messages goes on until its client leaves.
        let deadline = has_deadline.then(|| Box::pin(tokio::time::sleep(self.request_timeout)));
        let until_sent = Some((log, connection.pending_answer()));
        response.map(|body| ResponseBody { body, until_sent, deadline }.boxed())
    }

    async fn respond(
        &self,
        request: Request<Incoming>,
        path: &'static str,
        connection: &Arc<Connection>,
        log: &mut RequestLog,
    ) -> Result<Response<Outgoing>, Rejection> {
        self.origins
            .check(request.uri(), request.headers(), connection.local.ip())
            .map_err(|(status, reason)| reject(status, reason))?;
        check_method(path, request.method())?;
        if path == "/health" {
            return Ok(plain(StatusCode::OK, "ok\n"));
        }
        let given = token::find(&self.tokens, request.headers());
        let identity = self.identify(given, connection)?;
        log.token.clone_from(&identity.token);
        self.rate_limit.count(identity.client).map_err(too_many_requests)?;
        let session = self.session(request.headers(), identity.client).await?;
        let share = match &session {
            // Without tokens, a session is known better than the connection that a message happens to come over.
            Some(session) if identity.token.is_none() => Share(SearchCaller::session(&["mcp session", session])),
            _ => identity.share(connection),
        };
        self.admit(share)?;

        let (mut parts, body) = request.into_parts();
        let body = match parts.method {
            Method::POST => self.bodies.read(body).await.map_err(|status| self.unreadable_body(status))?,
            _ => Bytes::new(),
        };
        let body = match messages::well_formed(&body) {
            Cow::Borrowed(_) => body,
            Cow::Owned(mended) => mended.into(),
        };
        log.message(&body, self.log_queries);
        let (is_call, is_end) = (parts.method == Method::POST, parts.method == Method::DELETE);
        let accepted = match is_call {
            true => self.accept(&parts, &body, session.as_deref()),
            false => Accepted::One { opens: None },
        };
        if is_call && !matches!(accepted, Accepted::Answered(_)) {
            connection.mark_active();
        }
        parts.extensions.insert(match (&session, &identity.token) {
            (Some(session), _) => SearchCaller::session(&["mcp session", session]),
            (None, Some(token)) => SearchCaller::session(&["mcp token", token]),
            (None, None) => connection.client,
        });
        parts.extensions.insert(share);
        parts.extensions.insert(identity.caller);
        let opens = match &accepted {
            Accepted::One { opens } => opens.clone(),
            _ => None,
        };
        let answered = async {
            match accepted {
                Accepted::Answered(response) => response,
                Accepted::One { .. } => self.protocol.handle(Request::from_parts(parts, Full::new(body))).await,
                Accepted::Batch(batch, messages) => {
                    match batch::answered(&self.protocol, &parts, batch, messages).await {
                        Some(answers) => json(StatusCode::OK, &answers),
                        None => plain(StatusCode::ACCEPTED, ""),
                    }
                }
            }
        };
        let mut response = tokio::time::timeout(self.request_timeout, answered).await.map_err(|_| {
            reject(StatusCode::GATEWAY_TIMEOUT, "the request took longer than mcp.request_timeout_seconds allows")
        })?;
        match session {
            Some(session) if is_end && response.status() == StatusCode::ACCEPTED => {
                // Clients take 200 and 204 to mean that the session is over, and 202 that it will be.
                *response.status_mut() = StatusCode::NO_CONTENT;
                // The protocol's library has ended it where all servers look, too.
                self.sessions.remove(&session);
            }
            None if is_call => {
                if let Some(Ok(opened)) = response.headers().get(&SESSION).map(HeaderValue::to_str) {
                    let added =
                        self.sessions.add(opened.into(), identity.client, self.owner(identity.client), opens).await;
                    added.map_err(|reason| reject(StatusCode::SERVICE_UNAVAILABLE, reason).with(RETRY_AFTER, 1u64))?;
                }
            }
            _ => {}
        }
        Ok(response)
    }

    /// Refuses a call when too many are in progress or waiting.
    pub(super) fn admit(&self, share: Share) -> Result<(), Rejection> {
        match self.server.active_calls().count() >= MAX_CALLS || self.server.calls_of(share) >= MAX_CALLS_EACH {
            true => {
                Err(reject(StatusCode::SERVICE_UNAVAILABLE, "too many calls at once; try again")
                    .with(RETRY_AFTER, 1u64))
            }
            false => Ok(()),
        }
    }

    /// Identifies the sender by the position of its token. A client that tries tokens is counted by its address.
    pub(super) fn identify(&self, given: Option<usize>, connection: &Connection) -> Result<Identity, Rejection> {
        let address = ClientKey::at(connection.peer.ip());
        if self.tokens.is_empty() {
            return Ok(Identity { client: address, caller: self.anonymous.clone(), token: None });
        }
        if let Some(position) = given {
            let Token { name, caller, .. } = &self.tokens[position];
            return Ok(Identity {
                client: ClientKey::Token(position),
                caller: caller.clone(),
                token: Some(name.clone()),
            });
        }
        self.rate_limit.count(address).map_err(too_many_requests)?;
        Err(reject(StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN")
            .with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tamis\"")))
    }

    /// The session that a request names, if it belongs to the client. Another client's session looks the same as a missing one.
    async fn session(&self, headers: &HeaderMap, client: ClientKey) -> Result<Option<String>, Rejection> {
        let named = single(headers, &SESSION)
            .map_err(|()| reject(StatusCode::BAD_REQUEST, "the request has more than one Mcp-Session-Id header"))?;
        let Some(named) = named else { return Ok(None) };
        let missing = || reject(StatusCode::NOT_FOUND, "Not Found: Session not found");
        let session = named.to_str().map_err(|_| missing())?;
        match self.sessions.belongs(session, client, self.owner(client)).await {
            Ok(true) => Ok(Some(session.to_owned())),
            Ok(false) => Err(missing()),
            Err(reason) => Err(reject(StatusCode::SERVICE_UNAVAILABLE, reason).with(RETRY_AFTER, 1u64)),
        }
    }

    /// The name of a client that is the same at every server of an index.
    fn owner(&self, client: ClientKey) -> String {
        match client {
            ClientKey::Token(position) => self.tokens[position].owner(),
            ClientKey::Address(address) => format!("address {address}"),
        }
    }

    /// Reads the body of a call.
    fn accept(&self, parts: &Parts, body: &[u8], session: Option<&str>) -> Accepted {
        // The protocol's library itself refuses a body that is not declared as JSON.
        if !is_json(&parts.headers) {
            return Accepted::One { opens: None };
        }
        match messages::read(body) {
            messages::Incoming::Bad(answer) => Accepted::Answered(json(StatusCode::BAD_REQUEST, &answer)),
            messages::Incoming::Ignored => Accepted::Answered(plain(StatusCode::ACCEPTED, "")),
            messages::Incoming::One(message) => Accepted::One { opens: opened_with(*message) },
            messages::Incoming::Batch(list) => {
                let version = parts.headers.get(&VERSION);
                let allowed = version.is_none_or(|version| version.to_str().is_ok_and(supports_batches))
                    && session.is_some_and(|session| self.sessions.supports_batches(session));
                let batch = if allowed { Batch::of(list, |_| false) } else { Err(batches_unsupported()) };
                match batch {
                    Ok((batch, messages)) => Accepted::Batch(batch, messages),
                    Err(answer) => Accepted::Answered(json(StatusCode::BAD_REQUEST, &answer)),
                }
            }
        }
    }

    pub(super) fn unreadable_body(&self, status: StatusCode) -> Rejection {
        let reason = match status {
            StatusCode::PAYLOAD_TOO_LARGE => format!("a message may have at most {} bytes", self.bodies.max_bytes),
            StatusCode::REQUEST_TIMEOUT => "the message took too long to arrive".to_owned(),
            StatusCode::SERVICE_UNAVAILABLE => "too many long messages at once; try again".to_owned(),
            _ => "the message could not be read".to_owned(),
        };
        // The rest of the body stays unread, so the connection cannot be used again.
        let rejection = reject(status, reason).with(CONNECTION, HeaderValue::from_static("close"));
        if status == StatusCode::SERVICE_UNAVAILABLE { rejection.with(RETRY_AFTER, 1u64) } else { rejection }
    }
}

fn check_method(path: &str, method: &Method) -> Result<(), Rejection> {
    let (allowed, names): (&[Method], _) = match path {
        "/health" => (&[Method::GET, Method::HEAD], "GET, HEAD"),
        "/mcp" => (&[Method::POST, Method::GET, Method::DELETE], "POST, GET, DELETE"),
        _ => return Err(reject(StatusCode::NOT_FOUND, "not found; the server is at /mcp")),
    };
    match allowed.contains(method) {
        true => Ok(()),
        false => Err(reject(StatusCode::METHOD_NOT_ALLOWED, format!("method not allowed; use {names}"))
            .with(ALLOW, HeaderValue::from_static(names))),
    }
}

pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// What a message opens a session with, if it does.
fn opened_with(message: ClientJsonRpcMessage) -> Option<Box<InitializeRequestParams>> {
    match message {
        JsonRpcMessage::Request(request) => match request.request {
            ClientRequest::InitializeRequest(open) => Some(Box::new(open.params)),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn too_many_requests(seconds: u64) -> Rejection {
    reject(StatusCode::TOO_MANY_REQUESTS, "too many requests; mcp.requests_per_minute sets the limit")
        .with(RETRY_AFTER, seconds)
}
