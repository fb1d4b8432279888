//! All routes, and the layers around them.

use super::gate::{self, AGENTS, AGENTS_SLASH, Gate, HEALTH, Identity};
use super::request_log::LoggedCall;
use super::sign_in::{SIGN_IN, sign_in};
use super::{agents, api, events};
use crate::api::problem::{Kind, Problem};
use crate::api::route::{self, ENDPOINTS, EVENTS, OPENAPI};
use crate::web_page::ASSETS;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, on};
use axum::{Extension, Router};
use std::sync::Arc;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

type Routes = Router<Arc<Gate>>;

/// Shorter answers are sent as they are.
const LEAST_COMPRESSED: u64 = 1024;

/// Level of compression: JSON shrinks about as well as at the highest, in a fraction of the time.
const LEVEL: i32 = 4;

/// The server's routes behind its checks.
pub(super) fn router(gate: Arc<Gate>) -> Router {
    let mut open = Routes::new().route(HEALTH, get(async || "ok\n"));
    let agents = get(agents::answer).post(agents::answer).delete(agents::answer);
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
        .route("/readyz", get(api::readiness))
        .route("/v1", any(api::lead_to_page))
        .route("/v1/", any(api::lead_to_page))
        .route(SIGN_IN, get(sign_in).post(sign_in).delete(sign_in));
    ASSETS.iter().fold(routes, |routes, asset| {
        routes.route(asset.path, get(async |headers: HeaderMap| api::page(&headers, asset)))
    })
}

fn api_routes() -> Routes {
    let routes = Routes::new()
        .route("/metrics", get(api::metrics))
        .route(OPENAPI, get(api::document))
        .route(EVENTS, get(events::events))
        .fallback(async |uri: Uri| route::unknown(uri.path()));
    ENDPOINTS.iter().fold(routes, |routes, endpoint| {
        let call =
            async |State(gate): State<Arc<Gate>>,
                   Extension(identity): Extension<Identity>,
                   Extension(log): Extension<LoggedCall>,
                   inside: Result<RawPathParams, RawPathParamsRejection>,
                   request: Request| { api::call(&gate, endpoint, identity, &log, inside, request).await };
        routes.route(endpoint.path, on(endpoint.verbs.filter(), call))
    })
}

/// Refuses a method that a route does not have, whoever asks.
async fn refuse_method(method: Method, path: MatchedPath) -> Problem {
    let names = match path.as_str() {
        AGENTS | AGENTS_SLASH => "POST, GET, DELETE".to_owned(),
        SIGN_IN => "GET, HEAD, POST, DELETE".to_owned(),
        path => route::methods(path),
    };
    Problem::method(&method, names)
}
