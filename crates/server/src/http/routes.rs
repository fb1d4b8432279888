//! The routes of the JSON API and of the page.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, REFERRER_POLICY, VARY,
};
use axum::http::{Method, StatusCode, Uri};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::{Value, json};
use tamis::search::SearchCaller;
use tokio::sync::watch;

use super::gate::{Gate, Identity, LoggedCall, is_json};
use crate::api::metrics::IndexState;
use crate::api::problem::{Kind, Problem};
use crate::api::{RegisteredEndpoint, openapi, parameters};
use crate::background::{BackgroundState, Phase};
use crate::caller::Caller;
use crate::server::{Sender, Server};
use crate::web_page::Asset;
use crate::{api, web_page};

const JSON: &str = "application/json";

/// Headers of a request that an answer depends on.
const VARIES: &str = "Accept-Encoding, Authorization, Cookie";

/// Content type of the metrics.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Leads a browser that asks for the API itself, which only programs read, to the page.
pub(crate) async fn lead_to_page(method: Method, uri: Uri, headers: HeaderMap) -> Result<Redirect, Problem> {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    match method == Method::GET && accepts.is_some_and(|accepted| accepted.contains("text/html")) {
        true => Ok(Redirect::to("/")),
        false => Err(api::unknown(uri.path())),
    }
}

/// Says whether the first refresh of the index has ended.
pub(crate) async fn readiness(State(gate): State<Arc<Gate>>) -> Result<&'static str, Problem> {
    if !gate.server.is_ready() {
        return Err(Problem::new(Kind::Unavailable, "the first refresh of the index has not ended"));
    }
    // A balancer turns to another server while this one has lost its database.
    let server = gate.server.clone();
    match tokio::task::spawn_blocking(move || server.index().contents().change_number()).await {
        Ok(Ok(_)) => Ok("ready\n"),
        _ => Err(Problem::new(Kind::Unavailable, "the index cannot be read now")),
    }
}

/// A file of the page, with the policy that confines it.
pub(crate) fn page(headers: &HeaderMap, asset: &'static Asset) -> Response {
    let policy = [(CONTENT_SECURITY_POLICY, web_page::CONTENT_SECURITY_POLICY), (REFERRER_POLICY, "no-referrer")];
    (policy, tagged(headers, asset.body.into(), asset.content_type)).into_response()
}

/// The description of the API, written once.
pub(crate) async fn document(headers: HeaderMap) -> Response {
    static DOCUMENT: LazyLock<Vec<u8>> = LazyLock::new(|| api::json(&openapi()));
    tagged(&headers, DOCUMENT.clone(), JSON)
}

/// An answer with its tag, or only the news that it has not changed.
fn tagged(headers: &HeaderMap, body: Vec<u8>, content_type: &'static str) -> Response {
    let tag = api::tag(&body);
    let is_known = api::is_known(headers, &tag);
    let tag = [(ETAG, tag.as_str()), (CACHE_CONTROL, "private, no-cache"), (VARY, VARIES)];
    match is_known {
        true => (StatusCode::NOT_MODIFIED, tag).into_response(),
        false => (tag, [(CONTENT_TYPE, content_type)], body).into_response(),
    }
}

