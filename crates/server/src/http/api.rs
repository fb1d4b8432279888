//! The routes of the JSON API and of the page.

use super::gate::{Gate, Identity, is_json};
use super::request_log::LoggedCall;
use crate::api::endpoint::RegisteredEndpoint;
use crate::api::metrics::IndexState;
use crate::api::problem::{Kind, Problem};
use crate::api::{encode, openapi, parameters, route};
use crate::background::Phase;
use crate::server::Sender;
use crate::web_page::{self, Asset};
use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, REFERRER_POLICY, VARY,
};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use tamis::search::SearchCaller;

const JSON: &str = "application/json";

/// Headers of a request that an answer depends on.
const VARIES: &str = "Accept-Encoding, Authorization, Cookie";

/// Content type of the metrics.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Leads a browser that asks for the API itself, which only programs read, to the page.
pub(super) async fn lead_to_page(method: Method, uri: Uri, headers: HeaderMap) -> Result<Redirect, Problem> {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    match method == Method::GET && accepts.is_some_and(|accepted| accepted.contains("text/html")) {
        true => Ok(Redirect::to("/")),
        false => Err(route::unknown(uri.path())),
    }
}

/// Says whether the first refresh of the index has ended.
pub(super) async fn readiness(State(gate): State<Arc<Gate>>) -> Result<&'static str, Problem> {
    match gate.server.is_ready() {
        true => Ok("ready\n"),
        false => Err(Problem::new(Kind::Unavailable, "the first refresh of the index has not ended")),
    }
}

/// A file of the page, with the policy that confines it.
pub(super) fn page(headers: &HeaderMap, asset: &'static Asset) -> Response {
    let policy = [(CONTENT_SECURITY_POLICY, web_page::CONTENT_SECURITY_POLICY), (REFERRER_POLICY, "no-referrer")];
    (policy, tagged(headers, asset.body.into(), asset.content_type)).into_response()
}

/// The description of the API, written once.
pub(super) async fn document(headers: HeaderMap) -> Response {
    static DOCUMENT: LazyLock<Vec<u8>> = LazyLock::new(|| encode::json(&openapi()));
    tagged(&headers, DOCUMENT.clone(), JSON)
}

/// An answer with its tag, or only the news that it has not changed.
fn tagged(headers: &HeaderMap, body: Vec<u8>, content_type: &'static str) -> Response {
    let tag = encode::tag(&body);
    let is_known = encode::is_known(headers, &tag);
    let tag = [(ETAG, tag.as_str()), (CACHE_CONTROL, "private, no-cache"), (VARY, VARIES)];
    match is_known {
        true => (StatusCode::NOT_MODIFIED, tag).into_response(),
        false => (tag, [(CONTENT_TYPE, content_type)], body).into_response(),
    }
}

/// Answers a call of an endpoint.
pub(super) async fn call(
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
    let body = gate.accept(share, &identity.connection, body).await?;
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
pub(super) async fn metrics(
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
