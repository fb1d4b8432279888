//! What a request has to pass before the protocol sees it: names, path, token, rate, size, time, session.

use super::accept::Link;
use super::batch;
use super::body::{Held, Intake, Outgoing, text};
use super::names::{Names, single};
use super::rate::{Asker, Rate};
use super::record::Record;
use super::sessions::Sessions;
use super::token::{self, Token};
use crate::caller::Caller;
use crate::messages::{self, Batch, has_batches, no_batches};
use crate::service::Server;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::sync::Arc;
use std::time::Duration;

/// Most calls that wait or are worked on. A session's go on without the connection that brought them.
const CALLS: usize = 1024;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The protocol as its library speaks it.
pub(super) type Protocol = StreamableHttpService<Server, LocalSessionManager>;

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
    pub protocol: Protocol,
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
        let (is_call, is_end) = (parts.method == Method::POST, parts.method == Method::DELETE);
        let mut begins_with_batches = false;
        let mut several = None;
        // What is not said to be JSON is refused by the protocol.
        if is_call && is_json(&parts.headers) {
            match messages::read(&body) {
                messages::Incoming::Bad(answer) => return Ok(json(StatusCode::BAD_REQUEST, &answer)),
                messages::Incoming::Ignored => return Ok(*refused(StatusCode::ACCEPTED, "").0),
                messages::Incoming::One(message) => begins_with_batches = begins(&message),
                messages::Incoming::Batch(list) => {
                    let known = session.as_ref().and_then(|session| session.to_str().ok());
                    let said = parts.headers.get(&VERSION).is_none_or(|said| said.to_str().is_ok_and(has_batches));
                    let batch = match known.is_some_and(|known| said && self.sessions.has_batches(known)) {
                        true => Batch::of(list, |_| false),
                        false => Err(no_batches()),
                    };
                    several = Some(batch.map_err(|answer| Refused(Box::new(json(StatusCode::BAD_REQUEST, &answer))))?);
                }
            }
        }
        if is_call {
            link.work();
        }
        parts.extensions.insert(asking.caller);
        let answered = async {
            match several {
                None => self.protocol.handle(Request::from_parts(parts, Full::new(body))).await,
                Some((batch, messages)) => match batch::answered(&self.protocol, &parts, batch, messages).await {
                    Some(answers) => json(StatusCode::OK, &answers),
                    None => *refused(StatusCode::ACCEPTED, "").0,
                },
            }
        };
        let mut response = tokio::time::timeout(self.request_timeout, answered).await.map_err(|_| {
            refused(StatusCode::GATEWAY_TIMEOUT, "the request took longer than mcp.request_timeout_seconds allows")
        })?;
        match session {
            Some(session) if is_end && response.status() == StatusCode::ACCEPTED => {
                // It is over, not about to be: clients take 200 and 204 for that.
                *response.status_mut() = StatusCode::NO_CONTENT;
                session.to_str().into_iter().for_each(|session| self.sessions.remove(session));
            }
            None if is_call => {
                if let Some(Ok(opened)) = response.headers().get(&SESSION).map(HeaderValue::to_str) {
                    self.sessions.add(opened.into(), asking.asker, begins_with_batches).await;
                }
            }
            _ => {}
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

/// A message as an answer.
fn json(status: StatusCode, message: &serde_json::Value) -> Response<Outgoing> {
    let mut response = Response::new(text(message.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn is_json(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    said.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether a message begins a session that may send batches.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::InitializeRequest(begin) => has_batches(begin.params.protocol_version.as_str()),
            _ => false,
        },
        _ => false,
    }
}

fn too_many(seconds: u64) -> Refused {
    refused(StatusCode::TOO_MANY_REQUESTS, "too many requests; mcp.requests_per_minute says how many there may be")
        .with(RETRY_AFTER, seconds)
}