/// Answers a call of an endpoint.
pub(crate) async fn call(
    gate: &Gate,
    endpoint: &'static RegisteredEndpoint,
    identity: Identity,
    log: &LoggedCall,
    inside: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Response, Problem> {
    log.operation(endpoint.name);
    let (parts, body) = request.into_parts();
    let is_post = parts.method == Method::POST;
    let body = if is_post { body } else { Body::empty() };
    let share = identity.share();
    let body = gate.accept(share, &identity.connection, &parts.headers, body).await?;
    let query = parts.uri.query().unwrap_or_default();
    let mut given = match is_post {
        true if !body.is_empty() && !is_json(&parts.headers) => {
            return Err(Problem::new(Kind::MediaType, "Content-Type: must be application/json"));
        }
        true if !query.is_empty() => {
            let text = "the parameters of a POST belong into its body, not into the address";
            return Err(Problem::new(Kind::Request, text));
        }
        true => parameters::of_body(&body)?,
        false => parameters::of_query(&endpoint.parameters, query)?,
    };
    let inside =
        inside.map_err(|_| Problem::new(Kind::Request, format!("{}: its escapes are not UTF-8", parts.uri.path())))?;
    for (name, value) in &inside {
        if given.insert(name.to_owned(), Value::from(value)).is_some() {
            return Err(Problem::new(Kind::Parameter, format!("{name}: is given by the path")));
        }
    }
    if gate.log_queries {
        log.parameters(&Value::from(given.clone()).to_string());
    }
    let session = match &identity.token {
        Some(token) => SearchCaller::session(&["http token", token]),
        None => identity.connection.client,
    };
    let sender = Sender { caller: identity.caller, session, share };
    let answering = gate.server.answer(sender, endpoint.lane, move |call| endpoint.answer(call, given));
    let answered = gate.in_time(answering).await?.ok_or_else(|| {
        Problem::new(Kind::Internal, "the call failed inside the server; the server's log has the details")
    })??;
    if let Some(kept) = answered.kept {
        gate.server.metrics().search(endpoint.path, "", kept);
    }
    Ok(match endpoint.tagged && !is_post {
        true => tagged(&parts.headers, answered.body, JSON),
        false => ([(CONTENT_TYPE, JSON), (VARY, VARIES)], answered.body).into_response(),
    })
}

/// The counts, for a caller who may read everything: they tell of all callers.
pub(crate) async fn metrics(
    State(gate): State<Arc<Gate>>,
    Extension(identity): Extension<Identity>,
) -> Result<Response, Problem> {
    if identity.caller.namespaces.is_some() {
        let text = "metrics tell of all namespaces, and this token opens only some";
        return Err(Problem::new(Kind::Forbidden, text));
    }
    identity.connection.mark_active();
    let server = gate.server.clone();
    let state = tokio::task::spawn_blocking(move || {
        let summary = server.index().contents().summary()?;
        Ok::<IndexState, tamis::Error>(IndexState {
            phase: match server.background().phase {
                Phase::Off => "off",
                Phase::Indexing => "indexing",
                Phase::Embedding => "embedding",
                Phase::Fresh => "fresh",
                Phase::Failed => "failed",
            },
            documents: summary.documents,
            passages: summary.passages,
            active_calls: server.active_calls().count() as u64,
            last_change_ms: summary.last_change_ms,
            embedded: summary.models.into_iter().map(|model| (model.model.id, model.coverage.embedded)).collect(),
        })
    });
    let state = state.await.map_err(|error| Problem::new(Kind::Internal, error.to_string()))??;
    Ok(([(CONTENT_TYPE, PROMETHEUS)], gate.server.metrics().text(&state)).into_response())
}

// `/v1/events`: the progress of indexing as server-sent events (WHATWG HTML, "Server-sent events").
//
// `progress` carries the state of the background work, and `index`, for callers who may read everything, the number of the last
// change of the index. Both come at once and then whenever they change.

/// Interval between two looks at the state.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Longest silence. A line without meaning lets both sides, and what stands between them, notice a broken connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Begins a stream of events, which ends when the client leaves or the server stops.
pub(crate) async fn events(
    State(gate): State<Arc<Gate>>,
    Extension(identity): Extension<Identity>,
) -> impl IntoResponse {
    let (server, caller) = (gate.server.clone(), identity.caller);
    // The number tells of all namespaces.
    let changes = caller.namespaces.is_none().then(|| server.changes());
    let follower = Follower { server, caller, changes, state: None, change: None };
    let events = stream::unfold(follower, async |mut follower| Some((follower.next().await, follower)));
    let events = events.map(Ok::<Event, Infallible>).take_until(gate.stop_streams.clone().cancelled_owned());
    ([(CACHE_CONTROL, "no-store")], Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// Waits for changes, and knows the last that it has told.
struct Follower {
    server: Server,
    caller: Caller,
    changes: Option<watch::Receiver<Option<u64>>>,
    state: Option<(u64, BackgroundState)>,
    change: Option<u64>,
}

impl Follower {
    async fn next(&mut self) -> Event {
        loop {
            // A read that began and ended since the last look is told of too: whoever asked for it waits.
            let state = (self.server.reads(), self.server.background().seen_by(&self.caller));
            if self.state.as_ref() != Some(&state) {
                let event = event("progress", &state.1);
                self.state = Some(state);
                return event;
            }
            let change = self.changes.as_mut().and_then(|changes| *changes.borrow_and_update());
            if change.is_some() && change != self.change {
                self.change = change;
                return event("index", &json!({ "change": change }));
            }
            match &mut self.changes {
                // Both ends of the wait are the same reason to look again.
                Some(changes) => drop(tokio::time::timeout(POLL_INTERVAL, changes.changed()).await),
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(String::from_utf8_lossy(&api::json(data)).trim_end())
}
