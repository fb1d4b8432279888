//! What a request has to pass before the protocol sees it: names, path, token, rate, size, time, session.

use super::accept::Link;
use super::body::{Held, Intake, Outgoing, text};
use super::names::{Names, single};
use super::rate::{Asker, Rate};
use super::record::Record;
use super::sessions::Sessions;
use super::token::{self, Token};
use crate::caller::Caller;
use crate::service::Server;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::sync::Arc;
use std::time::Duration;

/// Most calls that wait or are worked on. A session's go on without the connection that brought them.
const CALLS: usize = 1024;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// All that requests pass, and the protocol behind it.
pub(super) struct Gate {
    pub names: Names,
    pub tokens: Vec<Token>,
    /// Who comes without a token, where none is asked for.
    pub anyone: Caller,
    pub rate: Rate,
    pub intake: Intake,
    pub request_timeout: Duration,
    pub log_queries: bool,
    pub sessions: Sessions,
    pub server: Server,
    pub protocol: StreamableHttpService<Server, LocalSessionManager>,
}

/// Who asks.
struct Asking {
    asker: Asker,
    caller: Caller,
    token: Option<String>,
}

/// An answer that is none of the protocol's.
struct Refused(Box<Response<Outgoing>>);

fn refused(status: StatusCode, reason: impl Into<Bytes>) -> Refused {
    let mut response = Response::new(text(reason));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Refused(Box::new(response))
}

impl Refused {
    fn with(mut self, name: HeaderName, value: impl Into<HeaderValue>) -> Refused {
        self.0.headers_mut().insert(name, value.into());
        self
    }
}

impl Gate {
    /// Answers a request that came over a connection.
    pub async fn answer(self: Arc<Self>, request: Request<Incoming>, link: Arc<Link>) -> Response<Outgoing> {
        let path = match request.uri().path() {
            "/mcp" => "/mcp",
            "/health" => "/health",
            _ => "other",
        };
        let is_post = request.method() == Method::POST;
        let mut record = Record::new(request.method().as_str(), path);
        let mut response = match self.pass(request, path, &link, &mut record).await {
            Ok(response) => response,
            Err(Refused(response)) => *response,
        };
        record.status = response.status().as_u16();
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // A stream of messages from the server goes on until its client has enough of it; the answer to a call does not.
        let ends = is_post.then(|| Box::pin(tokio::time::sleep(self.request_timeout)));
        response.map(|body| Held { body, until_the_end: Some((record, link.until_answered())), ends }.boxed())
    }

    async fn pass(
        &self,
        request: Request<Incoming>,
        path: &'static str,
        link: &Arc<Link>,
        record: &mut Record,
    ) -> Result<Response<Outgoing>, Refused> {
        self.names
            .check(request.uri(), request.headers(), link.local.ip())
            .map_err(|(status, reason)| refused(status, reason))?;
        let allowed: (&[Method], _) = match path {
            "/health" => (&[Method::GET, Method::HEAD], "GET, HEAD"),
            "/mcp" => (&[Method::POST, Method::GET, Method::DELETE], "POST, GET, DELETE"),
            _ => return Err(refused(StatusCode::NOT_FOUND, "nothing is here; the server is at /mcp")),
        };
        if !allowed.0.contains(request.method()) {
            return Err(refused(StatusCode::METHOD_NOT_ALLOWED, "no such method here")
                .with(ALLOW, HeaderValue::from_static(allowed.1)));
        }
        if path == "/health" {
            return Ok(*refused(StatusCode::OK, "ok\n").0);
        }
        let asking = self.who(&request, link)?;
        record.token.clone_from(&asking.token);
        self.rate.count(asking.asker).map_err(too_many)?;
        let session = single(request.headers(), &SESSION)
            .map_err(|()| refused(StatusCode::BAD_REQUEST, "more than one Mcp-Session-Id"))?
            .cloned();
        if let Some(session) = &session {
            // A session of somebody else is told from none by nothing.
            let known = session.to_str().is_ok_and(|session| self.sessions.belongs(session, asking.asker));
            if !known {
                return Err(refused(StatusCode::NOT_FOUND, "Not Found: Session not found"));
            }
        }

        if self.server.load().calls() >= CALLS {
            return Err(
                refused(StatusCode::SERVICE_UNAVAILABLE, "too many calls at once; try again").with(RETRY_AFTER, 1u64)
            );
        }
        let (mut parts, body) = request.into_parts();
        let body = match parts.method {
            Method::POST => self.intake.read(body).await.map_err(|status| self.unread(status))?,
            _ => Bytes::new(),
        };
        record.message(&body, self.log_queries);
        let is_call = parts.method == Method::POST;
        if is_call {
            link.work();
        }
        parts.extensions.insert(asking.caller);
        let answered = self.protocol.handle(Request::from_parts(parts, Full::new(body)));
        let response = tokio::time::timeout(self.request_timeout, answered).await.map_err(|_| {
            refused(StatusCode::GATEWAY_TIMEOUT, "the request took longer than mcp.request_timeout_seconds allows")
        })?;
        if let (true, None, Some(opened)) = (is_call, session, response.headers().get(&SESSION))
            && let Ok(opened) = opened.to_str()
        {
            self.sessions.add(opened.into(), asking.asker).await;
        }
        Ok(response)
    }

    /// Who asks, by the token. One that tries tokens is counted by address.
    fn who(&self, request: &Request<Incoming>, link: &Link) -> Result<Asking, Refused> {
        let address = Asker::at(link.peer.ip());
        if self.tokens.is_empty() {
            return Ok(Asking { asker: address, caller: self.anyone.clone(), token: None });
        }
        if let Some(position) = token::find(&self.tokens, request.headers()) {
            let Token { name, caller, .. } = &self.tokens[position];
            return Ok(Asking { asker: Asker::Token(position), caller: caller.clone(), token: Some(name.clone()) });
        }
        self.rate.count(address).map_err(too_many)?;
        Err(refused(StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN")
            .with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tamis\"")))
    }

    fn unread(&self, status: StatusCode) -> Refused {
        let reason = match status {
            StatusCode::PAYLOAD_TOO_LARGE => format!("a message may have at most {} bytes", self.intake.most),
            StatusCode::REQUEST_TIMEOUT => "the message came too slowly".to_owned(),
            StatusCode::SERVICE_UNAVAILABLE => "too many long messages at once; try again".to_owned(),
            _ => "the message could not be read".to_owned(),
        };
        // The rest of the body is not read, so the connection is of no use any more.
        let refused = refused(status, reason).with(CONNECTION, HeaderValue::from_static("close"));
        if status == StatusCode::SERVICE_UNAVAILABLE { refused.with(RETRY_AFTER, 1u64) } else { refused }
    }
}

fn too_many(seconds: u64) -> Refused {
    refused(StatusCode::TOO_MANY_REQUESTS, "too many requests; mcp.requests_per_minute says how many there may be")
        .with(RETRY_AFTER, seconds)
}
