//! `/mcp`: hands messages of agents to the protocol's library, each with its session and its sender.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, InitializeRequestParams, JsonRpcMessage};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::Value;
use tamis::search::SearchCaller;
use tokio_util::sync::CancellationToken;

use super::gate::{ClientKey, Gate, Identity, LoggedCall, is_json};
use super::headers::single;
use super::sessions::Sessions;
use crate::api::problem::{Kind, Problem};
use crate::call_queue::Share;
use crate::caller::Caller;
use crate::server::Server;
use crate::{refusal_text, stdio};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Answers a request of any method; the protocol's library knows which there are.
pub(crate) async fn answer(
    State(gate): State<Arc<Gate>>,
    Extension(identity): Extension<Identity>,
    Extension(log): Extension<LoggedCall>,
    request: Request,
) -> Result<Response, Problem> {
    let owner = match identity.client {
        ClientKey::Token(position) => gate.tokens[position].owner(),
        ClientKey::Address(address) => format!("address {address}"),
    };
    let caller = identity.caller.clone();
    let session = session(&gate, request.headers(), &owner, &caller).await?;
    let sender = match (&session, &identity.token) {
        (Some(session), _) => SearchCaller::session(&["mcp session", session]),
        (None, Some(token)) => SearchCaller::session(&["mcp token", token]),
        (None, None) => identity.connection.client,
    };
    // Without tokens, a session is known better than the connection that a message happens to come over.
    let share = if identity.token.is_none() { Share(sender) } else { identity.share() };
    let (mut parts, body) = request.into_parts();
    if session.is_none() && parts.method == Method::GET {
        let mut problem = Problem::method(&parts.method, Method::POST.to_string());
        problem.detail = NO_STREAM.to_owned();
        return Err(problem);
    }
    name_accepted(&mut parts.headers);
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

    let body = gate.accept(share, &identity.connection, &parts.headers, body).await?;
    let body = match stdio::well_formed(&body) {
        Cow::Borrowed(_) => body,
        Cow::Owned(mended) => mended.into(),
    };
    log.message(&body, gate.log_queries);
    let mut opens = None;
    // The protocol's library itself refuses a body that is not declared as JSON.
    if is_json(&parts.headers) {
        match stdio::read(&body) {
            stdio::Incoming::Bad(answer) => return Ok(json(StatusCode::BAD_REQUEST, &answer)),
            stdio::Incoming::Ignored => return Ok(StatusCode::ACCEPTED.into_response()),
            stdio::Incoming::One(message) => opens = opened_with(*message),
        }
    }
    let response = forward(&gate, parts, body).await?;
    if let (None, Some(Ok(opened))) = (&session, response.headers().get(&SESSION).map(HeaderValue::to_str)) {
        let added = gate.sessions.add(opened.into(), &owner, opens).await;
        added.map_err(|reason| unavailable(&caller, reason))?;
    }
    Ok(response)
}

/// The kinds of answers that there are. The protocol's library wants a client to name them.
const ANSWERS: [&str; 2] = ["application/json", "text/event-stream"];

/// The answer to a GET without a session, such as that of a browser.
const NO_STREAM: &str = "GET: this address is for clients of the Model Context Protocol, which POST their messages to it; with the \
     Mcp-Session-Id of a session, a GET listens to it";

/// Names the kinds of answers that a client accepts by `*/*` and the like, or by saying nothing.
fn name_accepted(headers: &mut HeaderMap) {
    let given: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let accepts = |kind: &&str| {
        let fits = |range: &str| {
            let mut parts = range.split(';').map(str::trim);
            let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
            let is_refused = |part: &str| {
                let quality = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
                quality.and_then(|quality| quality.parse::<f32>().ok()) == Some(0.0)
            };
            let is_range = |all: &str| kind.split_once('/').is_some_and(|(whole, _)| all == whole);
            let fits = essence == **kind || essence == "*/*" || essence.strip_suffix("/*").is_some_and(is_range);
            fits && !parts.any(is_refused)
        };
        given.is_empty() || given.iter().flat_map(|value| value.split(',')).any(fits)
    };
    let accepted: Vec<&str> = ANSWERS.into_iter().filter(accepts).collect();
    if let (false, Ok(value)) = (accepted.is_empty(), HeaderValue::try_from(accepted.join(", "))) {
        headers.insert(ACCEPT, value);
    }
}

