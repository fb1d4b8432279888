//! All routes, and the layers around them.

use super::gate::{self, AGENTS, Gate, HEALTH, Identity};
use super::request_log::LoggedCall;
use super::sign_in::{SIGN_IN, sign_in};
use super::{agents, api, events};
use crate::api::problem::{Kind, Problem};
use crate::api::route::{self, ENDPOINTS, EVENTS, OPENAPI};
use crate::web_page::ASSETS;
use axum::extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection};
use axum::http::header::{ALLOW, HeaderMap, HeaderValue};
use axum::http::{Method, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, any, get};
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
    let mut open = Routes::new().route(HEALTH, with_get(get(async || "ok\n")));
    let mut guarded = Routes::new().route(AGENTS, any(agents::answer));
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
        .layer(from_fn_with_state(gate.clone(), gate::check_origin))
        .layer(from_fn_with_state(gate.clone(), gate::log))
        .with_state(gate)
}

/// What tells nothing of the index, so that no token is needed. A browser loads the page before it can send one.
fn open_routes() -> Routes {
    let routes = Routes::new()
        .route("/healthz", with_get(get(async || "ok\n")))
        .route("/readyz", with_get(get(api::readiness)))
        .route("/v1", any(api::lead_to_page))
        .route("/v1/", any(api::lead_to_page))
        .route(SIGN_IN, only("GET, HEAD, POST, DELETE", get(sign_in).post(sign_in).delete(sign_in)));
    ASSETS.iter().fold(routes, |routes, asset| {
        routes.route(asset.path, with_get(get(async |headers: HeaderMap| api::page(&headers, asset))))
    })
}

fn api_routes() -> Routes {
    let mut routes = Routes::new()
        .route("/metrics", with_get(get(api::metrics)))
        .route(OPENAPI, with_get(get(api::document)))
        .route(EVENTS, with_get(get(events::events)));
    for (position, endpoint) in ENDPOINTS.iter().enumerate() {
        // A path can have several endpoints, each with methods of its own.
        if ENDPOINTS[..position].iter().any(|other| other.path == endpoint.path) {
            continue;
        }
        let of_path = ENDPOINTS.iter().filter(|other| other.path == endpoint.path);
        let methods = of_path.fold(MethodRouter::new(), |methods, endpoint| {
            let call = async |State(gate): State<Arc<Gate>>,
                              Extension(identity): Extension<Identity>,
                              Extension(log): Extension<LoggedCall>,
                              inside: Result<RawPathParams, RawPathParamsRejection>,
                              request: Request| {
                api::call(&gate, endpoint, identity, &log, inside, request).await
            };
            methods.on(endpoint.verbs.filter(), call)
        });
        routes = routes.route(endpoint.path, only(route::methods(endpoint.path), methods));
    }
    routes.fallback(async |uri: Uri| route::unknown(uri.path()))
}

fn with_get(methods: MethodRouter<Arc<Gate>>) -> MethodRouter<Arc<Gate>> {
    only("GET, HEAD", methods)
}

/// Refuses all other methods, and names these.
fn only(names: impl Into<String>, methods: MethodRouter<Arc<Gate>>) -> MethodRouter<Arc<Gate>> {
    let names = names.into();
    methods.fallback(async move |method: Method| {
        let problem = Problem::new(Kind::Method, format!("{method}: not for this route; use {names}"));
        match HeaderValue::from_str(&names) {
            Ok(names) => problem.with(ALLOW, names),
            Err(_) => problem,
        }
    })
}
