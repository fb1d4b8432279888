//! `/mcp`: hands messages of agents to the protocol's library, each with its session and its sender.

use super::batch;
use super::gate::{Gate, Identity, is_json};
use super::origin::single;
use super::rate_limit::ClientKey;
use super::request_log::LoggedCall;
use crate::api::problem::{Kind, Problem};
use crate::lanes::Share;
use crate::messages::{self, Batch, batches_unsupported, supports_batches};
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, InitializeRequestParams, JsonRpcMessage};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use tamis::search::SearchCaller;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Answers a request of any method; the protocol's library knows which there are.
pub(super) async fn answer(
    State(gate): State<Arc<Gate>>,
    Extension(identity): Extension<Identity>,
    Extension(log): Extension<LoggedCall>,
    request: Request,
) -> Result<Response, Problem> {
    let owner = match identity.client {
        ClientKey::Token(position) => gate.tokens[position].owner(),
        ClientKey::Address(address) => format!("address {address}"),
    };
    let session = session(&gate, request.headers(), &owner).await?;
    let sender = match (&session, &identity.token) {
        (Some(session), _) => SearchCaller::session(&["mcp session", session]),
        (None, Some(token)) => SearchCaller::session(&["mcp token", token]),
        (None, None) => identity.connection.client,
    };
    // Without tokens, a session is known better than the connection that a message happens to come over.
    let share = if identity.token.is_none() { Share(sender) } else { identity.share() };
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(sender);
    parts.extensions.insert(share);
    parts.extensions.insert(identity.caller);
    if parts.method != Method::POST {
        let is_end = parts.method == Method::DELETE;
        let response = forward(&gate, parts, Bytes::new()).await?;
        return Ok(match session {
            Some(session) if is_end && response.status() == StatusCode::ACCEPTED => {
                // The protocol's library has ended it where all servers look, too.
                gate.sessions.remove(&session);
                // Clients take 200 and 204 to mean that the session is over, and 202 that it will be.
                StatusCode::NO_CONTENT.into_response()
            }
            _ => response,
        });
    }

    let body = gate.accept(share, &identity.connection, body).await?;
    let body = match messages::well_formed(&body) {
        Cow::Borrowed(_) => body,
        Cow::Owned(mended) => mended.into(),
    };
    log.message(&body, gate.log_queries);
    let mut opens = None;
    // The protocol's library itself refuses a body that is not declared as JSON.
    if is_json(&parts.headers) {
        match messages::read(&body) {
            messages::Incoming::Bad(answer) => return Ok(json(StatusCode::BAD_REQUEST, &answer)),
            messages::Incoming::Ignored => return Ok(StatusCode::ACCEPTED.into_response()),
            messages::Incoming::One(message) => opens = opened_with(*message),
            messages::Incoming::Batch(list) => return answer_batch(&gate, &parts, list, session.as_deref()).await,
        }
    }
    let response = forward(&gate, parts, body).await?;
    if let (None, Some(Ok(opened))) = (&session, response.headers().get(&SESSION).map(HeaderValue::to_str)) {
        gate.sessions.add(opened.into(), &owner, opens).await.map_err(unavailable)?;
    }
    Ok(response)
}

/// Hands a request to the protocol's library.
async fn forward(gate: &Gate, parts: Parts, body: Bytes) -> Result<Response, Problem> {
    let request = Request::from_parts(parts, Body::from(body));
    Ok(gate.in_time(gate.protocol.handle(request)).await?.map(Body::new))
}

async fn answer_batch(
    gate: &Gate,
    parts: &Parts,
    list: Vec<Value>,
    session: Option<&str>,
) -> Result<Response, Problem> {
    let version = parts.headers.get(&VERSION);
    let allowed = version.is_none_or(|version| version.to_str().is_ok_and(supports_batches))
        && session.is_some_and(|session| gate.sessions.supports_batches(session));
    let batch = if allowed { Batch::of(list, |_| false) } else { Err(batches_unsupported()) };
    Ok(match batch {
        Ok((batch, messages)) => match gate.in_time(batch::answered(&gate.protocol, parts, batch, messages)).await? {
            Some(answers) => json(StatusCode::OK, &answers),
            None => StatusCode::ACCEPTED.into_response(),
        },
        Err(answer) => json(StatusCode::BAD_REQUEST, &answer),
    })
}

fn json(status: StatusCode, message: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], message.to_string()).into_response()
}

fn unavailable(reason: String) -> Problem {
    Problem::new(Kind::Unavailable, reason)
}

/// The session that a request names, if it belongs to the client. Another client's session looks the same as a missing one.
async fn session(gate: &Gate, headers: &HeaderMap, owner: &str) -> Result<Option<String>, Problem> {
    let named = single(headers, &SESSION)
        .map_err(|()| Problem::new(Kind::Request, "the request has more than one Mcp-Session-Id header"))?;
    let Some(named) = named else { return Ok(None) };
    let missing = || Problem::new(Kind::NotFound, "Not Found: Session not found");
    let session = named.to_str().map_err(|_| missing())?;
    let is_own = gate.sessions.belongs(session, owner).await.map_err(unavailable)?;
    if is_own { Ok(Some(session.to_owned())) } else { Err(missing()) }
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