/// Hands a request to the protocol's library.
async fn forward(gate: &Gate, parts: Parts, body: Bytes) -> Result<Response, Problem> {
    let request = Request::from_parts(parts, Body::from(body));
    Ok(gate.in_time(gate.protocol.handle(request)).await?.map(Body::new))
}

fn json(status: StatusCode, message: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], message.to_string()).into_response()
}

/// The refusal where the sessions of all servers cannot be reached. The reason can name what keeps them.
fn unavailable(caller: &Caller, reason: String) -> Problem {
    const INSTEAD: &str = "the sessions cannot be read now; try again in a moment";
    Problem::new(Kind::Unavailable, refusal_text::for_caller(caller, reason, Some(INSTEAD)))
}

/// The session that a request names, if it belongs to the client. Another client's session looks the same as a missing one.
async fn session(gate: &Gate, headers: &HeaderMap, owner: &str, caller: &Caller) -> Result<Option<String>, Problem> {
    let named = single(headers, &SESSION)
        .map_err(|()| Problem::new(Kind::Request, "the request has more than one Mcp-Session-Id header"))?;
    let Some(named) = named else { return Ok(None) };
    let missing = || Problem::new(Kind::NotFound, "Not Found: Session not found");
    let session = named.to_str().map_err(|_| missing())?;
    let is_own = gate.sessions.belongs(session, owner).await.map_err(|reason| unavailable(caller, reason))?;
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

// The protocol's own library, configured to stand behind the checks of this module.

/// The streamable HTTP transport of the protocol's library.
pub(crate) type Protocol = StreamableHttpService<Server, LocalSessionManager>;

/// The protocol over a server, until `stop` ends its streams.
pub(crate) fn protocol(
    server: &Server,
    sessions: &Sessions,
    max_body_bytes: usize,
    stop: CancellationToken,
) -> Protocol {
    let server = server.clone();
    // The handler has already checked hosts and origins and read the body.
    let mut config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(max_body_bytes)
        .with_cancellation_token(stop);
    config.session_store = sessions.shared();
    StreamableHttpService::new(move || Ok(server.clone()), sessions.manager.clone(), config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_sessions_names_no_server_to_a_limited_caller() {
        let reason = "postgres://tamis@10.0.0.5:5432/tamis: it does not answer";
        let limited = Caller { namespaces: Some(vec!["mill".into()]), ..Caller::default() };
        for (caller, named) in [(limited, false), (Caller::default(), true)] {
            let problem = unavailable(&caller, reason.to_owned());
            assert_eq!(problem.detail.contains("10.0.0.5"), named, "{}", problem.detail);
        }
    }

    #[test]
    fn the_kinds_that_a_client_accepts_are_named() {
        for (given, named) in [
            (&[][..], "application/json, text/event-stream"),
            (&["*/*"], "application/json, text/event-stream"),
            (&["text/html, */*;q=0.1"], "application/json, text/event-stream"),
            (&["application/*", "Text/*;q=0.5"], "application/json, text/event-stream"),
            (&["application/json;charset=utf-8,text/event-stream"], "application/json, text/event-stream"),
            (&["application/json"], "application/json"),
            (&["text/event-stream, */*;q=0"], "text/event-stream"),
            (&["text/html"], "text/html"),
        ] {
            let mut headers = HeaderMap::new();
            for value in given {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            name_accepted(&mut headers);
            assert_eq!(headers.get(ACCEPT).map(|value| value.to_str().expect("text")), Some(named), "{given:?}");
        }
    }
}
